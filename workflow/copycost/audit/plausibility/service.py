"""Whether the latency can go with the throughput of the same row and its threads.

A thread that sends one message after the other takes ``threads x size x 8 / throughput`` for each
(Little's law with one message under way per thread, Operations Research 9, 1961). Other latencies
are other things, so what differs in every row is a question; what differs in some is a mistake.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import SIZE, THREADS
from copycost.audit.wording import cell_names

_LEAST_ROWS = 6
_AGREE = 0.1
"""Half of the rows within this share of one another make it the same quantity."""

_OFF = 0.08
_MANY_SPREADS = 8.0
_GAP = 2.5
_TIGHT = 0.02
"""Half of the rows within this share make the few that differ stand out."""


def check_service_time(sample: Sample) -> Iterator[Finding]:
    """Yield rows whose latency does not go with the throughput, or a factor that all share."""
    rows = sample.known("latency", "throughput")
    rows = rows[(rows["latency"] > 0.0) & (rows["throughput"] > 0.0)]
    if len(rows) < _LEAST_ROWS:
        return
    service = rows[THREADS] * rows[SIZE] * 8.0 / rows["throughput"]
    logs = np.log(rows["latency"] / service)
    for threads, cause in ((1.0, None), (rows[THREADS], "threads")):
        if cause == "threads" and rows[THREADS].nunique() < 2:
            continue
        rest = logs + np.log(threads)
        typical = float(rest.median())
        scatter = float((rest - typical).abs().median())
        if scatter < _AGREE:
            break
    else:
        return
    off = stand_out((rest - typical).abs(), max(_OFF, _MANY_SPREADS * scatter))
    if scatter < _TIGHT and off.any() and off.mean() < 0.25:
        yield _some_rows(sample, rows, off, rest - typical)
    if abs(typical) > 2.0 * _AGREE + scatter or cause == "threads":
        yield _all_rows(sample, len(rows), float(np.exp(typical)), cause)


def stand_out(differences: pd.Series, least: float) -> pd.Series:
    """Return which differences are large, if a gap parts them from the others.

    Noise with a heavy tail has large ones as well, but there smaller ones lead up to them.
    """
    off = differences > least
    if off.any() and not off.all():
        gap = differences[off].min() > _GAP * differences[~off].max()
        return off & bool(gap)
    return off


def _some_rows(sample: Sample, rows: pd.DataFrame, off: pd.Series, rest: pd.Series) -> Finding:
    return Finding(
        check="service_time",
        code="latency_disagrees",
        kind=Kind.ODD,
        sureness=Sureness.POSSIBLE,
        dataset=sample.name,
        quantities=("latency", "throughput"),
        numbers={
            "n_rows": int(off.sum()),
            "of_rows": len(rows),
            "factor": float(np.exp(rest[off].median())),
        },
        cells=cell_names(rows[off]),
    )


def _all_rows(sample: Sample, n_rows: int, factor: float, cause: str | None) -> Finding:
    by_threads = cause == "threads"
    return Finding(
        check="service_time",
        code="latency_without_threads" if by_threads else "latency_by_a_factor",
        kind=Kind.ODD,
        sureness=Sureness.POSSIBLE,
        dataset=sample.name,
        quantities=("latency", "throughput"),
        numbers={"n_rows": n_rows, "factor": factor},
    )
