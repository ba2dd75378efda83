"""A straight line through points that are uncertain in both directions, with intervals.

Ordinary regression takes x as exact; where it is measured too, as CPU use is, the slope comes out
too small. York's method weighs each point by its errors in x and y and by how they go together.

Source
------
D. York, N. M. Evensen, M. López Martínez, J. De Basabe Delgado, Unified equations for the slope,
intercept, and standard errors of the best straight line, American Journal of Physics 72 (2004).
"""

from dataclasses import dataclass
from math import nan

import numpy as np

from copycost.analysis.stats.ratios import t_quantile
from copycost.analysis.stats.settings import FloatArray

METHOD = "York's line, errors in both directions; t interval, widened by the misfit"
"""What the line and its intervals are called, wherever a text names them."""

_ROUNDS = 200
_CLOSE = 1e-12


@dataclass(frozen=True, slots=True)
class Errors:
    """Standard errors of points, shape (n_points,), and how well they are known."""

    x: FloatArray
    y: FloatArray
    correlation: float
    """Of the error in x with that in y."""
    freedom: int
    """Degrees of freedom behind them."""


@dataclass(frozen=True, slots=True)
class Line:
    """``y = intercept + slope x``; intervals are NaN below three points, or without errors."""

    slope: float
    slope_low: float
    slope_high: float
    intercept: float
    intercept_low: float
    intercept_high: float


def pooled_errors(x: list[FloatArray], y: list[FloatArray]) -> Errors | None:
    """Return the errors of the points' means, from how their repetitions spread.

    Few repetitions tell little about one point's spread, so it is pooled over the points: of x as
    it is, of y in proportion to y. `x` and `y` have an array of repetitions per point. None where
    no point has two.
    """
    freedom = sum(values.size - 1 for values in x)
    if freedom == 0:
        return None
    dx = np.concatenate([values - values.mean() for values in x])
    dy = np.concatenate([values / values.mean() - 1.0 for values in y])
    variance_x, variance_y = float(dx @ dx) / freedom, float(dy @ dy) / freedom
    if variance_x <= 0.0 or variance_y <= 0.0:
        return None
    correlation = float(dx @ dy) / freedom / np.sqrt(variance_x * variance_y)
    counts = np.array([values.size for values in x], dtype=np.float64)
    means = np.array([values.mean() for values in y])
    return Errors(
        np.sqrt(variance_x / counts),
        np.abs(means) * np.sqrt(variance_y / counts),
        float(np.clip(correlation, -0.95, 0.95)),
        freedom,
    )


def fit_line(x: FloatArray, y: FloatArray, errors: Errors | None, confidence: float) -> Line:
    """Fit a line to points; at least two of them, with different x.

    Without errors it is the line of the geometric mean (reduced major axis), which favours
    neither direction and has no interval.
    """
    if errors is None:
        slope = float(np.std(y) / np.std(x) * np.sign(np.sum((x - x.mean()) * (y - y.mean()))))
        return _line(slope, float(y.mean() - slope * x.mean()))
    slope = float(np.polyfit(x, y, 1)[0])
    weight_x, weight_y = errors.x**-2.0, errors.y**-2.0
    root = np.sqrt(weight_x * weight_y)
    for _ in range(_ROUNDS):
        weight = (
            weight_x
            * weight_y
            / (weight_x + slope**2 * weight_y - 2.0 * slope * errors.correlation * root)
        )
        centre_x, centre_y = np.average(x, weights=weight), np.average(y, weights=weight)
        u, v = x - centre_x, y - centre_y
        beta = weight * (
            u / weight_y + slope * v / weight_x - (slope * u + v) * errors.correlation / root
        )
        before, slope = slope, float(np.sum(weight * beta * v) / np.sum(weight * beta * u))
        if abs(slope - before) <= _CLOSE * abs(slope):
            break
    intercept = float(centre_y - slope * centre_x)
    if x.size < 3:
        return _line(slope, intercept)
    adjusted = centre_x + beta
    middle = float(np.average(adjusted, weights=weight))
    # where the points lie off the line by more than their errors, the errors are not the whole
    # story, and the misfit makes the interval
    misfit = float(np.sum(weight * (y - intercept - slope * x) ** 2)) / (x.size - 2)
    variance = 1.0 / float(np.sum(weight * (adjusted - middle) ** 2))
    intercept_variance = 1.0 / float(np.sum(weight)) + middle**2 * variance
    upper = (1.0 + confidence) / 2.0
    quantile = max(  # Student's t, widened by the misfit
        t_quantile(upper, errors.freedom), t_quantile(upper, x.size - 2) * float(np.sqrt(misfit))
    )
    halves = quantile * np.sqrt([variance, intercept_variance])
    return _line(slope, intercept, *map(float, halves))


def _line(slope: float, intercept: float, half: float = nan, half_intercept: float = nan) -> Line:
    return Line(
        slope, slope - half, slope + half,
        intercept, intercept - half_intercept, intercept + half_intercept,
    )  # fmt: skip
