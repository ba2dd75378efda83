"""Equal values, and repetitions that are not what one gets by measuring again."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import special  # scipy.stats takes a second to import, which a small audit feels

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Sureness
from copycost.audit.plausibility.sample import GIVEN, Sample
from copycost.audit.quantities import REP, SIZE, THREADS, TOTALS
from copycost.audit.wording import cell_names
from copycost.stats.settings import FloatArray

# Whether there are values that no two measurements would share.

_EQUAL_FINE = 5e-4
"""Relative step below which equal values are no matter of coarse digits."""

_COARSE = 5e-3
"""Likewise, where the pairs beside them tell how many of equal ones to expect."""

_EQUAL_CHANCE = 1e-3
_N_TABLES = round(1.0 / _EQUAL_CHANCE)
_AT_THE_TOP = 2e-3
_BESIDE = 10.0


def check_repeats(sample: Sample) -> Iterator[Finding]:
    """Yield columns with equal values in different cells, or in repetitions of one."""
    copied: dict[str, tuple[int, int, tuple[str, ...]]] = {}
    for name in sample.measured():
        copies = _equal_repetitions(sample, name)
        if copies is not None:
            copied[name] = copies
        elif (found := _equal_cells(sample, name)) is not None:
            yield found
    if copied:
        n_same, n_cells, cells = max(copied.values(), key=lambda copies: copies[0])
        yield sample.found(
            "equal_repetitions", *copied, cells=cells, n_same=n_same, n_cells=n_cells,
            sureness=Sureness.CERTAIN if n_same > 3 else None,
        )  # fmt: skip


def _equal_repetitions(sample: Sample, name: str) -> tuple[int, int, tuple[str, ...]] | None:
    """Return how many cells have repetitions that agree to the last digit, if many, and which.

    In between: of how many.
    """
    rows = sample.table.assign(_step=sample.resolution(name)).dropna(subset=[name])
    rows = rows[(rows[name] != 0) & (rows["_step"] < _EQUAL_FINE * rows[name].abs())]
    cells = rows.groupby(list(CELL))[name]
    several = cells.transform("size") > 1
    same = several & (cells.transform("min") == cells.transform("max"))
    n_cells = rows[several].groupby(list(CELL)).ngroups
    n_same = rows[same].groupby(list(CELL)).ngroups
    if n_same < 2 or 2 * n_same < n_cells:
        return None
    return n_same, n_cells, cell_names(rows[same])


def _equal_cells(sample: Sample, name: str) -> Finding | None:
    """Return a finding if more cells share a value than chance would have it.

    Chance: pairs of values that fall into the same step of the column's resolution, were they
    spread evenly over their range on a log scale.
    """
    rows = sample.table.assign(_step=sample.resolution(name)).dropna(subset=[name])
    rows = rows[rows[name] > 0].drop_duplicates(list(CELL))
    if len(rows) < 4:
        return None
    constant = rows[name].nunique() == 1
    if not constant:  # cells at a limit, of the link or of the threads' CPUs, are equal
        top: pd.Series | float = math.inf
        if name == "throughput":
            top = float(rows[name].max())
        elif name in ("cycles", "cpu_time"):
            top = rows.groupby(THREADS)[name].transform("max")
        rows = rows[rows[name] < top * (1.0 - _AT_THE_TOP)]
    values = rows[name].to_numpy(dtype=np.float64)
    steps = rows["_step"].to_numpy(dtype=np.float64)
    if len(values) < 4 or not (steps > 0.0).any():
        return None
    relative = float(np.median(steps / values))
    spread = float(np.log(values).std())
    if not 0.0 < relative < (_EQUAL_FINE if constant else _COARSE):
        return None
    shared = pd.Series(values).duplicated(keep=False).to_numpy()
    n_pairs = sum(n * (n - 1) // 2 for n in pd.Series(values).value_counts())
    if not n_pairs:
        return None
    bins = max(2.0 * math.sqrt(3.0) * spread / max(relative, 1e-12), 1.0)
    # or as many as there are pairs some steps apart
    ordered = np.sort(values)
    last = np.searchsorted(ordered, ordered * (1.0 + _BESIDE * relative), "right")
    near = float((last - np.searchsorted(ordered, ordered, "right")).sum()) / _BESIDE
    expected = max(len(values) * (len(values) - 1) / 2.0 / bins, near)
    if not constant and float(special.pdtrc(n_pairs - 1, expected)) > _EQUAL_CHANCE:
        return None
    if constant:
        return sample.found("all_cells_equal", name, n_cells=len(values), n_tables=_N_TABLES)
    return sample.found(
        "cells_equal", name, rows=rows[shared],
        n_sharing=int(shared.sum()), n_cells=len(values), n_tables=_N_TABLES,
    )  # fmt: skip


# Repetitions that are not what one gets by measuring again and again.

_ROUND_CHANCE = 1e-6
_ROUND_FINE = 1e-3
_LEAST_CELLS = 6
_LITTLE = 0.004
"""Relative spread within a cell below which a busy host would be quieter than any."""

_SCALE = 20.0
"""Hits are expected in proportion to what lies within so many times the tolerance."""


def check_repetitions(sample: Sample) -> Iterator[Finding]:
    """Yield what speaks against repetitions being measured one by one."""
    # Instructions follow from the program alone, and so hardly differ from run to run.
    wide: dict[str, pd.DataFrame] = {}
    for name in sample.measured(GIVEN | {"instructions"}):
        known = sample.table[sample.table[name] > 0.0]
        cells = known.pivot(index=list(CELL), columns=REP, values=name)
        cells = cells[cells.notna().sum(axis=1) >= 2]
        if len(cells) >= _LEAST_CELLS:
            wide[name] = cells
    yield from _sorted_ones(sample, wide)
    yield from _even_ones(sample, wide)
    for name, cells in wide.items():
        yield from _means(sample, name, cells)
    yield from _cumulative(sample)


def _sorted_ones(sample: Sample, wide: dict[str, pd.DataFrame]) -> Iterator[Finding]:
    """Find repetitions in ascending or descending order in more cells than chance has it."""
    for name, cells in wide.items():
        whole = cells.dropna()
        n_rounds = whole.shape[1]
        if len(whole) < _LEAST_CELLS or n_rounds < 3:
            continue
        # What all cells of a round share, such as a host that grows warm, is no order of a cell.
        logs = np.log(whole.to_numpy(dtype=np.float64))
        steps = np.diff(logs - np.median(logs - logs.mean(axis=1, keepdims=True), axis=0))
        plain = np.diff(logs)
        for sign in (1.0, -1.0):
            n_sorted = min(int((sign * d > 0).all(axis=1).sum()) for d in (plain, steps))
            n_plain = int((sign * plain > 0).all(axis=1).sum())
            chance = 1.0 / math.factorial(n_rounds)
            tail = float(special.bdtrc(n_sorted - 1, len(whole), chance)) if n_sorted else 1.0
            every = n_plain == len(whole) and chance ** len(whole) < _ROUND_CHANCE
            if tail < _ROUND_CHANCE or every:
                yield sample.found(
                    "sorted_repetitions", name, n_sorted=n_plain, n_cells=len(whole),
                    n_rounds=n_rounds, expected=len(whole) * chance, rises=sign > 0.0,
                )  # fmt: skip


def _even_ones(sample: Sample, wide: dict[str, pd.DataFrame]) -> Iterator[Finding]:
    """Find columns that differ by the same little in every cell, as added noise does."""
    even: list[str] = []
    widths: list[float] = []
    for name, cells in wide.items():
        logs = np.log(cells.to_numpy(dtype=np.float64))
        spread = np.nanstd(logs, axis=1, ddof=1)
        of_cells = float(np.nanstd(np.nanmean(logs, axis=1)))
        coarse = sample.relative_step(name) > _ROUND_FINE
        if len(cells) < 2 * _LEAST_CELLS or coarse or of_cells < 0.1:
            continue
        width = float(np.sqrt(np.mean(spread**2)))
        if 0.0 < width < _LITTLE and _is_homogeneous(spread, np.isfinite(logs).sum(axis=1)):
            even.append(name)
            widths.append(width)
    if even:
        yield sample.found("even_repetitions", *even, spread=float(np.median(widths)))


def _is_homogeneous(spread: FloatArray, n_values: FloatArray) -> bool:
    """Tell whether the spreads of cells differ no more than samples of one spread do.

    Bartlett's statistic, Proc. Royal Society A 160, 1937; a zero spread is taken for a tiny one.
    """
    free = n_values - 1.0
    variance = np.maximum(spread, 1e-3 * float(np.median(spread)) + 1e-100) ** 2
    pooled = float((free * variance).sum() / free.sum())
    statistic = float((free * (math.log(pooled) - np.log(variance))).sum())
    correction = 1.0 + (float((1.0 / free).sum()) - 1.0 / free.sum()) / (3.0 * (len(free) - 1))
    return float(special.chdtrc(len(free) - 1, statistic / correction)) > 0.001


def _means(sample: Sample, name: str, cells: pd.DataFrame) -> Iterator[Finding]:
    """Find values that are the mean of the other repetitions of their cell."""
    values = cells.to_numpy(dtype=np.float64)
    n_values = np.isfinite(values).sum(axis=1, keepdims=True)
    values = values[n_values[:, 0] >= 3]
    n_values = n_values[n_values[:, 0] >= 3]
    if len(values) < 3:
        return
    others = (np.nansum(values, axis=1, keepdims=True) - values) / (n_values - 1)
    step = sample.relative_step(name)
    off = np.abs(values / others - 1.0)
    same = np.nanmax(values, axis=1) == np.nanmin(values, axis=1)
    off = off[~same]
    tolerance = max(0.75 * step, 1e-9)
    known = np.isfinite(off)
    if tolerance > _ROUND_FINE or not known.any():
        return
    n_hits = int((off[known] <= tolerance).sum())
    near = int((off[known] <= _SCALE * tolerance).sum())
    expected = max((near - n_hits) / (_SCALE - 1.0), known.sum() * tolerance / 0.1)
    if n_hits < 2 or float(special.pdtrc(n_hits - 1, expected)) > _ROUND_CHANCE:
        return
    hit = (off <= tolerance).any(axis=1)
    found = cells[(cells.notna().sum(axis=1) >= 3).to_numpy()][~same][hit]
    yield sample.found(
        "mean_repetitions", name, rows=found.index.to_frame(index=False), n_hits=n_hits,
        n_values=int(known.sum()), expected=expected,
    )  # fmt: skip


_LEAST_IN_A_ROW = 12


def _cumulative(sample: Sample) -> Iterator[Finding]:
    """Find counters that only rise along the file, as one does that is never set back."""
    for name in ("bytes", "messages", *TOTALS):
        if name not in sample.quantities:
            continue
        known = sample.table.dropna(subset=[name])
        if len(known) < _LEAST_IN_A_ROW or not (np.diff(known[name]) > 0.0).all():
            continue
        # Sorted by what they count, as in a table with one row per size, they rise as well: sizes,
        # threads or repetitions have to go back several times.
        keys = known[list(CELL)]
        back = sum(int((keys[key].diff() < 0).sum()) for key in (SIZE, THREADS))
        if back + int((keys.ne(keys.shift()).sum(axis=1) == 0).sum()) >= 3:
            yield sample.found("cumulative", name, n_rows=len(known))
