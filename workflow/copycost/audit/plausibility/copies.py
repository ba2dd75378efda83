"""Rows and blocks that were copied, and digits too round or too regular."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy import special  # scipy.stats takes a second to import, which a small audit feels
from scipy.spatial import cKDTree

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding
from copycost.audit.plausibility.sample import SETTINGS, Sample
from copycost.audit.quantities import REP, base_of
from copycost.stats.settings import FloatArray

# Rows and blocks that were copied: equal in several columns at once, or nearly so.

_FINE = 0.006
_DISTINCT = 0.3
_CHANCE = 1e-6
_ALIKE_CHANCE = 1e-3
_NEAR = 0.004
"""Within this share in every column, two rows of different cells are alike."""

_WIDER = 6.0
_STEPS = 10.0
_MOST_DATASETS = 20
_MOST_ROWS = 3000
"""Of more rows, pairs are looked for among the cells' means."""


def check_copies(sample: Sample) -> Iterator[Finding]:
    """Yield rows that share all columns with another cell's, exactly or nearly."""
    names = [name for name in sample.measured(SETTINGS, _FINE) if _is_many(sample.table[name])]
    if "throughput" in names:
        # These go with it by definition, so they are no second witnesses.
        names = [name for name in names if name not in ("bytes", "messages", "latency")]
    rows = sample.table[(sample.table[names] > 0.0).all(axis=1)]
    if len(names) < 2 or len(rows) < 6:
        return
    equal = _equal(rows, names)
    if equal is not None:
        yield sample.found("rows_equal", *names, rows=rows[equal], n_rows=int(equal.sum()))
        return
    if len(names) >= 3:
        yield from _alike(sample, rows, names)


def _is_many(values: pd.Series) -> bool:
    """Tell whether the values of a column tell rows apart."""
    return bool(values.nunique() >= _DISTINCT * values.notna().sum())


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
    spread = logs.std(axis=0)
    variances = np.linalg.eigvalsh(np.corrcoef(logs[:, spread > 0.0], rowvar=False))
    dimension = float(variances.sum() ** 2 / (variances**2).sum())
    expected = max(float((~close).sum()), 1.0) * _WIDER**-dimension
    if close.any() and float(special.pdtrc(int(close.sum()) - 1, expected)) < _ALIKE_CHANCE:
        found = np.unique(wide[close])
        yield sample.found("rows_alike", *names, rows=rows.iloc[found], n_rows=len(found),
                           near=_NEAR)  # fmt: skip


def check_datasets(samples: Sequence[Sample]) -> Iterator[Finding]:
    """Yield datasets of a file that share values of the same cells in several columns."""
    keys = [*CELL[1:], REP]
    for first, second in itertools.combinations(samples[:_MOST_DATASETS], 2):
        fine = [
            name for name in second.measured(SETTINGS, _FINE)
            if name in first.quantities and _is_many(second.table[name])
        ]  # fmt: skip
        if len(fine) < 2:
            continue
        both = second.table.merge(first.table, on=keys, suffixes=("", "_other"))
        same = pd.DataFrame({name: both[name] == both[f"{name}_other"] for name in fine})
        shared = same.sum(axis=1) >= 2
        names = tuple(name for name in fine if same.loc[shared, name].any())
        expected = _expected_ties(second, both, fine)
        if shared.sum() >= 2 and float(special.pdtrc(int(shared.sum()) - 1, expected)) < _CHANCE:
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


# Whether digits are those of measurements, or rounder and more regular.

_LEAST_VALUES = 8
_LEAST_LAST_DIGITS = 30


def check_digits(sample: Sample) -> Iterator[Finding]:
    """Yield columns whose values are all multiples of a number, too round, or too regular."""
    for name in sample.measured():
        # Whole numbers of the step that each value was rounded to: the zeros of rounding, which
        # is honest, do not count as digits.
        values = sample.table[name].abs().to_numpy(dtype=np.float64)
        steps = sample.resolution(name)
        known = (values > 0.0) & (steps > 0.0)
        units = np.round(values[known] / steps[known])
        units = units[units < 2.0**52]
        if len(np.unique(units)) >= _LEAST_VALUES:
            found = (check(sample, name, units) for check in (_multiples, _rounded, _last_digits))
            yield from itertools.islice(filter(None, found), 1)


def _multiples(sample: Sample, name: str, units: FloatArray) -> Finding | None:
    divisor = math.gcd(*(int(unit) for unit in units))
    distinct = len(np.unique(units))
    if divisor < 2 or distinct * math.log10(divisor) < -math.log10(_CHANCE):
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
    if n_round < 4 or chance > _CHANCE:
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
    if float(special.chdtrc(len(counts[1:]) - 1, chi_square)) > _CHANCE:
        return None
    return sample.found(
        "last_digits", name, n_values=len(last), digit=int(np.argmax(counts)),
        n_times=int(counts.max()),
    )  # fmt: skip
