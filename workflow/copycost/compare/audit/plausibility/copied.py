"""Values and rows that were copied, counters that were never set back, digits too regular."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy import special  # scipy.stats takes a second to import, which a small audit feels
from scipy.spatial import cKDTree

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.dataset import CELL
from copycost.compare.audit.plausibility.sample import (
    CHANCE,
    SETTINGS,
    Finding,
    Sample,
    Sureness,
    all_by_chance,
    by_chance,
)
from copycost.compare.audit.quantities import TOTALS, base_of

_EQUAL_FINE = 5e-4
"""Relative step below which equal values are no matter of coarse digits."""


def check_repeats(sample: Sample) -> Iterator[Finding]:
    """Yield columns that have one value throughout, or in all repetitions of many cells."""
    copied: dict[str, tuple[int, int, pd.DataFrame]] = {}
    for name in sample.measured():
        rows = sample.table.assign(step=sample.resolutions[name]).dropna(subset=[name])
        fine = rows[(rows[name] != 0) & (rows["step"] < _EQUAL_FINE * rows[name].abs())]
        of_cells = fine.groupby(list(CELL))[name].agg(["size", "min", "max"])
        several = of_cells[of_cells["size"] > 1]
        same = several[several["min"] == several["max"]]
        if len(same) >= 2 and 2 * len(same) >= len(several):
            mine = pd.MultiIndex.from_frame(fine[list(CELL)]).isin(same.index)
            copied[name] = len(same), len(several), fine[mine]
        elif len(of_cells) >= 4 and len(fine) == len(rows) and rows[name].nunique() == 1:
            yield sample.found("all_cells_equal", name, n_cells=len(of_cells))
    if copied:
        n_same, n_cells, rows = max(copied.values(), key=lambda copies: copies[0])
        yield sample.found(
            "equal_repetitions", *copied, rows=rows, n_same=n_same, n_cells=n_cells,
            sureness=Sureness.CERTAIN if n_same > 3 else None,
        )  # fmt: skip


_LEAST_IN_A_ROW = 12


def check_cumulative(sample: Sample) -> Iterator[Finding]:
    """Yield counters that only rise along the file, as one does that is never set back."""
    for name in ("bytes", "messages", *TOTALS):
        known = sample.table.dropna(subset=[name])
        if name not in sample.quantities or len(known) < _LEAST_IN_A_ROW:
            continue
        # Sorted by what they count, as in a table with one row per size, they rise as well: sizes,
        # threads or repetitions have to go back several times.
        keys = known[list(CELL)]
        back = int((keys[["msg_bytes", "n_threads"]].diff() < 0).sum().sum())
        again = int((~keys.ne(keys.shift()).any(axis=1)).sum())
        if known[name].is_monotonic_increasing and known[name].is_unique and back + again >= 3:
            yield sample.found("cumulative", name, n_rows=len(known))


# Rows and blocks that were copied: equal in several columns at once, or nearly so.

_FINE = 0.006
_DISTINCT = 0.3
_ALIKE_CHANCE = 1e-3
_NEAR = 0.004
"""Within this share in every column, two rows of different cells are alike."""

_WIDER = 6.0
_MOST_ROWS = 3000
"""Of more rows, pairs are looked for among the cells' means."""

_STEPS = 10.0
_MOST_DATASETS = 20


def _telling(sample: Sample) -> list[str]:
    """Return the columns whose values tell rows apart."""
    found = {name: sample.table[name] for name in sample.measured(SETTINGS, _FINE)}
    return [name for name, values in found.items()
            if values.nunique() >= _DISTINCT * values.notna().sum()]  # fmt: skip


def check_copies(sample: Sample) -> Iterator[Finding]:
    """Yield rows that share all columns with others, exactly, or nearly with another cell's."""
    names = _telling(sample)
    if "throughput" in names:
        # These go with it by definition, so they are no second witnesses.
        names = [name for name in names if name not in ("bytes", "messages", "latency")]
    rows = sample.table[(sample.table[names] > 0.0).all(axis=1)]
    if len(names) < 2 or len(rows) < 6:
        return
    tied = [name for name in names if rows.duplicated([*CELL, name]).any()]
    for code, shared in (("rows_equal", names), ("repetitions_copied", tied)):
        equal = _equal(rows, shared, is_same_cell=shared is tied)
        if not equal.empty:
            yield sample.found(code, *shared, rows=equal, n_rows=len(equal))
            return
    if len(names) >= 3:
        yield from _alike(sample, rows, names)


def _equal(rows: pd.DataFrame, names: list[str], *, is_same_cell: bool) -> pd.DataFrame:
    """Return the rows that share several columns with others, if chance does not do that.

    With those of another cell, or with repetitions of the same one, which are alike anyway.
    """
    cells = rows.groupby(list(CELL), sort=False).ngroup()
    shared = rows[rows.duplicated(names, keep=False)] if len(names) > 1 else rows.iloc[:0]
    if shared.empty:
        return shared
    n_cells = cells[shared.index].groupby([shared[name] for name in names]).transform("nunique")
    equal = shared[(n_cells == 1) == is_same_cell]
    beside = [cells] if is_same_cell else []
    n_pairs = _pairs(cells.value_counts()) if is_same_cell else _pairs(pd.Series([len(rows)]))
    expected = n_pairs
    for name in names:
        pairs = _pairs(rows.groupby([rows[name], *beside]).size()) - len(equal) / 2.0
        expected *= max(pairs, 1.0) / n_pairs
    return equal if expected < 0.01 else equal.iloc[:0]


