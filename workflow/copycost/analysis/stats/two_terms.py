"""A cost of two terms: so much per item and so much per byte of it, with intervals.

The sizes are exact and the costs' errors are in proportion to them, so each cost has the weight of
its inverse square. A size's cost is the median of its repetitions, as elsewhere in the report: by
their mean, one disturbed repetition of three is enough to bend the line. Where the medians lie off
the line by more than the repetitions spread, the misfit makes the interval, as in
`copycost.analysis.stats.errors_in_variables`.
"""

import math
from dataclasses import dataclass

import numpy as np

from copycost.analysis.stats.ratios import t_quantile
from copycost.analysis.stats.settings import FloatArray

METHOD = "least squares of the medians with relative errors; t interval, widened by the misfit"
"""What the fit is called, wherever a text names it."""


@dataclass(frozen=True, slots=True)
class TwoTerms:
    """``cost = fixed + per_byte x bytes``; intervals are NaN with fewer than three sizes."""

    fixed: float
    fixed_low: float
    fixed_high: float
    per_byte: float
    per_byte_low: float
    per_byte_high: float
    misfit: float
    """Share of the fitted cost by which a size lies off the line at most, of the sizes that lie
    further off than their repetitions leave open (Bonferroni's interval, for all sizes at once); 0
    without such a size.
    """


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
    residual = float(np.sum(weight * (middles - fitted) ** 2))
    half = _reach(costs, len(sizes), residual, confidence) * np.sqrt(np.diag(scatter))
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
        float(sure.max(initial=0.0)),
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
