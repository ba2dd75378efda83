"""Where curves along the sizes change sign, and the curves that resampling gives."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from copycost.stats.settings import FloatArray, IntArray, StatisticsSettings


def resampled_means(
    sizes: Sequence[int],
    log_ratios: Mapping[int, FloatArray],
    means: FloatArray,
    settings: StatisticsSettings,
    stream: int = 0,
) -> FloatArray:
    """Draw the mean log ratio of each size from its t distribution.

    Parameters
    ----------
    sizes
        Sizes [bytes] to draw.
    log_ratios
        Per size the logarithms of the rounds' ratios, shape (n_rounds,).
    means
        Their means, shape (n_sizes,).
    stream
        Comparisons with different streams are drawn independently of each other.

    Returns
    -------
    array
        Shape (resamples, n_sizes).
    """
    # One size after the other in memory, as they are walked through.
    draws = np.empty((settings.resamples, len(sizes)), order="F")
    for column, size in enumerate(sizes):
        known = log_ratios[size][np.isfinite(log_ratios[size])]
        error = known.std(ddof=1) / np.sqrt(known.size)
        spread = _standard_draws(known.size - 1, size, settings, stream)
        draws[:, column] = means[column] + error * spread
    return draws


@lru_cache(maxsize=256)
def _standard_draws(
    freedom: int, size: int, settings: StatisticsSettings, stream: int
) -> FloatArray:
    """Draw from Student's t; of each size its own, whichever other sizes were measured."""
    generator = np.random.default_rng(
        [settings.seed, size, stream] if stream else [settings.seed, size]
    )
    return generator.standard_t(freedom, size=settings.resamples)


def best_splits(curves: FloatArray, rising: bool) -> tuple[IntArray, FloatArray]:
    """Find, for each curve, the cut that best parts its negative from its positive values.

    The cut after `k` values costs the sum of what lies on the wrong side of it. At the cheapest
    cut inside the curve, the values next to it have different signs, so there is exactly one root
    to interpolate however often noise makes the curve cross zero elsewhere.

    Parameters
    ----------
    curves
        Shape (n_curves, n_sizes).
    rising
        True to look for negative values followed by positive ones.

    Returns
    -------
    tuple of arrays
        The number of values before the cut (0 or n_sizes: no change of sign), and its cost.
    """
    least, at_least, most, at_most, _ = _turning_points(curves)
    # Moving the cut past a value adds it to the cost, so the cost of a cut is a running sum plus
    # what no cut at all (in front of the first value) costs.
    if rising:
        return at_least, np.maximum(-curves, 0.0).sum(axis=1) + least
    return at_most, np.maximum(curves, 0.0).sum(axis=1) - most


def _turning_points(
    curves: FloatArray,
) -> tuple[FloatArray, IntArray, FloatArray, IntArray, FloatArray]:
    """Return each curve's running sum, from 0 on: least value and place, most and place, end."""
    total = np.zeros(curves.shape[0])
    least, most = total.copy(), total.copy()
    at_least = np.zeros(total.shape, dtype=np.int64)
    at_most = at_least.copy()
    for column in range(curves.shape[1]):
        total = total + curves[:, column]
        lower, higher = total < least, total > most
        least[lower], at_least[lower] = total[lower], column + 1
        most[higher], at_most[higher] = total[higher], column + 1
    return least, at_least, most, at_most, total


def split_roots(curves: FloatArray, positions: FloatArray, rising: bool) -> FloatArray:
    """Return where each curve changes sign, in the unit of `positions`.

    -inf and inf stand for "below" and "above the first and last position": a rising curve that is
    positive throughout has its root somewhere below, and where exactly nobody measured.
    """
    cut, _ = best_splits(curves, rising)
    n = curves.shape[1]
    roots = np.where(cut == 0, -np.inf, np.inf)
    inside = np.flatnonzero((cut > 0) & (cut < n))
    left, right = cut[inside] - 1, cut[inside]
    y_left, y_right = curves[inside, left], curves[inside, right]
    step = y_right - y_left
    share = np.divide(-y_left, step, out=np.full(step.shape, 0.5), where=step != 0.0)
    share = np.clip(share, 0.0, 1.0)
    roots[inside] = positions[left] + share * (positions[right] - positions[left])
    return roots


def share_inside(draws: FloatArray) -> float:
    """Return the share of curves whose best description has a change of sign inside the grid."""
    least, at_least, most, at_most, total = _turning_points(draws)
    # The rising description costs no more than the falling one; see `best_splits`.
    cut = np.where(least + most <= total, at_least, at_most)
    return float(np.mean((cut > 0) & (cut < draws.shape[1])))
