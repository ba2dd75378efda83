"""Is one crossover at a smaller size than another? The ratio of the two sizes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from copycost.stats.crossover import Crossover, Outcome, find_crossover
from copycost.stats.ratios import Direction, Ratio
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

    @property
    def ratio(self) -> Ratio:
        """The same as a plain ratio: NaN where its interval has no end."""
        low, high = (math.nan if end is None else end for end in (self.low, self.high))
        return Ratio(self.n_rounds, self.value, low, high, self.p_value, self.direction)


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
    value = found[0].changes[0].point_bytes / found[1].changes[0].point_bytes
    if any(one.observed_once for one in found):
        return CrossoverRatio(value, None, None, math.nan, 1, Direction.OBSERVED_ONCE, shape)
    roots = [
        _resampled_roots(along, one, settings, stream)
        for stream, (along, one) in enumerate(zip((first, second), found, strict=True))
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
    along: Along, found: Crossover, settings: StatisticsSettings, stream: int
) -> FloatArray:
    """Return the resampled places of the only change that there is, in powers of two."""
    known = {size: values[np.isfinite(values)] for size, values in along.log_ratios.items()}
    means = np.array([known[size].mean() for size in found.sizes])
    draws = resampled_means(found.sizes, known, means, settings, stream)
    positions = np.log2(np.array(found.sizes, dtype=np.float64))
    return split_roots(draws, positions, found.changes[0].gains)


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
