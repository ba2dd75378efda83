"""Whether bytes, time, messages and throughput of the same row agree."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.dataset import moved_bytes
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.plausibility.service import check_service_time
from copycost.audit.quantities import SIZE, THREADS, base_of
from copycost.audit.wording import cell_names

_TOLERANCE = 0.02
"""Rounding, and bytes still under way at the end of the run."""

_UNDER_WAY_BYTES = 16 << 20
"""Per connection: what socket buffers may hold when the run ends, sent but not yet received."""

_MANY_SPREADS = 10.0
"""Times the usual difference that a row has to differ, where most rows agree."""

_CAUSES = {
    8.0: "bits",
    1000.0: "prefix",
    1e6: "two_prefixes",
    1e9: "three_prefixes",
    1.024: "kibi",
    1.048576: "mebi",
    1.073741824: "gibi",
    2.0: "both",
}
"""What a factor between two columns that should agree tells of their units."""


def check_consistency(sample: Sample) -> list[Finding]:
    """Return what disagrees by more than two percent."""
    return [
        *_throughput(sample),
        *_messages(sample),
        *_costs(sample),
        *check_service_time(sample),
    ]


def _throughput(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("bytes", "duration", "throughput")
    told = rows["bytes"] * 8.0 / rows["duration"]
    yield from _compare(
        sample, rows, rows["throughput"] / told, ("throughput", "bytes", "duration"),
        "throughput_disagrees",
    )  # fmt: skip


def _messages(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("bytes", "messages")
    yield from _compare(
        sample, rows, rows["bytes"] / (rows["messages"] * rows[SIZE]), ("bytes", "messages"),
        "bytes_disagree", _UNDER_WAY_BYTES * rows[THREADS] / rows["bytes"],
    )  # fmt: skip
    if not rows.empty:
        return
    rows = sample.known("throughput", "messages", "duration")
    moved = rows["throughput"] * rows["duration"] / 8.0
    yield from _compare(
        sample, rows, moved / (rows["messages"] * rows[SIZE]),
        ("throughput", "messages", "duration"),
        "messages_disagree", _UNDER_WAY_BYTES * rows[THREADS] / moved,
    )  # fmt: skip


def _costs(sample: Sample) -> Iterator[Finding]:
    """Compare costs per byte and per message with the totals that stand beside them."""
    moved = moved_bytes(sample.table)
    for name in sample.quantities:
        base = base_of(name).name
        if name == base or base not in sample.table:
            continue
        rows = sample.known(name, base).assign(_moved=moved).dropna(subset="_moved")
        parts = rows["_moved"] if name.endswith("_per_byte") else rows["_moved"] / rows[SIZE]
        yield from _compare(
            sample, rows, rows[name] * parts / rows[base], (name, base), "cost_disagrees"
        )


def _compare(
    sample: Sample,
    rows: pd.DataFrame,
    quotient: pd.Series,
    quantities: tuple[str, ...],
    code: str,
    allowance: pd.Series | float = 0.0,
) -> Iterator[Finding]:
    if rows.empty:
        return
    off = (quotient - 1.0).abs() > _tolerance(sample, rows, quantities) + allowance
    off &= np.isfinite(quotient) & (quotient > 0.0)
    # Where all rows scatter, such as in short runs, one has to stand out from them.
    usual = _MANY_SPREADS * float(np.log(quotient[quotient > 0.0]).abs().median())
    if off.mean() < 0.5:
        off &= np.log(quotient.where(quotient > 0.0)).abs() > usual
    if not off.any():
        return
    typical = float(quotient[off].median())
    alike = bool(((quotient[off] / typical - 1.0).abs() < _TOLERANCE).all())
    yield Finding(
        check="consistency",
        code=code,
        kind=Kind.CONTRADICTION,
        sureness=Sureness.CERTAIN,
        dataset=sample.name,
        quantities=quantities,
        numbers={
            "n_rows": int(off.sum()),
            "of_rows": len(rows),
            "factor": typical,
            "cause": _cause(typical) if alike else None,
        },
        cells=cell_names(rows[off]),
    )


def _tolerance(sample: Sample, rows: pd.DataFrame, quantities: tuple[str, ...]) -> pd.Series:
    """Return what rounding may make of each row, and two percent; a set duration is exact."""
    allowed = pd.Series(_TOLERANCE, index=rows.index)
    for name in quantities:
        if name == "duration" and rows[name].nunique() == 1:
            continue
        step = pd.Series(sample.resolution(name), index=sample.table.index)[rows.index]
        allowed = allowed + 0.5 * step / rows[name].abs()
    return allowed


def _cause(factor: float) -> str | None:
    for known, cause in _CAUSES.items():
        for value in (known, 1.0 / known):
            if abs(factor / value - 1.0) < 0.005:
                return cause
    return None
