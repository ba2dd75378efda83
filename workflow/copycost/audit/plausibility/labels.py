"""Rows in another unit than the rest of their column, or with another's label."""

import itertools
import math
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import GIVEN, SETTINGS, Sample
from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS, base_of
from copycost.audit.wording import place
from copycost.stats.settings import FloatArray

# Rows that are in another unit than the rest of their column.
#
# What a cell should have is taken from the others: the medians over implementations, sizes and
# threads, added on a logarithmic scale (Tukey's median polish, Exploratory Data Analysis, 1977).

_LEAST_ROWS = 8
_LEAST_GROUP = 4
_ROUNDS = 4
_MOST_SHARE = 0.35
"""More rows than these, and it is not clear which unit is the column's."""

_THOUSANDS = tuple(1000.0**power for power in (-3, -2, -1, 1, 2, 3))
_SMALL = (8.0, 1 / 8.0, 60.0, 1 / 60.0, 100.0, 0.01)
"""Bits for bytes, minutes for seconds, percents for shares."""


def check_units(sample: Sample) -> Iterator[Finding]:
    """Yield columns in which some rows are off by the factor between two units."""
    for name in sample.quantities:
        rows = sample.table[sample.table[name] > 0.0]
        if base_of(name).kind != "share" and len(rows) >= _LEAST_ROWS:
            yield from islice(_jumps(sample, name, rows, _polished(rows, name)), 1)


def _polished(rows: pd.DataFrame, name: str) -> FloatArray:
    """Return what is left of a quantity's logarithms after the medians of its cells' labels."""
    rest: FloatArray = np.log(rows[name].to_numpy(dtype=np.float64))
    axes = [rows[key] for key in (IMPLEMENTATION, SIZE, THREADS)]
    groups = [_members([axis]) for axis in axes if axis.nunique() > 1]
    # With enough cells, how the size matters may depend on the implementation, and so on.
    groups += [_members(list(pair)) for pair in itertools.combinations(axes, 2)]
    for _ in range(_ROUNDS):
        for members in groups:
            for member in members:
                rest[member] -= np.median(rest[member])
    return rest - float(np.median(rest))


def _members(keys: list[pd.Series]) -> list[NDArray[np.intp]]:
    """Return the rows of each group that is large enough for its median to be no row's own."""
    codes = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        found, names = pd.factorize(key)
        codes = codes * len(names) + found
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return [part for part in parts if len(part) >= _LEAST_GROUP]


def _jumps(sample: Sample, name: str, rows: pd.DataFrame, rest: FloatArray) -> Iterator[Finding]:
    spread = 1.4826 * float(np.median(np.abs(rest)))
    for factors, least, width in ((_THOUSANDS, 1, 1.4), (_SMALL, 2, 0.35)):
        for factor in factors:
            shift = math.log(factor)
            off = np.abs(rest - shift) < min(width, 0.25 * abs(shift))
            between = (rest / shift > 0.5) & ~off
            some = least <= off.sum() <= _MOST_SHARE * len(rows)
            if some and not between.any() and abs(shift) >= 6.0 * spread:
                large = factors is _THOUSANDS
                yield sample.found(
                    "unit_jumps", name, rows=rows[off], kind=None if large else Kind.ODD,
                    sureness=None if large else Sureness.POSSIBLE, n_rows=int(off.sum()),
                    of_rows=len(rows), factor=float(np.exp(np.median(rest[off]))),
                )  # fmt: skip


# Whole rows that carry each other's label: of two implementations, or of two thread counts.
#
# Two labels are apart by about as much as at the sizes beside. Where the distance has the other
# sign, in column after column, the labels were exchanged. At the first and the last size, curves
# that cross look the same, so nothing is said there.

_LEAST_APART = 0.08
"""Two labels that are less apart could be either [relative]."""

_LESS_ROUGH = 0.4
_LEAST_CLEAR = 3
_AGREE = 0.8
_MOST_LABELS = 12


