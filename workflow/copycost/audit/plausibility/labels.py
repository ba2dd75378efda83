"""Whole rows that carry each other's label: of two implementations, or of two thread counts.

Two labels are apart by about as much as at the sizes beside. Where the distance has the other sign,
in column after column, the labels were exchanged. At the
first and the last size, curves that cross look the same, so nothing is said there.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS
from copycost.audit.wording import place
from copycost.stats.settings import FloatArray

_LEFT_OUT = frozenset({"duration", "copied_share"})
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
            for at, others in swapped:
                names = (labels[name][first], labels[name][second])
                yield _finding(sample, name, names, labels, at, others)


def _cubes(sample: Sample) -> tuple[FloatArray, dict[str, list[object]]]:
    """Return logarithms by quantity, implementation, size and threads; and what the labels are."""
    names = [name for name in sample.quantities if name not in _LEFT_OUT]
    if "throughput" in names:
        names = [name for name in names if name not in ("bytes", "messages")]
    means = sample.table.groupby(list(CELL[1:]))[names].median()
    logs = np.log(means.where(means > 0.0).to_numpy(dtype=np.float64))
    labels: dict[str, list[object]] = {
        str(key): sorted(sample.table[key].unique()) for key in CELL[1:]
    }
    places = tuple(
        np.array([labels[str(key)].index(value) for value in means.index.get_level_values(key)])
        for key in CELL[1:]
    )
    cubes = np.full((len(names), *(len(labels[str(key)]) for key in CELL[1:])), np.nan)
    for number in range(len(names)):
        cubes[number][places] = logs[:, number]
    return cubes, labels


def _mirrored(difference: FloatArray, middle: FloatArray) -> list[tuple[int, list[int]]]:
    """Return the inner sizes where the distance has the wrong sign, and for which other labels.

    The sign is wrong where the other one takes most of the steps off the line out of the curve, and
    what lies between the two is where it should be: no value of one of them is just an outlier.

    Parameters
    ----------
    difference, middle
        By quantity, size and the other label.
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


def _finding(
    sample: Sample,
    name: str,
    pair: tuple[object, object],
    labels: dict[str, list[object]],
    at: int,
    others: list[int],
) -> Finding:
    size = int(str(labels[SIZE][at]))
    if name == IMPLEMENTATION:
        cells = tuple(place(size, int(str(labels[THREADS][n]))) for n in others)
    else:
        cells = tuple(f"{labels[IMPLEMENTATION][n]}, {place(size, int(str(t)))}"
                      for n in others for t in pair)  # fmt: skip
    return Finding(
        check="labels",
        code="implementations_exchanged" if name == IMPLEMENTATION else "threads_exchanged",
        kind=Kind.ODD,
        sureness=Sureness.VERY_LIKELY,
        dataset=sample.name,
        quantities=(),
        numbers={"first": str(pair[0]), "second": str(pair[1]), "msg_bytes": size},
        cells=cells,
    )
