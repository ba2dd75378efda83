"""Values too close to another program's, to a smooth curve or to the line between others."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.plausibility.finding import Finding, Kind
from copycost.audit.plausibility.sample import GIVEN, Sample
from copycost.audit.quantities import DATASET, IMPLEMENTATION, REP, SIZE, THREADS
from copycost.stats.settings import FloatArray

# One implementation's values as another's times a number, with a little noise put on top.

_LEFT_OUT = GIVEN | {
    "instructions", "instructions_per_byte", "instructions_per_message", "cpu_time",
}  # fmt: skip
"""What is set, follows from the program alone, or is what all CPUs can give."""

_LEAST_PAIRS = 8
_LEAST_SPREAD = 0.2
_QUIET = 0.0025
_SMALL_PART = 0.35
"""Of the noise within cells that the noise between implementations is, at most."""

_ANOTHER = 0.01
"""Two names of one program may differ by nothing; a factor further from 1 is another program's."""


def check_jitter(sample: Sample) -> Iterator[Finding]:
    """Yield implementations that keep to another's values more closely than noise lets them."""
    for name in sample.measured(_LEFT_OUT, 2 * _QUIET):
        known = sample.table[sample.table[name] > 0.0]
        if known.empty:
            continue
        wide = known.pivot(index=[SIZE, THREADS, REP], columns=IMPLEMENTATION, values=name)
        logs = np.log(wide.to_numpy(dtype=np.float64))
        within = _noise_within(wide.index.to_frame(index=False), logs)
        again = math.isfinite(within)
        for first, second in itertools.combinations(range(logs.shape[1]), 2):
            pair = logs[np.isfinite(logs[:, [first, second]]).all(axis=1)]
            if len(pair) < _LEAST_PAIRS or float(pair[:, first].std()) < _LEAST_SPREAD:
                continue
            ratio = pair[:, second] - pair[:, first]
            typical = float(np.median(ratio))
            width = float(np.sqrt(np.mean((ratio - typical) ** 2)))
            less = width < _SMALL_PART * within if again else width < _QUIET
            if width < 4.0 * _QUIET and less and abs(typical) >= _ANOTHER:
                yield sample.found(
                    "multiple_and_noise", name, kind=Kind.NO_MEASUREMENT if again else Kind.ODD,
                    implementation=str(wide.columns[second]), other=str(wide.columns[first]),
                    factor=math.exp(typical), width=max(width, 1e-06), n_pairs=len(pair),
                    within=within if again else None,
                )  # fmt: skip


def _noise_within(index: pd.DataFrame, logs: FloatArray) -> float:
    """Return the usual spread within a cell, without what all cells of a round share."""
    frame = pd.DataFrame(logs)
    by_cell = [index[SIZE], index[THREADS]]
    rest = frame - frame.groupby(by_cell).transform("mean")
    shared = rest.groupby(index[REP]).transform("median").median(axis=1)
    rest = rest.sub(shared, axis=0)
    counts = frame.groupby(by_cell).transform("count")
    rest = (rest * np.sqrt(counts / (counts - 1.0))).where(counts > 1)
    values = rest.to_numpy(dtype=np.float64)
    values = values[np.isfinite(values)]
    return 1.4826 * float(np.median(np.abs(values))) if len(values) else math.nan


# Curves that no measurement gives: too smooth for any noise, or drawn between other points.

_LEAST_SIZES = 5
_LEAST_FREE = 8
_QUIETEST = 0.0015
"""Relative noise below which nobody measures a socket; see docs/audit.md."""

_SCALE = 20.0
_CHANCE = 1e-5
_FINE = 5e-4
"""Relative step of digits that tell a value from one between two others."""

_FLAT = 0.02


def check_curves(sample: Sample) -> Iterator[Finding]:
    """Yield columns that are too smooth, and cells that lie between their neighbours exactly."""
    for name in sample.measured(_LEFT_OUT):
        yield from _smooth(sample, name)
    yield from _interpolated(sample)


