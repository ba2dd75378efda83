"""What is missing, quantities of one row that contradict each other, and rows in another unit."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.dataset import CELL, quantity
from copycost.compare.audit.plausibility.sample import Finding, Sample, Sureness
from copycost.compare.audit.quantities import base_of

_LEAST_COUNT = 50.0
"""Where all other values are above it, a 0 is hardly one of them."""

_MOST_ZEROS = 0.5


def check_gaps(sample: Sample) -> Iterator[Finding]:
    """Yield what reads 0, what is missing, and whether there is but one repetition."""
    table, n_rows = sample.table, len(sample.table)
    for name in map(str, sample.steps.columns):
        values = table[name].dropna()
        zeros = values[values == 0.0]
        if base_of(name).kind == "share" or zeros.empty:
            continue
        if len(zeros) == len(values):
            sureness = None if len(values) > 1 else Sureness.VERY_LIKELY
            yield sample.found("zeros", name, sureness=sureness, n_rows=len(values))
            continue
        # Zeros among values that are all far from it look as gaps that were filled do.
        least = _LEAST_COUNT if base_of(name).kind == "count" else 0.0
        if values[values > 0.0].min() >= least and len(zeros) / len(values) <= _MOST_ZEROS:
            yield sample.found("some_zeros", name, rows=table.loc[zeros.index], of_rows=len(values))
    counts = table.groupby(list(CELL))["rep"].count().reset_index()
    if len(counts) == n_rows:
        yield sample.found("one_repetition", n_cells=n_rows)
    # Columns that lack the same rows are told together. An implementation that has no value at
    # all, such as of a share of copies, has no gap.
    has_it = table[sample.steps.columns].notna()
    gaps = ~has_it & has_it.groupby(table["implementation"]).transform("any")
    together: dict[bytes, list[str]] = {}
    for name in map(str, gaps.columns):
        together.setdefault(gaps[name].to_numpy().tobytes(), []).append(name)
    for columns in together.values():
        without = table[gaps[columns[0]]]
        if 0 < len(without) < n_rows:
            yield sample.found("values_missing", *columns, rows=without, of_rows=n_rows)
    names = table["implementation"].unique()
    axes = [names, *(np.sort(table[key].unique()) for key in ("msg_bytes", "n_threads"))]
    whole = pd.MultiIndex.from_product(axes, names=CELL[1:])
    absent = whole[~whole.isin(pd.MultiIndex.from_frame(table[list(CELL[1:])]))]
    if len(absent):
        yield sample.found("cells_missing", rows=absent.to_frame(), n_cells=len(absent),
                           of_cells=len(whole))  # fmt: skip
    usual = int(counts["rep"].max())
    few = counts[counts["rep"] < usual]
    if not few.empty:
        yield sample.found("repetitions_missing", rows=few, n_cells=len(few),
                           of_cells=len(counts), n_usual=usual)  # fmt: skip


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


def check_consistency(sample: Sample) -> Iterator[Finding]:
    """Yield what disagrees by more than two percent, or by more than may be under way."""
    table = sample.table
    moved, by_messages = quantity(table, "bytes"), table["messages"] * table["msg_bytes"]
    told = table["bytes"] * 8.0 / table["duration"]
    names: tuple[str, ...] = ("throughput", "bytes", "duration")
    yield from _compare(sample, table, "throughput_disagrees", names, table["throughput"] / told)
    code, names, bytes_ = "bytes_disagree", ("bytes", "messages"), table["bytes"]
    if (bytes_ + by_messages).isna().all():
        code, names = "messages_disagree", ("throughput", "messages", "duration")
        bytes_ = table["throughput"] * table["duration"] / 8.0
    under_way = table["n_threads"] * (_UNDER_WAY_BYTES + _UNDER_WAY_MESSAGES * table["msg_bytes"])
    quotient = bytes_ / by_messages
    yield from _compare(sample, table, code, names, quotient, under_way / bytes_)
    # Costs per byte and per message stand beside the totals that they come of.
    for name in sample.quantities:
        base = base_of(name).name
        if name != base and base in sample.steps:
            parts = moved if name.endswith("_per_byte") else moved / table["msg_bytes"]
            quotient = table[name] * parts / table[base]
            rows = table[moved.notna()]
            yield from _compare(sample, rows, "cost_disagrees", (name, base), quotient)


def _compare(
    sample: Sample,
    table: pd.DataFrame,
    code: str,
    quantities: tuple[str, ...],
    quotient: pd.Series,
    allowance: pd.Series | float = 0.0,
) -> Iterator[Finding]:
    """Yield the rows in which a quotient of columns is not 1, by rounding or what is allowed."""
    rows = table.dropna(subset=list(quantities))
    if rows.empty:
        return
    quotient = quotient[rows.index]
    allowed = allowance + pd.Series(_TOLERANCE, index=sample.table.index)
    for name in quantities:
        if name != "duration" or rows[name].nunique() > 1:  # one that is set is exact
            allowed = allowed + 0.5 * sample.resolutions[name] / sample.table[name].abs()
    off = (quotient - 1.0).abs() / quotient.clip(lower=1.0) > allowed[rows.index]
    off &= np.isfinite(quotient) & (quotient > 0.0)
    # Where all rows scatter, such as in short runs, one has to stand out from them.
    logs = np.log(quotient.where(quotient > 0.0)).abs()
    if off.mean() < 0.5:
        off &= logs > _CONSISTENCY_MANY_SPREADS * float(logs.median())
    if not off.any():
        return
    factor = float(quotient[off].median())
    alike = bool(((quotient[off] / factor - 1.0).abs() < _TOLERANCE).all())
    causes = (
        cause for known, cause in _CAUSES.items()
        if min(abs(factor / known - 1.0), abs(factor * known - 1.0)) < 0.005
    )  # fmt: skip
    yield sample.found(code, *quantities, rows=rows[off], of_rows=len(rows), factor=factor,
                       cause=next(causes, None) if alike else None)  # fmt: skip


# Rows that are in another unit than the rest of their column.

_FEWEST_ROWS = 8
_LEAST_GROUP = 4
"""Of fewer rows, the median is one's own."""

