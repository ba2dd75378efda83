"""What is missing or counts nothing, and quantities of one row that contradict each other."""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.dataset import CELL, moved_bytes
from copycost.audit.plausibility.finding import Finding, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, REP, SIZE, THREADS, base_of
from copycost.audit.wording import cell_name

_LEAST_COUNT = 50.0
"""Where all other values are above it, a 0 is hardly one of them."""

_MOST_ZEROS = 0.5


def check_gaps(sample: Sample) -> Iterator[Finding]:
    """Yield what reads 0, what is missing, and whether there is but one repetition."""
    for name in map(str, sample.steps.columns):
        values = sample.table[name].dropna()
        if base_of(name).kind == "share" or values.empty:
            continue
        if (values == 0.0).all():
            sureness = None if len(values) > 1 else Sureness.VERY_LIKELY
            yield sample.found("zeros", name, sureness=sureness, n_rows=len(values))
        elif (values == 0.0).any():
            # Zeros among values that are all far from it look as gaps that were filled do.
            others = values[values > 0.0]
            least = _LEAST_COUNT if base_of(name).kind == "count" else 0.0
            n_zero = int((values == 0.0).sum())
            if others.min() >= least and n_zero / len(values) <= _MOST_ZEROS:
                rows = sample.table[sample.table[name] == 0.0]
                yield sample.found("some_zeros", name, rows=rows, n_rows=n_zero,
                                   of_rows=len(values))  # fmt: skip
    n_cells = len(sample.table.drop_duplicates(list(CELL)))
    if len(sample.table) == n_cells:
        yield sample.found("one_repetition", n_cells=n_cells)
    yield from _values_missing(sample)
    axes = [sorted(sample.table[name].unique().tolist()) for name in (SIZE, THREADS)]
    names = sample.table[IMPLEMENTATION].unique().tolist()
    there = set(zip(*(sample.table[name] for name in CELL[1:]), strict=True))
    whole = list(itertools.product(names, *axes))
    absent = tuple(cell_name(*cell) for cell in whole if cell not in there)
    if absent:
        yield sample.found("cells_missing", cells=absent, n_cells=len(absent), of_cells=len(whole))
    counts = sample.table.groupby(list(CELL))[REP].count().reset_index()
    usual = int(counts[REP].max())
    few = counts[counts[REP] < usual]
    if not few.empty:
        yield sample.found("repetitions_missing", rows=few, n_cells=len(few),
                           of_cells=len(counts), n_usual=usual)  # fmt: skip


def _values_missing(sample: Sample) -> Iterator[Finding]:
    """Find columns with gaps; those that lack the same rows are told together.

    An implementation that has no value at all, such as of a share of copies, has no gap.
    """
    n_all = len(sample.table)
    empty: dict[tuple[int, ...], list[str]] = {}
    for name in map(str, sample.steps.columns):
        values = sample.table[name]
        has_it = values.notna().groupby(sample.table[IMPLEMENTATION]).transform("any")
        rows = np.flatnonzero(values.isna() & has_it)
        if 0 < len(rows) < n_all:
            empty.setdefault(tuple(int(row) for row in rows), []).append(name)
    for gaps, names in empty.items():
        without = sample.table.iloc[list(gaps)]
        yield sample.found("values_missing", *names, rows=without, n_rows=len(gaps), of_rows=n_all)


# Whether bytes, time, messages and throughput of the same row agree.

_TOLERANCE = 0.02
"""Rounding, and bytes still under way at the end of the run."""

_UNDER_WAY_BYTES = 16 << 20
"""Per connection: what socket buffers may hold when the run ends, sent but not yet received."""

_UNDER_WAY_MESSAGES = 8.0
"""Per connection: messages in a batch or a ring, counted when handed over or when done."""

_CONSISTENCY_MANY_SPREADS = 10.0
"""Times the usual difference that a row has to differ, where most rows agree."""

_CAUSES = {
    8.0: "bits were taken for bytes",
    1000.0: "a prefix (k, M, G) is wrong",
    1e6: "two prefixes are wrong",
    1e9: "three prefixes are wrong",
    1.024: "1024 was taken for 1000",
    1.048576: "2^20 was taken for 10^6",
    1.073741824: "2^30 was taken for 10^9",
    2.0: "both directions, or both sides, were added up",
}
"""What a factor between two columns that should agree tells of their units."""


def check_consistency(sample: Sample) -> list[Finding]:
    """Return what disagrees by more than two percent."""
    found = (_compare(sample, *quotient) for quotient in _quotients(sample))
    return [*filter(None, found), *check_service_time(sample)]


