"""Is one crossover at a smaller size than another? The ratio of the two sizes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from copycost.stats.crossover import Change, Crossover, Outcome, find_crossover
from copycost.stats.ratios import Direction
from copycost.stats.roots import resampled_means, split_roots
from copycost.stats.settings import FloatArray, StatisticsSettings

METHOD = "percentiles of the quotients of two crossovers resampled independently of each other"
"""What these intervals are called, wherever a text names them."""


@dataclass(frozen=True, slots=True)
class Along:
    """A comparison along the sizes.

    Attributes
    ----------
    log_ratios
        Per size [bytes] the logarithms of the rounds' ratios, shape (n_rounds,).
    sizes
        The sizes of the grid [bytes].
    """

    log_ratios: Mapping[int, FloatArray]
    sizes: Sequence[int]


@dataclass(frozen=True, slots=True)
class CrossoverRatio:
    """One crossover's size over another's.

    Attributes
    ----------
    value
        The ratio of the two points.
    low, high
        Its interval; None where it has no end inside the grids, or where one round gives none.
    p_value
        Two-sided, of "the two are at the same size", as far as the resamples resolve it; NaN with
        one round.
    n_rounds
        Rounds that the less often measured of the two rests on.
    direction
        Below where the first is at a smaller size, above where at a larger one.
    outcome
        The shape of both: better from the size on, or up to it.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float
    n_rounds: int
    direction: Direction
    outcome: Outcome


def crossover_ratio(
    first: Along, second: Along, settings: StatisticsSettings
) -> CrossoverRatio | None:
    """Return the ratio of two crossovers, None unless both are found with one change the same way.

    Each crossover is resampled as `find_crossover` does, the two independently of each other. A
    resample whose curve does not change sign inside the grid has its crossover beyond the grid,
    where exactly nobody measured, so that it counts towards the end of the interval that it may
    reach.
    """
    found = [find_crossover(dict(one.log_ratios), one.sizes, settings) for one in (first, second)]
    if any(one.outcome not in (Outcome.FROM, Outcome.UP_TO) for one in found):
        return None
    if found[0].outcome is not found[1].outcome:
        return None
    shape = found[0].outcome
    changes = [one.changes[0] for one in found]
    value = changes[0].point_bytes / changes[1].point_bytes
    if any(one.observed_once for one in found):
        return CrossoverRatio(value, None, None, math.nan, 1, Direction.OBSERVED_ONCE, shape)
    roots = [
        _resampled_roots(along, one, change, settings, stream)
        for stream, (along, one, change) in enumerate(
            zip((first, second), found, changes, strict=True)
        )
    ]
    low, high = _interval(roots[0], roots[1], settings)
    if high is not None and high < 1.0:
        direction = Direction.BELOW
    elif low is not None and low > 1.0:
        direction = Direction.ABOVE
    else:
        direction = Direction.NO_DIFFERENCE
    n_rounds = min(
        int(np.isfinite(values).sum())
        for along, one in zip((first, second), found, strict=True)
        for values in (along.log_ratios[size] for size in one.sizes)
    )
    p_value = _p_value(roots[0], roots[1])
    return CrossoverRatio(value, low, high, p_value, n_rounds, direction, shape)


def _resampled_roots(
    along: Along, found: Crossover, change: Change, settings: StatisticsSettings, stream: int
) -> FloatArray:
    """Return the resampled places of a change, in powers of two, looking only at its stretches."""
    first = next(s.sizes[0] for s in found.stretches if s.sizes[-1] == change.below_bytes)
    last = next(s.sizes[-1] for s in found.stretches if s.sizes[0] == change.above_bytes)
    sizes = [size for size in found.sizes if first <= size <= last]
    known = {size: values[np.isfinite(values)] for size, values in along.log_ratios.items()}
    means = np.array([known[size].mean() for size in sizes])
    draws = resampled_means(sizes, known, means, settings, stream)
    return split_roots(draws, np.log2(np.array(sizes, dtype=np.float64)), change.gains)


def _interval(
    first: FloatArray, second: FloatArray, settings: StatisticsSettings
) -> tuple[float | None, float | None]:
    unknown = np.isinf(first) & np.isinf(second)
    with np.errstate(invalid="ignore"):
        quotients = first - second
    ends = (
        np.quantile(np.where(unknown, -np.inf, quotients), settings.tail, method="inverted_cdf"),
        np.quantile(np.where(unknown, np.inf, quotients), 1 - settings.tail, method="inverted_cdf"),
    )
    low, high = (float(2.0**end) if math.isfinite(end) else None for end in ends)
    return low, high


def _p_value(first: FloatArray, second: FloatArray) -> float:
    """Return twice the share of resamples on the less likely side; never less than they resolve."""
    share = min(float(np.mean(first <= second)), float(np.mean(first >= second)))
    return min(1.0, 2.0 * max(share, 1.0 / first.size))