_ROUNDS = 4
_MOST_SHARE = 0.35
"""More rows than these, and it is not clear which unit is the column's."""


def check_units(sample: Sample) -> Iterator[Finding]:
    """Yield columns in which some rows are off by a power of 1000, the factor between two units."""
    for name in sample.quantities:
        rows = sample.table[sample.table[name] > 0.0]
        if base_of(name).kind == "share" or len(rows) < _FEWEST_ROWS:
            continue
        rest = _polished(rows, name)
        spread = 1.4826 * float(np.median(np.abs(rest)))
        for shift in (power * math.log(1000.0) for power in (-3, -2, -1, 1, 2, 3)):
            off = np.abs(rest - shift) < 1.4
            between = (rest / shift > 0.5) & ~off
            some = 1 <= off.sum() <= _MOST_SHARE * len(rows)
            if some and not between.any() and abs(shift) >= 6.0 * spread:
                yield sample.found("unit_jumps", name, rows=rows[off], of_rows=len(rows),
                                   factor=float(np.exp(np.median(rest[off]))))  # fmt: skip
                break


def _polished(rows: pd.DataFrame, name: str) -> FloatArray:
    """Return what is left of a quantity's logarithms after the medians of its cells' labels.

    What a cell should have is taken from the others: the medians over implementations, sizes and
    threads, added up (Tukey's median polish, Exploratory Data Analysis, 1977).
    """
    axes = ("implementation", "msg_bytes", "n_threads")
    groups = [[axis] for axis in axes if rows[axis].nunique() > 1]
    # With enough cells, how the size matters may depend on the implementation, and so on.
    groups += map(list, itertools.combinations(axes, 2))
    members = [member for group in groups for member in rows.groupby(group).indices.values()
               if len(member) >= _LEAST_GROUP]  # fmt: skip
    rest: FloatArray = np.log(rows[name].to_numpy(dtype=np.float64))
    for _ in range(_ROUNDS):
        for member in members:
            rest[member] -= np.median(rest[member])
    return rest - float(np.median(rest))
