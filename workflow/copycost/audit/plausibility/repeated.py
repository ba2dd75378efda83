"""Values that were copied, sorted, filled in or rounded: no repetition gives these."""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special  # scipy.stats takes a second to import, which a small audit feels
from scipy.spatial import cKDTree

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import REP, THREADS, base_of
from copycost.audit.wording import cell_names
from copycost.stats.settings import FloatArray

# Whether there are values that no two measurements would share.

_EQUAL_SETTINGS = frozenset({"duration", "copied_share", "bytes", "messages"})
_EQUAL_FINE = 5e-4
"""Relative step below which equal values are no matter of coarse digits."""

_COARSE = 5e-3
"""Likewise, where the pairs beside them tell how many of equal ones to expect."""

_EQUAL_CHANCE = 1e-3
_N_TABLES = round(1.0 / _EQUAL_CHANCE)
_AT_THE_TOP = 2e-3
_BESIDE = 10.0


class Copies(NamedTuple):
    """Cells whose repetitions are equal, of those with repetitions."""

    n_same: int
    n_cells: int
    cells: tuple[str, ...]


def check_repeats(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield columns with equal values in different cells, or in repetitions of one."""
    copied: dict[str, Copies] = {}
    for name in sample.quantities:
        if name in _EQUAL_SETTINGS or name in explained:
            continue
        copies = _equal_repetitions(sample, name)
        if copies is not None:
            copied[name] = copies
        elif (found := _equal_cells(sample, name)) is not None:
            yield found
    if copied:
        most = max(copied.values(), key=lambda copies: copies.n_same)
        yield sample.found(
            "equal_repetitions", *copied, cells=most.cells, n_same=most.n_same,
            sureness=Sureness.CERTAIN if most.n_same > 3 else None, n_cells=most.n_cells,
        )  # fmt: skip


def _equal_repetitions(sample: Sample, name: str) -> Copies | None:
    """Return the cells whose repetitions agree to the last of many digits, if those are many."""
    rows = sample.table.assign(_step=sample.resolution(name)).dropna(subset=[name])
    rows = rows[(rows[name] != 0) & (rows["_step"] < _EQUAL_FINE * rows[name].abs())]
    cells = rows.groupby(list(CELL))[name]
    several = cells.transform("size") > 1
    same = several & (cells.transform("min") == cells.transform("max"))
    n_cells = rows[several].groupby(list(CELL)).ngroups
    n_same = rows[same].groupby(list(CELL)).ngroups
    if n_same < 2 or 2 * n_same < n_cells:
        return None
    return Copies(n_same, n_cells, cell_names(rows[same]))


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
    if not constant:
        rows = _off_the_top(rows, name)
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
    expected = max(len(values) * (len(values) - 1) / 2.0 / bins, _by_neighbours(values, steps))
    if not constant and _poisson_tail(n_pairs, expected) > _EQUAL_CHANCE:
        return None
    if constant:
        return sample.found("all_cells_equal", name, n_cells=len(values), n_tables=_N_TABLES)
    return sample.found(
        "cells_equal", name, rows=rows[shared], sureness=None if n_pairs > 3 else Sureness.POSSIBLE,
        n_sharing=int(shared.sum()), n_cells=len(values), n_tables=_N_TABLES,
    )  # fmt: skip


def _off_the_top(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Leave out the cells at a limit: of the link, or of the CPUs that the threads have."""
    top: pd.Series | float = math.inf
    if name == "throughput":
        top = float(rows[name].max())
    elif name in ("cycles", "cpu_time"):
        top = rows.groupby(THREADS)[name].transform("max")
    below: pd.DataFrame = rows.loc[rows[name] < top * (1.0 - _AT_THE_TOP)]
    return below


def _by_neighbours(values: FloatArray, steps: FloatArray) -> float:
    """Return how many pairs would share a step, were they as frequent as those some steps apart."""
    ordered = np.sort(values)
    width = _BESIDE * float(np.median(steps / values)) * ordered
    near = np.searchsorted(ordered, ordered + width, "right") - np.searchsorted(
        ordered, ordered, "right"
    )
    return float(near.sum()) / _BESIDE


def _poisson_tail(n: int, expected: float) -> float:
    """Return the chance of at least `n` where `expected` is the mean."""
    below = sum(math.exp(-expected + k * math.log(max(expected, 1e-300)) - math.lgamma(k + 1))
                for k in range(n))  # fmt: skip
    return max(1.0 - below, 0.0)


# Repetitions that are not what one gets by measuring again and again.

_ROUND_LEFT_OUT = frozenset({"duration", "bytes", "messages", "copied_share", "instructions"})
"""What is set, or follows from the program alone and so hardly differs from run to run."""

_ROUND_CHANCE = 1e-6
_ROUND_FINE = 1e-3
_LEAST_CELLS = 6
_LITTLE = 0.004
"""Relative spread within a cell below which a busy host would be quieter than any."""

_SCALE = 20.0
"""Hits are expected in proportion to what lies within so many times the tolerance."""


def check_repetitions(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield what speaks against repetitions being measured one by one."""
    names = [name for name in sample.quantities if name not in _ROUND_LEFT_OUT | set(explained)]
    wide = {name: _wide(sample, name) for name in names}
    wide = {name: found for name, found in wide.items() if len(found) >= _LEAST_CELLS}
    yield from _sorted_ones(sample, wide)
    yield from _even_ones(sample, wide)
    for name, cells in wide.items():
        yield from _means(sample, name, cells)
    yield from _cumulative(sample, explained)


def _wide(sample: Sample, name: str) -> pd.DataFrame:
    """Return the values of a quantity, a row per cell with at least two, a column per round."""
    known = sample.table.dropna(subset=[name])
    known = known[known[name] > 0.0]
    if known.empty:
        return pd.DataFrame()
    wide = known.pivot(index=list(CELL), columns=REP, values=name)
    return wide[wide.notna().sum(axis=1) >= 2]


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
                    sureness=None if tail < _ROUND_CHANCE else Sureness.POSSIBLE,
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
        sureness = Sureness.VERY_LIKELY if len(even) > 1 else None
        yield sample.found("even_repetitions", *even, sureness=sureness,
                           spread=float(np.median(widths)))  # fmt: skip


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


_COUNTED = ("bytes", "messages", "cycles", "instructions", "l1d_misses", "llc_misses",
            "cache_misses", "context_switches", "cpu_time")  # fmt: skip
_LEAST_IN_A_ROW = 12


def _cumulative(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Find counters that only rise along the file, as one does that is never set back."""
    for name in _COUNTED:
        if name not in sample.quantities or name in explained:
            continue
        values = sample.table[name].dropna().to_numpy(dtype=np.float64)
        if len(values) < _LEAST_IN_A_ROW or not (np.diff(values) > 0.0).all():
            continue
        # Sorted by what they count, as in a table with one row per size, they rise as well.
        keys = sample.table.loc[sample.table[name].notna(), list(CELL)]
        if _starts_anew(keys):
            yield sample.found('cumulative', name, n_rows=len(values))  # fmt: skip


def _starts_anew(keys: pd.DataFrame) -> bool:
    """Tell whether sizes, threads or repetitions go back several times along the rows."""
    back = sum(int((keys[name].diff() < 0).sum()) for name in ("msg_bytes", "n_threads"))
    again = int((keys.ne(keys.shift()).sum(axis=1) == 0).sum())
    return back + again >= 3


# Rows and blocks that were copied: equal in several columns at once, or nearly so.

_COPY_SETTINGS = frozenset({"duration", "copied_share"})
_COPY_FINE = 0.006
_DISTINCT = 0.3
_COPY_CHANCE = 1e-6
_ALIKE_CHANCE = 1e-3
_NEAR = 0.004
"""Within this share in every column, two rows of different cells are alike."""

_WIDER = 6.0
_STEPS = 10.0
_MOST_DATASETS = 20
_MOST_ROWS = 3000
"""Of more rows, pairs are looked for among the cells' means."""


def check_copies(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield rows that share all columns with another cell's, exactly or nearly."""
    names = _independent(sample, explained)
    rows = sample.table.dropna(subset=names) if names else sample.table.iloc[:0]
    rows = rows[(rows[names] > 0.0).all(axis=1)] if names else rows
    if len(names) < 2 or len(rows) < 6:
        return
    equal = _equal(rows, names)
    if equal is not None:
        yield sample.found("rows_equal", *names, rows=rows[equal], n_rows=int(equal.sum()))
        return
    if len(names) >= 3:
        yield from _alike(sample, rows, names)


def _independent(sample: Sample, explained: Collection[str]) -> list[str]:
    """Return the columns whose values tell rows apart."""
    names = []
    for name in sample.quantities:
        values = sample.table[name].dropna()
        few = values.nunique() < _DISTINCT * len(values)
        if (
            name in _COPY_SETTINGS
            or name in explained
            or few
            or sample.relative_step(name) > _COPY_FINE
        ):
            continue
        names.append(name)
    if "throughput" in names:
        # These go with it by definition, so they are no second witnesses.
        names = [name for name in names if name not in ("bytes", "messages", "latency")]
    return names


def _equal(rows: pd.DataFrame, names: Sequence[str]) -> "pd.Series | None":
    """Return which rows share all columns with another cell's, if chance does not do that."""
    cells = rows.groupby(list(CELL), sort=False).ngroup()
    shared = rows.duplicated(list(names), keep=False)
    if not shared.any():
        return None
    others = cells[shared].groupby([rows.loc[shared, name] for name in names]).transform("nunique")
    mine = shared.copy()
    mine[shared] = others > 1
    if not mine.any():
        return None
    n_pairs = len(rows) * (len(rows) - 1) / 2.0
    chance = 1.0
    for name in names:
        counts = rows[name].value_counts().to_numpy(dtype=np.float64)
        pairs = float((counts * (counts - 1.0)).sum()) / 2.0 - float(mine.sum()) / 2.0
        chance *= max(pairs, 1.0) / n_pairs
    return mine if n_pairs * chance < 0.01 else None


def _alike(sample: Sample, rows: pd.DataFrame, names: list[str]) -> Iterator[Finding]:
    """Find pairs far closer in every column than the number of wider pairs lets expect."""
    if len(rows) > _MOST_ROWS:
        rows = rows.groupby(list(CELL), as_index=False)[names].mean()
    logs: FloatArray = np.log(rows[names].to_numpy(dtype=np.float64))
    cells = rows.groupby(list(CELL), sort=False).ngroup().to_numpy()
    tree = cKDTree(logs)
    wide = tree.query_pairs(_NEAR * _WIDER, p=np.inf, output_type="ndarray")
    wide = wide[cells[wide[:, 0]] != cells[wide[:, 1]]] if len(wide) else wide
    if not len(wide):
        return
    distance = np.abs(logs[wide[:, 0]] - logs[wide[:, 1]]).max(axis=1)
    close = distance <= _NEAR
    # Columns that go together count once or twice: at most as many as vary on their own.
    expected = max(float((~close).sum()), 1.0) * _WIDER ** -_dimension(logs)
    if close.any() and float(special.pdtrc(int(close.sum()) - 1, expected)) < _ALIKE_CHANCE:
        found = np.unique(wide[close])
        yield sample.found("rows_alike", *names, rows=rows.iloc[found], n_rows=len(found),
                           near=_NEAR)  # fmt: skip


def _dimension(logs: FloatArray) -> float:
    """Return how many directions the rows vary in, by the participation of their variances."""
    spread = logs.std(axis=0)
    values = np.linalg.eigvalsh(np.corrcoef(logs[:, spread > 0.0], rowvar=False))
    return float(values.sum() ** 2 / (values**2).sum())


def check_datasets(samples: Sequence[Sample]) -> Iterator[Finding]:
    """Yield datasets of a file that share values of the same cells in several columns."""
    keys = [*CELL[1:], REP]
    for first, second in itertools.combinations(samples[:_MOST_DATASETS], 2):
        fine = [name for name in second.quantities if name not in _COPY_SETTINGS]
        fine = [name for name in fine if name in first.quantities and _is_fine(second, name)]
        if len(fine) < 2:
            continue
        both = second.table.merge(first.table, on=keys, suffixes=("", "_other"))
        same = pd.DataFrame({name: both[name] == both[f"{name}_other"] for name in fine})
        shared = same.sum(axis=1) >= 2
        names = tuple(name for name in fine if same.loc[shared, name].any())
        expected = _expected_ties(second, both, fine)
        if (
            shared.sum() >= 2
            and float(special.pdtrc(int(shared.sum()) - 1, expected)) < _COPY_CHANCE
        ):
            yield second.found(
                "datasets_share_rows", *names, rows=both[shared], n_rows=int(shared.sum()),
                of_rows=len(second.table), other=first.name,
            )  # fmt: skip


def _expected_ties(sample: Sample, both: pd.DataFrame, names: Sequence[str]) -> float:
    """Return how many rows share two columns by chance, from how many are some steps apart."""
    chances = []
    for name in names:
        steps = sample.relative_step(name) * both[name].abs()
        off = (both[name] - both[f"{name}_other"]).abs()
        near = int(((off > 0.0) & (off <= _STEPS * steps)).sum())
        chances.append(max(near / _STEPS, 1.0 / _STEPS) / max(len(both), 1))
    return len(both) * sum(a * b for a, b in itertools.combinations(chances, 2))


def _is_fine(sample: Sample, name: str) -> bool:
    values = sample.table[name]
    many = bool(values.nunique() > _DISTINCT * values.notna().sum())
    return many and sample.relative_step(name) < _COPY_FINE


# Whether digits are those of measurements, or rounder and more regular.

_LEAST_VALUES = 8
_LEAST_LAST_DIGITS = 30
_DIGIT_CHANCE = 1e-6
_DIGIT_LEFT_OUT = frozenset({"duration", "bytes", "messages", "copied_share"})


def check_digits(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield columns whose values are all multiples of a number, too round, or too regular."""
    for name in sample.quantities:
        if name in _DIGIT_LEFT_OUT or name in explained or base_of(name).kind == "share":
            continue
        units = _mantissas(sample, name)
        if len(np.unique(units)) >= _LEAST_VALUES:
            found = (check(sample, name, units) for check in (_multiples, _rounded, _last_digits))
            yield from itertools.islice(filter(None, found), 1)


def _mantissas(sample: Sample, name: str) -> FloatArray:
    """Return the values as whole numbers of the step that each was rounded to; none where unknown.

    So the zeros of rounding, which is honest, do not count as digits.
    """
    values = sample.table[name].abs().to_numpy(dtype=np.float64)
    steps = sample.resolution(name)
    known = (values > 0.0) & (steps > 0.0)
    units = np.round(values[known] / steps[known])
    return np.asarray(units[units < 2.0**52], dtype=np.float64)


def _multiples(sample: Sample, name: str, units: FloatArray) -> Finding | None:
    divisor = math.gcd(*(int(unit) for unit in units))
    distinct = len(np.unique(units))
    if divisor < 2 or distinct * math.log10(divisor) < -math.log10(_DIGIT_CHANCE):
        return None
    if np.median(units) < (20 if base_of(name).kind == "time" else 4) * divisor:
        return None  # few steps: a coarse clock, such as one of 4 ms
    return sample.found("multiples", name, n_values=len(units), divisor=divisor)


def _rounded(sample: Sample, name: str, units: FloatArray) -> Finding | None:
    """Return a finding if values have two digits and then zeros, where others have more digits."""
    digits = np.array([len(str(int(unit)).rstrip("0")) for unit in units])
    lengths = np.array([len(str(int(unit))) for unit in units])
    long = lengths >= 4
    if long.sum() < _LEAST_VALUES:
        return None
    n_round = int((digits[long] <= 2).sum())
    # One in ten of four-digit numbers ends in one zero, one in a hundred in two.
    chance = float(special.bdtrc(n_round - 1, int(long.sum()), 0.01))
    if n_round < 4 or chance > _DIGIT_CHANCE:
        return None
    return sample.found("round_numbers", name, n_round=n_round, n_values=int(long.sum()))


def _last_digits(sample: Sample, name: str, units: FloatArray) -> Finding | None:
    """Return a finding if the last digits of long numbers are far from equally frequent."""
    last = units[units >= 1000].astype(np.int64) % 10
    if len(last) < _LEAST_LAST_DIGITS:
        return None
    counts = np.bincount(last, minlength=10)
    # Values written without the zeros behind the point end in no zero.
    expected = counts[1:].mean()
    chi_square = float(((counts[1:] - expected) ** 2 / expected).sum())
    if float(special.chdtrc(len(counts[1:]) - 1, chi_square)) > _DIGIT_CHANCE:
        return None
    return sample.found(
        "last_digits", name, n_values=len(last), digit=int(np.argmax(counts)),
        n_times=int(counts.max()),
    )  # fmt: skip