def _smooth(sample: Sample, name: str) -> Iterator[Finding]:
    means = sample.means(name)
    means = means[means[name] > 0.0]
    if not (means["step"] / means[name]).median() < 2.0 * _QUIETEST:
        return
    squares, free, n_cells = 0.0, 0, 0
    for _, cells in means.groupby([IMPLEMENTATION, THREADS]):
        left = _left_over(cells[SIZE].to_numpy(dtype=np.float64),
                          cells[name].to_numpy(dtype=np.float64))  # fmt: skip
        if left is not None:
            squares, free, n_cells = squares + left[0], free + left[1], n_cells + len(cells)
    width = math.sqrt(squares / free) if free else math.inf
    if free < _LEAST_FREE or width > _QUIETEST:
        return
    yield sample.found("smooth", name, width=max(width, 1e-06), n_cells=n_cells, limit=_QUIETEST)


def _left_over(size: FloatArray, values: FloatArray) -> tuple[float, int] | None:
    """Return the squares that the best of some smooth curves leaves, and how many are free.

    The curves: a fixed cost and one per byte, in time per message, in a rate, in a cost per byte or
    in a total; and a parabola on logarithmic axes.
    """
    logs = np.log(values)
    if len(size) < _LEAST_SIZES or float(np.ptp(logs)) < _LEAST_SPREAD:
        return None
    ones = np.ones_like(size)
    left = [
        (_squares(np.column_stack([ones, size]) / form[:, None], ones), len(size) - 2)
        for form in (values, size / values, values * size, values / size)
    ]
    scaled = np.log(size) - np.log(size).mean()
    parabola = np.column_stack([ones, scaled, scaled**2])
    left.append((_squares(parabola, logs), len(size) - 3))
    return min(left, key=lambda squares_free: squares_free[0] / squares_free[1])


def _squares(matrix: FloatArray, values: FloatArray) -> float:
    scaled = matrix / np.linalg.norm(matrix, axis=0)
    found, *_ = np.linalg.lstsq(scaled, values, rcond=None)
    return float(((values - scaled @ found) ** 2).sum())


def _interpolated(sample: Sample) -> Iterator[Finding]:
    """Find cells that are, in several columns or several times, just between two neighbours."""
    rows = sample.table.sort_values([DATASET, IMPLEMENTATION, THREADS, REP, SIZE])
    by = [rows[key] for key in (IMPLEMENTATION, THREADS, REP)]
    sizes = rows[SIZE].astype(np.float64)
    first, last = sizes.groupby(by).shift(1), sizes.groupby(by).shift(-1)
    by_size = (sizes - first) / (last - first)
    by_log = np.log(sizes / first) / np.log(last / first)
    chances = pd.Series(0.0, index=rows.index)
    hits: dict[str, pd.Series] = {}
    for name in sample.measured(_LEFT_OUT, _FINE):
        values = rows[name].where(rows[name] > 0.0)
        before, after = values.groupby(by).shift(1), values.groupby(by).shift(-1)
        apart = (after / before - 1.0).abs() > _FLAT
        tolerance = max(0.6 * sample.relative_step(name), 1e-9) + 1e-9
        off = pd.Series(np.inf, index=rows.index)
        for weight in (by_size, by_log, 0.5):
            line = before + weight * (after - before)
            off = off.clip(upper=(values / line - 1.0).abs().fillna(np.inf))
        off = off.where(apart)
        known = int(off.notna().sum())
        hit = off <= tolerance
        near = int((off <= _SCALE * tolerance).sum() - hit.sum())
        if known < 2 or not hit.any():
            continue
        chance = max(near / (_SCALE - 1.0), 1.0 / _SCALE, known * 20 * tolerance) / known
        hits[name] = hit
        chances = chances + np.where(hit, math.log10(min(chance, 1.0)), 0.0)
    limit = math.log10(_CHANCE / max(len(rows), 1))
    found = rows[chances < limit]
    together = len(found) * math.log10(max(len(rows), 2))
    if found.empty:
        found = rows[chances < 0.0]
        together = float(chances.sum()) + len(found) * math.log10(max(len(rows), 2))
        if together > math.log10(_CHANCE):
            return
    concerned = tuple(name for name in hits if hits[name][found.index].any())
    yield sample.found("interpolated", *concerned, rows=found, n_rows=len(found))