def check_labels(sample: Sample) -> Iterator[Finding]:
    """Yield the sizes at which two labels were exchanged."""
    cubes, labels = _cubes(sample)
    if cubes.size == 0 or len(labels[SIZE]) < 4:
        return
    for axis, name in ((1, IMPLEMENTATION), (3, THREADS)):
        for first, second in itertools.combinations(range(len(labels[name][:_MOST_LABELS])), 2):
            pair = (np.take(cubes, first, axis), np.take(cubes, second, axis))
            # Now quantity, then size and the other label, in the order of the cube.
            one, two = (np.moveaxis(part, 1 if axis == 1 else 2, 1) for part in pair)
            swapped = _mirrored(one - two, 0.5 * (one + two))
            pair_names = [str(labels[name][at]) for at in (first, second)]
            for at, others in swapped:
                size = int(str(labels[SIZE][at]))
                if name == IMPLEMENTATION:
                    code, threads = "implementations_exchanged", labels[THREADS]
                    cells = [place(size, int(str(threads[n]))) for n in others]
                else:
                    code, ways = "threads_exchanged", labels[IMPLEMENTATION]
                    cells = [f"{ways[n]}, {place(size, int(t))}" for n in others
                             for t in pair_names]  # fmt: skip
                yield sample.found(code, cells=tuple(cells), first=pair_names[0],
                                   second=pair_names[1], msg_bytes=size)  # fmt: skip


def _cubes(sample: Sample) -> tuple[FloatArray, dict[str, list[object]]]:
    """Return logarithms by quantity, implementation, size and threads; and what the labels are."""
    left_out = GIVEN if "throughput" in sample.quantities else SETTINGS
    names = list(sample.measured(left_out))
    labels: dict[str, list[object]] = {key: sorted(sample.table[key].unique()) for key in CELL[1:]}
    medians = sample.table.groupby(list(CELL[1:]))[names].median()
    whole = medians.reindex(pd.MultiIndex.from_product(list(labels.values())))
    logs = np.log(whole.where(whole > 0.0).to_numpy(dtype=np.float64))
    return logs.T.reshape(len(names), *map(len, labels.values())), labels


def _mirrored(difference: FloatArray, middle: FloatArray) -> list[tuple[int, list[int]]]:
    """Return the inner sizes where the distance has the wrong sign, and for which other labels.

    The sign is wrong where the other one takes most of the steps off the line out of the curve, and
    what lies between the two is where it should be: no value of one of them is just an outlier.

    `difference`, `middle`: by quantity, size and the other label.
    """
    before = _roughness(difference)
    off = np.abs(_off_the_line(middle))
    usual = 2.0 * np.nanmedian(np.where(np.isfinite(off), off, 0.0), axis=(1, 2))[:, None]
    found: list[tuple[int, list[int]]] = []
    for at in range(1, difference.shape[1] - 1):
        turned = difference.copy()
        turned[:, at] = -turned[:, at]
        after = _roughness(turned)
        with np.errstate(invalid="ignore"):
            apart = np.abs(difference[:, at])
            clear = (apart > _LEAST_APART) & (off[:, at - 1] < np.maximum(0.5 * apart, usual))
            mirrored = clear & (after < _LESS_ROUGH * before)
            # Columns that are as rough either way say nothing.
            clear &= mirrored | (after > before / _LESS_ROUGH**0.5)
        n_clear, n_mirrored = clear.sum(axis=0), mirrored.sum(axis=0)
        whole = mirrored.sum() >= max(_LEAST_CLEAR, _AGREE * clear.sum())
        one = (n_mirrored >= _LEAST_CLEAR) & (n_mirrored >= _AGREE * n_clear)
        others = np.flatnonzero((n_mirrored > 0) if whole else one)
        if len(others):
            found.append((at, [int(other) for other in others]))
    return found


def _off_the_line(curves: FloatArray) -> FloatArray:
    return curves[:, 1:-1] - 0.5 * (curves[:, :-2] + curves[:, 2:])


def _roughness(difference: FloatArray) -> FloatArray:
    """Return how far curves along the sizes are off the line between neighbours, all together."""
    rough: FloatArray = np.abs(_off_the_line(difference)).sum(axis=1)
    return rough
