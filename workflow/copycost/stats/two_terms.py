"""A cost of two terms: so much per item and so much per byte of it, with intervals.

The sizes are exact and the costs' errors are in proportion to them, so each cost has the weight of
its inverse square. Repetitions enter one by one; where the sizes' means lie off the line by more
than the repetitions spread, the misfit makes the interval, as in `copycost.stats.errors_in_both`.
"""

import math
from dataclasses import dataclass

import numpy as np

from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray

METHOD = "least squares with relative errors; t interval, widened by the misfit"
"""What the fit is called, wherever a text names it."""


@dataclass(frozen=True, slots=True)
class TwoTerms:
    """``cost = fixed + per_byte x bytes``.

    Attributes
    ----------
    fixed, per_byte
        The terms, in the unit of the cost, and per byte.
    fixed_low, fixed_high, per_byte_low, per_byte_high
        Intervals; NaN with fewer than three sizes.
    r_squared
        Share of the weighted spread of the cost that the line explains.
    misfit
        Share of the fitted cost by which a size's mean lies off the line at most, of the sizes that
        lie further off than their repetitions leave open (Bonferroni's interval, for all sizes at
        once); 0 without such a size.
    n_sizes
        Sizes that it rests on.
    """

    fixed: float
    fixed_low: float
    fixed_high: float
    per_byte: float
    per_byte_low: float
    per_byte_high: float
    r_squared: float
    misfit: float
    n_sizes: int

    @property
    def even_bytes(self) -> float:
        """Size at which both terms are as large [bytes]; NaN where one of them is not positive."""
        if self.fixed <= 0.0 or self.per_byte <= 0.0:
            return float("nan")
        return self.fixed / self.per_byte


def fit_two_terms(costs: dict[int, FloatArray], confidence: float) -> TwoTerms | None:
    """Fit a cost over sizes; None with fewer than two sizes.

    Parameters
    ----------
    costs
        Per size [bytes] the repetitions' costs, shape (n_repetitions,), above 0.
    """
    sizes = sorted(size for size, values in costs.items() if values.size)
    if len(sizes) < 2:
        return None
    x = np.array(sizes, dtype=np.float64)
    means = np.array([costs[size].mean() for size in sizes])
    counts = np.array([costs[size].size for size in sizes], dtype=np.float64)
    weight = counts / means**2
    design = np.stack([np.ones_like(x), x], axis=1)
    scatter = np.linalg.inv(design.T @ (weight[:, None] * design))
    fixed, per_byte = scatter @ (design.T @ (weight * means))
    fitted = fixed + per_byte * x
    centre = np.average(means, weights=weight)
    spread = float(np.sum(weight * (means - centre) ** 2))
    residual = float(np.sum(weight * (means - fitted) ** 2))
    half = _half_widths(costs, sizes, scatter, residual, confidence)
    off = np.abs(means - fitted) / np.abs(fitted)
    for_all = 1.0 - (1.0 - confidence) / len(sizes)
    sure = off[off > _by_chance(costs, for_all) / np.sqrt(counts)]
    return TwoTerms(
        float(fixed),
        float(fixed - half[0]),
        float(fixed + half[0]),
        float(per_byte),
        float(per_byte - half[1]),
        float(per_byte + half[1]),
        1.0 - residual / spread if spread > 0.0 else 1.0,
        float(sure.max(initial=0.0)),
        len(sizes),
    )


def _half_widths(
    costs: dict[int, FloatArray],
    sizes: list[int],
    scatter: FloatArray,
    residual: float,
    confidence: float,
) -> FloatArray:
    """Return half the widths of both intervals; NaN where nothing makes one."""
    errors: FloatArray = np.sqrt(np.diag(scatter))
    if len(sizes) < 3:
        return np.full(2, np.nan)
    upper = (1.0 + confidence) / 2.0
    misfit = residual / (len(sizes) - 2)
    reach = t_quantile(upper, len(sizes) - 2) * np.sqrt(misfit)
    widths: FloatArray = max(reach, _by_chance(costs, confidence)) * errors
    return widths


def _by_chance(costs: dict[int, FloatArray], confidence: float) -> float:
    """Return how far a repetition may lie off its mean by chance, as a share of it.

    Pooled over the sizes; 0 where no size has two repetitions.
    """
    known = [values for values in costs.values() if values.size]
    freedom = sum(values.size - 1 for values in known)
    if freedom == 0:
        return 0.0
    relative = [values / values.mean() - 1.0 for values in known]
    pooled = math.sqrt(sum(float(d @ d) for d in relative) / freedom)
    return t_quantile((1.0 + confidence) / 2.0, freedom) * pooled