def _pairs(counts: pd.Series) -> float:
    """Return how many pairs there are within groups of so many rows."""
    return float((counts * (counts - 1.0)).sum()) / 2.0


def _alike(sample: Sample, rows: pd.DataFrame, names: list[str]) -> Iterator[Finding]:
    """Find pairs far closer in every column than the number of wider pairs lets expect."""
    if len(rows) > _MOST_ROWS:
        rows = rows.groupby(list(CELL), as_index=False)[names].mean()
    logs: FloatArray = np.log(rows[names].to_numpy(dtype=np.float64))
    cells = rows.groupby(list(CELL), sort=False).ngroup().to_numpy()
    wide = cKDTree(logs).query_pairs(_NEAR * _WIDER, p=np.inf, output_type="ndarray")
    wide = wide[cells[wide[:, 0]] != cells[wide[:, 1]]]
    close = np.abs(logs[wide[:, 0]] - logs[wide[:, 1]]).max(axis=1) <= _NEAR
    if not close.any():
        return
    # Columns that go together count once or twice: at most as many as vary on their own.
    varying = logs[:, logs.std(axis=0) > 0.0]
    variances = np.linalg.eigvalsh(np.corrcoef(varying, rowvar=False))
    dimension = float(variances.sum() ** 2 / (variances**2).sum())
    expected = max(float((~close).sum()), 1.0) * _WIDER**-dimension
    if by_chance(int(close.sum()), expected) < _ALIKE_CHANCE:
        found = np.unique(wide[close])
        yield sample.found("rows_alike", *names, rows=rows.iloc[found], n_rows=len(found))


def check_datasets(samples: Sequence[Sample]) -> Iterator[Finding]:
    """Yield datasets of a file that share values of the same cells in several columns."""
    for first, second in itertools.combinations(samples[:_MOST_DATASETS], 2):
        fine = [name for name in _telling(second) if name in first.quantities]
        if len(fine) < 2:
            continue
        both = second.table.merge(first.table, on=[*CELL[1:], "rep"], suffixes=("", "_other"))
        others = both[[f"{name}_other" for name in fine]].set_axis(fine, axis=1)
        off = (both[fine] - others).abs()
        shared = (off == 0.0).sum(axis=1) >= 2
        names = [name for name in fine if (off.loc[shared, name] == 0.0).any()]
        # By chance, from how many are some steps apart.
        steps = both[fine].abs() * [_STEPS * second.relative_step(name) for name in fine]
        near = ((off > 0.0) & (off <= steps)).sum() / _STEPS
        shares = near.clip(lower=1.0 / _STEPS) / max(len(both), 1)
        expected = len(both) * sum(a * b for a, b in itertools.combinations(shares, 2))
        if shared.sum() >= 2 and by_chance(int(shared.sum()), expected) < CHANCE:
            yield second.found("datasets_share_rows", *names, rows=both[shared],
                               of_rows=len(second.table), other=first.name)  # fmt: skip


# Whether digits are those of measurements, or rounder and more regular.

_LEAST_VALUES = 8
_LEAST_LAST_DIGITS = 30


def check_digits(sample: Sample) -> Iterator[Finding]:
    """Yield columns whose values are all multiples of a number, too round, or too regular."""
    for name in sample.measured():
        # Whole numbers of the step that each value was rounded to: the zeros of rounding, which
        # is honest, do not count as digits.
        values = sample.table[name].abs().to_numpy(dtype=np.float64)
        steps = sample.resolutions[name].to_numpy(dtype=np.float64)
        known = (values > 0.0) & (steps > 0.0)
        units = np.round(values[known] / steps[known])
        units = units[units < 2.0**52].astype(np.int64)
        n_distinct = len(np.unique(units))
        if n_distinct < _LEAST_VALUES:
            continue
        divisor = math.gcd(*units.tolist())
        least_steps = 20 if base_of(name).kind == "time" else 4  # such as a clock of 4 ms
        is_fine = np.median(units) >= least_steps * divisor
        if divisor > 1 and is_fine and not all_by_chance(n_distinct, 1.0 / divisor):
            yield sample.found("multiples", name, n_values=len(units), divisor=divisor)
            continue
        # One in ten of four-digit numbers ends in one zero, one in a hundred in two.
        long = units[units >= 1000]
        n_round = sum(len(str(unit).rstrip("0")) <= 2 for unit in long)
        enough = len(long) >= _LEAST_VALUES and n_round >= 4
        if enough and by_chance(n_round, len(long) * 0.01, len(long)) <= CHANCE:
            yield sample.found("round_numbers", name, n_round=n_round, n_values=len(long))
            continue
        counts = np.bincount(long % 10, minlength=10)
        # Values written without the zeros behind the point end in no zero.
        expected = counts[1:].mean()
        if len(long) < _LEAST_LAST_DIGITS or not expected:
            continue
        chi_square = float(((counts[1:] - expected) ** 2 / expected).sum())
        if special.chdtrc(len(counts[1:]) - 1, chi_square) <= CHANCE:
            yield sample.found("last_digits", name, n_values=len(long),
                               digit=int(np.argmax(counts)), n_times=int(counts.max()))  # fmt: skip
