"""Medians with bootstrap intervals, many cells at a time."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray, IntArray, StatisticsSettings

METHOD = "t interval with the bootstrap's standard error of the median, on logarithms"
"""What the intervals of medians are called, wherever a text or a figure names them."""


@dataclass(frozen=True, slots=True)
class MedianIntervals:
    """Medians of many cells, each array of shape (n_cells,), in the unit of the values.

    `low` and `high` are NaN where one value gives no interval.
    """

    median: FloatArray
    low: FloatArray
    high: FloatArray


@cache
def resampled_middles(n: int, settings: StatisticsSettings) -> tuple[IntArray, FloatArray]:
    """Draw bootstrap resamples of `n` sorted values and tell which two of them are in the middle.

    The median of a resample is the mean of its two middle values (one and the same where `n` is
    odd), and which ranks these are does not depend on the values. So one draw serves all cells of
    the same `n`: they are compared under common random numbers, and 10000 cells cost no more
    draws than one.

    Returns
    -------
    tuple of arrays
        Pairs of ranks, shape (n_pairs, 2), and the share of resamples with each, shape (n_pairs,).
    """
    generator = np.random.default_rng([settings.seed, n])
    ranks = np.sort(generator.integers(0, n, size=(settings.resamples, n)), axis=1)
    middles = ranks[:, [(n - 1) // 2, n // 2]]
    pairs, counts = np.unique(middles, axis=0, return_counts=True)
    return pairs, counts / settings.resamples


def median_intervals(values: FloatArray, settings: StatisticsSettings) -> MedianIntervals:
    """Return the median of each row and its bootstrap interval.

    The interval is Student's t times the bootstrap's standard error of the median, on the log
    scale where all values of a row are positive (spread of rates and times is proportional).
    The percentile interval, the usual choice, cannot reach past the smallest and largest value
    seen: at n = 3 it holds the true median in 77 % of normal samples, at n = 5 in 93 %. This one
    holds it in 95 to 98 % for n = 3 to 20 (normal, Laplace and t samples; see
    `tools.simulate`).

    Parameters
    ----------
    values
        Shape (n_cells, n): n repetitions of each cell, no NaN.

    Source
    ------
    T. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69
    (2015), "t interval with bootstrap standard error".
    """
    n_cells, n = values.shape
    median = np.median(values, axis=1)
    nothing = np.full(n_cells, np.nan)
    if n < 2:
        return MedianIntervals(median, nothing, nothing.copy())
    positive = values.min(axis=1) > 0.0
    scaled = np.sort(np.where(positive[:, None], np.log(np.where(values > 0, values, 1)), values))
    pairs, weights = resampled_middles(n, settings)
    resampled = 0.5 * (scaled[:, pairs[:, 0]] + scaled[:, pairs[:, 1]])
    centred = resampled - (resampled @ weights)[:, None]
    half = t_quantile(1.0 - settings.tail, n - 1) * np.sqrt(centred**2 @ weights)
    with np.errstate(over="ignore"):
        factor = np.exp(np.where(positive, half, 0.0))
        low = np.where(positive, median / factor, median - half)
        high = np.where(positive, median * factor, median + half)
    return MedianIntervals(median, low, high)
