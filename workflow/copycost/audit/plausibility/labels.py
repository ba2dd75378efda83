"""Rows in another unit than the rest of their column, or with another's label."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

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
"""Of fewer rows, the median is one's own."""

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
            yield from itertools.islice(_jumps(sample, name, rows), 1)


def _jumps(sample: Sample, name: str, rows: pd.DataFrame) -> Iterator[Finding]:
    rest = _polished(rows, name)
    spread = 1.4826 * float(np.median(np.abs(rest)))
    for factors, least, width in ((_THOUSANDS, 1, 1.4), (_SMALL, 2, 0.35)):
        small = factors is _SMALL
        for shift in map(math.log, factors):
            off = np.abs(rest - shift) < min(width, 0.25 * abs(shift))
            between = (rest / shift > 0.5) & ~off
            some = least <= off.sum() <= _MOST_SHARE * len(rows)
            if some and not between.any() and abs(shift) >= 6.0 * spread:
                yield sample.found(
                    "unit_jumps", name, rows=rows[off], of_rows=len(rows),
                    kind=Kind.ODD if small else None,
                    sureness=Sureness.POSSIBLE if small else None,
                    factor=float(np.exp(np.median(rest[off]))),
                )  # fmt: skip


def _polished(rows: pd.DataFrame, name: str) -> FloatArray:
    """Return what is left of a quantity's logarithms after the medians of its cells' labels."""
    axes = (IMPLEMENTATION, SIZE, THREADS)
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
    names = list(sample.measured(GIVEN if "throughput" in sample.quantities else SETTINGS))
    ways, sizes, threads = (sorted(sample.table[key].unique().tolist()) for key in CELL[1:])
    if not names or len(sizes) < 4:
        return
    medians = sample.table.groupby(list(CELL[1:]))[names].median()
    whole = medians.reindex(pd.MultiIndex.from_product([ways, sizes, threads]))
    logs = np.log(whole.where(whole > 0.0).to_numpy(dtype=np.float64))
    # quantity, implementation, size, threads
    cube = logs.T.reshape(len(names), len(ways), len(sizes), len(threads))
    for code, labels, others, axes in (
        ("implementations_exchanged", ways, threads, (1, 0, 2, 3)),
        ("threads_exchanged", threads, ways, (3, 0, 2, 1)),
    ):
        by_label = cube.transpose(axes)
        for first, second in itertools.combinations(range(len(labels[:_MOST_LABELS])), 2):
            one, two = by_label[first], by_label[second]
            pair = (labels[first], labels[second])
            for at, exchanged in _mirrored(one - two, 0.5 * (one + two)):
                if labels is ways:
                    cells = [place(sizes[at], others[n]) for n in exchanged]
                else:
                    cells = [f"{others[n]}, {place(sizes[at], t)}" for n in exchanged for t in pair]
                yield sample.found(code, cells=tuple(cells), first=str(pair[0]),
                                   second=str(pair[1]), msg_bytes=sizes[at])  # fmt: skip


def _mirrored(difference: FloatArray, middle: FloatArray) -> Iterator[tuple[int, list[int]]]:
    """Yield the inner sizes where the distance has the wrong sign, and for which other labels.

    The sign is wrong where the other one takes most of the steps off the line out of the curve, and
    what lies between the two is where it should be: no value of one of them is just an outlier.

    `difference`, `middle`: by quantity, size and the other label.
    """
    before = np.abs(_off_the_line(difference)).sum(axis=1)
    off = np.abs(_off_the_line(middle))
    usual = 2.0 * np.nanmedian(np.where(np.isfinite(off), off, 0.0), axis=(1, 2))[:, None]
    for at in range(1, difference.shape[1] - 1):
        turned = difference.copy()
        turned[:, at] = -turned[:, at]
        after = np.abs(_off_the_line(turned)).sum(axis=1)
        with np.errstate(invalid="ignore"):
            apart = np.abs(difference[:, at])
            clear = (apart > _LEAST_APART) & (off[:, at - 1] < np.maximum(0.5 * apart, usual))
            mirrored = clear & (after < _LESS_ROUGH * before)
            # Columns that are as rough either way say nothing.
            clear &= mirrored | (after > before / _LESS_ROUGH**0.5)
        n_clear, n_mirrored = clear.sum(axis=0), mirrored.sum(axis=0)
        whole = mirrored.sum() >= max(_LEAST_CLEAR, _AGREE * clear.sum())
        one = (n_mirrored >= _LEAST_CLEAR) & (n_mirrored >= _AGREE * n_clear)
        exchanged = np.flatnonzero((n_mirrored > 0) if whole else one).tolist()
        if exchanged:
            yield at, exchanged


def _off_the_line(curves: FloatArray) -> FloatArray:
    """Return by how much values are off the line between their neighbours along the sizes."""
    return curves[:, 1:-1] - 0.5 * (curves[:, :-2] + curves[:, 2:])