def _quotients(
    sample: Sample,
) -> Iterator[tuple[str, tuple[str, ...], pd.DataFrame, pd.Series, pd.Series | float]]:
    """Yield code, columns, rows, a quotient that should be 1, and what more it may be off by."""
    names: tuple[str, ...] = ("throughput", "bytes", "duration")
    rows = sample.known(*names)
    told = rows["bytes"] * 8.0 / rows["duration"]
    yield "throughput_disagrees", names, rows, rows["throughput"] / told, 0.0
    code, names = "bytes_disagree", ("bytes", "messages")
    if sample.known(*names).empty:
        code, names = "messages_disagree", ("throughput", "messages", "duration")
    rows = sample.known(*names)
    moved = rows["bytes"] if "bytes" in names else rows["throughput"] * rows["duration"] / 8.0
    by_messages = moved / (rows["messages"] * rows[SIZE])
    edges = rows[THREADS] * (_UNDER_WAY_BYTES + _UNDER_WAY_MESSAGES * rows[SIZE])
    yield code, names, rows, by_messages, edges / moved
    # Costs per byte and per message stand beside the totals that they come of.
    for name in sample.quantities:
        base = base_of(name).name
        if name != base and base in sample.table:
            rows = sample.known(name, base).assign(_moved=moved_bytes(sample.table))
            rows = rows.dropna(subset="_moved")
            parts = rows["_moved"] if name.endswith("_per_byte") else rows["_moved"] / rows[SIZE]
            yield "cost_disagrees", (name, base), rows, rows[name] * parts / rows[base], 0.0


def _compare(
    sample: Sample,
    code: str,
    quantities: tuple[str, ...],
    rows: pd.DataFrame,
    quotient: pd.Series,
    allowance: pd.Series | float,
) -> Finding | None:
    if rows.empty:
        return None
    off = (quotient - 1.0).abs() > _tolerance(sample, rows, quantities) + allowance
    off &= np.isfinite(quotient) & (quotient > 0.0)
    # Where all rows scatter, such as in short runs, one has to stand out from them.
    usual = _CONSISTENCY_MANY_SPREADS * float(np.log(quotient[quotient > 0.0]).abs().median())
    if off.mean() < 0.5:
        off &= np.log(quotient.where(quotient > 0.0)).abs() > usual
    if not off.any():
        return None
    typical = float(quotient[off].median())
    alike = bool(((quotient[off] / typical - 1.0).abs() < _TOLERANCE).all())
    causes = (
        cause for known, cause in _CAUSES.items()
        if min(abs(typical / known - 1.0), abs(typical * known - 1.0)) < 0.005
    )  # fmt: skip
    return sample.found(
        code, *quantities, rows=rows[off], n_rows=int(off.sum()), of_rows=len(rows),
        factor=typical, cause=next(causes, None) if alike else None,
    )  # fmt: skip


def _tolerance(sample: Sample, rows: pd.DataFrame, quantities: tuple[str, ...]) -> pd.Series:
    """Return what rounding may make of each row, and two percent; a set duration is exact."""
    allowed = pd.Series(_TOLERANCE, index=rows.index)
    for name in quantities:
        if name == "duration" and rows[name].nunique() == 1:
            continue
        step = pd.Series(sample.resolution(name), index=sample.table.index)[rows.index]
        allowed = allowed + 0.5 * step / rows[name].abs()
    return allowed


# Whether the latency can go with the throughput of the same row and its threads.
#
# A thread that sends one message after the other takes ``threads x size x 8 / throughput`` for each
# (Little's law with one message under way per thread, Operations Research 9, 1961). Other latencies
# are other things, so what differs in every row is a question; what differs in some is a mistake.

_LEAST_ROWS = 6
_AGREE = 0.1
"""Half of the rows within this share of one another make it the same quantity."""

_OFF = 0.08
_SERVICE_MANY_SPREADS = 8.0
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
    off = stand_out((rest - typical).abs(), max(_OFF, _SERVICE_MANY_SPREADS * scatter))
    if scatter < _TIGHT and off.any() and off.mean() < 0.25:
        yield sample.found(
            "latency_disagrees", "latency", "throughput", rows=rows[off], n_rows=int(off.sum()),
            of_rows=len(rows), factor=float(np.exp((rest - typical)[off].median())),
        )  # fmt: skip
    if abs(typical) > 2.0 * _AGREE + scatter or cause == "threads":
        code = "latency_without_threads" if cause == "threads" else "latency_by_a_factor"
        yield sample.found(code, "latency", "throughput", n_rows=len(rows),
                           factor=float(np.exp(typical)))  # fmt: skip


def stand_out(differences: pd.Series, least: float) -> pd.Series:
    """Return which differences are large, if a gap parts them from the others.

    Noise with a heavy tail has large ones as well, but there smaller ones lead up to them.
    """
    off = differences > least
    if off.any() and not off.all():
        gap = differences[off].min() > _GAP * differences[~off].max()
        return off & bool(gap)
    return off
