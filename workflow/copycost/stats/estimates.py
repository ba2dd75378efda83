"""Medians with intervals within what there can be, as facts hold them."""

import math
from collections.abc import Iterable
from typing import TypedDict

import numpy as np

from copycost.stats.medians import MedianIntervals, median_intervals
from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray, StatisticsSettings

# as in the other tables of the report; shares may well be 0 at one end
_VAGUE_FACTOR = 20.0
_VAGUE_SHARE = 0.5


class Estimate(TypedDict):
    """A median; `low` and `high` are None where one repetition gives no interval.

    `vague` tells that the interval says how little is known rather than where the value lies.
    """

    median: float
    low: float | None
    high: float | None
    n: int
    vague: bool


def intervals(
    values: FloatArray,
    settings: StatisticsSettings,
    *,
    is_share: bool = False,
    most: FloatArray | float = math.inf,
) -> MedianIntervals:
    """Return the median of each row and its interval, within what there can be.

    Parameters
    ----------
    values : array
        Shape (n_rows, n): n repetitions each, none below 0, no NaN.
    settings : StatisticsSettings
        Confidence and resamples.
    is_share : bool
        Nothing is above 1. Of a share above a half, the interval is that of the rest: 0.97 is as
        far from 1 as 0.03 from 0.
    most : float, or array of shape (n_rows,)
        No interval reaches beyond it, unless its median does: as many CPUs as there are threads.
    """
    found = median_intervals(values, settings)
    low = np.maximum(found.low, 0.0)
    high = np.minimum(found.high, np.maximum(found.median, most))
    if is_share:
        rest = median_intervals(1.0 - values, settings)
        flipped = found.median > 0.5
        low = np.where(flipped, 1.0 - rest.high, low).clip(0.0, 1.0)
        high = np.where(flipped, 1.0 - rest.low, high).clip(0.0, 1.0)
    return MedianIntervals(found.median, low, high)


def estimate(
    values: Iterable[float],
    settings: StatisticsSettings,
    *,
    is_share: bool = False,
    most: float = math.inf,
) -> Estimate | None:
    """Return the median of the values that are numbers and its interval, None if there are none."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return None
    found = intervals(np.array([known]), settings, is_share=is_share, most=most)
    low, high = float(found.low[0]), float(found.high[0])
    vague = high - low > _VAGUE_SHARE if is_share else high > _VAGUE_FACTOR * low
    return {
        "median": float(found.median[0]),
        "low": _bound(low),
        "high": _bound(high),
        "n": len(known),
        "vague": bool(vague),
    }


class Mean(TypedDict):
    """A mean of rounds; `low` and `high` are None where one round gives no interval."""

    value: float
    low: float | None
    high: float | None
    n: int


def mean_estimate(values: FloatArray, settings: StatisticsSettings) -> Mean:
    """Return the mean of the rounds, with Student's t interval: means of parts add up to the whole.

    Parameters
    ----------
    values
        Shape (n,), at least one and no NaN.
    """
    mean, n = float(values.mean()), int(values.size)
    if n < 2:
        return {"value": mean, "low": None, "high": None, "n": n}
    error = float(values.std(ddof=1)) / math.sqrt(n)
    half = t_quantile((1.0 + settings.confidence) / 2.0, n - 1) * error
    return {"value": mean, "low": mean - half, "high": mean + half, "n": n}


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
