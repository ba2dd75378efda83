"""A cost of two terms: so much per item and so much per byte of it, with intervals.

The sizes are exact and the costs' errors are in proportion to them, so each cost has the weight of
its inverse square. A size's cost is the median of its repetitions, as elsewhere in the report: by
their mean, one disturbed repetition of three is enough to bend the line. Where the medians lie off
the line by more than the repetitions spread, the misfit makes the interval, as in
`copycost.stats.errors_in_variables`.
"""

import math
from dataclasses import dataclass

import numpy as np

from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray

METHOD = "least squares of the medians with relative errors; t interval, widened by the misfit"
"""What the fit is called, wherever a text names it."""


@dataclass(frozen=True, slots=True)
class TwoTerms:
    """``cost = fixed + per_byte x bytes``; intervals are NaN with fewer than three sizes.

    `even_low` and `even_high`, the interval of `even_bytes` (Fieller's, of a quotient), are NaN
    where there is none, or where a term may be nothing.
    """

    fixed: float
    fixed_low: float
    fixed_high: float
    per_byte: float
    per_byte_low: float
    per_byte_high: float
    even_low: float
    even_high: float
    r_squared: float
    """Share of the weighted spread of the cost that the line explains."""
    misfit: float
    """Share of the fitted cost by which a size lies off the line at most, of the sizes that lie
    further off than their repetitions leave open (Bonferroni's interval, for all sizes at once); 0
    without such a size.
    """
    n_sizes: int

    @property
    def even_bytes(self) -> float:
        """Size at which both terms are as large [bytes]; NaN where one of them is not positive."""
        if self.fixed <= 0.0 or self.per_byte <= 0.0:
            return float("nan")
        return self.fixed / self.per_byte


def fit_two_terms(costs: dict[int, FloatArray], confidence: float) -> TwoTerms | None:
    """Fit a cost over sizes; None with fewer than two sizes.

    Per size [bytes], `costs` has those of the repetitions, shape (n_repetitions,), above 0.
    """
    sizes = sorted(size for size, values in costs.items() if values.size)
    if len(sizes) < 2:
        return None
    x = np.array(sizes, dtype=np.float64)
    middles = np.array([float(np.median(costs[size])) for size in sizes])
    counts = np.array([_worth(costs[size].size) for size in sizes])
    weight = counts / middles**2
    design = np.stack([np.ones_like(x), x], axis=1)
    scatter = np.linalg.inv(design.T @ (weight[:, None] * design))
    fixed, per_byte = scatter @ (design.T @ (weight * middles))
    fitted = fixed + per_byte * x
    centre = np.average(middles, weights=weight)
    spread = float(np.sum(weight * (middles - centre) ** 2))
    residual = float(np.sum(weight * (middles - fitted) ** 2))
    reach = _reach(costs, len(sizes), residual, confidence)
    half = reach * np.sqrt(np.diag(scatter))
    even = _quotient_interval(fixed, per_byte, reach**2 * scatter)
    off = np.abs(middles - fitted) / np.abs(fitted)
    for_all = 1.0 - (1.0 - confidence) / len(sizes)
    sure = off[off > _by_chance(costs, for_all) / np.sqrt(counts)]
    return TwoTerms(
        float(fixed),
        float(fixed - half[0]),
        float(fixed + half[0]),
        float(per_byte),
        float(per_byte - half[1]),
        float(per_byte + half[1]),
        even[0],
        even[1],
        1.0 - residual / spread if spread > 0.0 else 1.0,
        float(sure.max(initial=0.0)),
        len(sizes),
    )


def _worth(n: int) -> float:
    """Return how many values a mean would need to be as certain as the median of `n`.

    Of normal errors; from three values on, the median's variance is at most pi / 2 times the
    mean's.
    """
    return n if n < 3 else 2.0 * n / math.pi


def _reach(costs: dict[int, FloatArray], n_sizes: int, residual: float, confidence: float) -> float:
    """Return how many of the scatter's standard errors an interval reaches; NaN without any."""
    if n_sizes < 3:
        return math.nan
    misfit = residual / (n_sizes - 2)
    reach = t_quantile((1.0 + confidence) / 2.0, n_sizes - 2) * math.sqrt(misfit)
    return max(reach, _by_chance(costs, confidence))


def _quotient_interval(above: float, below: float, spread: FloatArray) -> tuple[float, float]:
    """Return the interval of a quotient of two estimates that err together; NaN if it has no end.

    It holds the values q for which above - q x below may be 0. `spread` is their covariance times
    the square of how far an interval reaches, shape (2, 2).

    Source
    ------
    E. C. Fieller, Some problems in interval estimation, J. R. Stat. Soc. B 16 (1954).
    """
    square = below**2 - spread[1, 1]
    middle = above * below - spread[0, 1]
    rest = above**2 - spread[0, 0]
    if not (square > 0.0 and rest > 0.0):
        return math.nan, math.nan
    # not negative, but for rounding: the estimate itself is always inside
    half = math.sqrt(max(middle**2 - square * rest, 0.0))
    return (middle - half) / square, (middle + half) / square


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
