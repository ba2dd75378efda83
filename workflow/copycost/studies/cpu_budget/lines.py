"""Bitrate against CPU as a line: over which points it is one, its slope, and what it says.

The rule for the linear range: of the points at which the sender used what it was offered, in the
order of their CPU use, as many from the least on as lie on a line through them, and at least three.
On the line is what lies within 5 % of it, or no further off than the point itself is uncertain.
Points above the range, and saturated ones, are marked and left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from copycost.stats.errors_in_variables import Errors, Line, fit_line, pooled_errors
from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray
from copycost.studies.cpu_budget.points import Point
from copycost.wording.numbers import NBSP

FEWEST_POINTS = 3
OFF_LINE = 0.05
"""Share of the line's bitrate by which a point may lie off it."""

RANGE_RULE = (
    f"the points from the least CPU on, three or more, that lie within 5{NBSP}% of one line, or no"
    " further off it than they are uncertain; saturated points are left out"
)
"""The rule in words, for texts."""


@dataclass(frozen=True, slots=True)
class LinearRange:
    """A line and the points that it holds for."""

    line: Line  # bitrate [bit/s] over CPU [% of one CPU]
    limits: tuple[int, ...]  # the limits of its points [% of one CPU per stream]
    beyond: tuple[int, ...]  # limits of points that were not saturated, yet lie above the range
    # ends of the range [% of one CPU]
    least_cpu: float
    most_cpu: float
    most_bits_per_s: float  # the line's bitrate at its upper end


def linear_range(points: Sequence[Point], side: str, confidence: float) -> LinearRange | None:
    """Return the line of bitrate over one side's CPU, None where no three points make one."""
    usable = [point for point in points if not point.saturated]
    usable.sort(key=lambda point: float(np.median(point.cpu(side))))
    for n in range(len(usable), FEWEST_POINTS - 1, -1):
        part = usable[:n]
        x = np.array([point.cpu(side).mean() for point in part])
        y = np.array([point.bitrates.mean() for point in part])
        if np.ptp(x) <= 0.0:
            continue
        errors = pooled_errors([p.cpu(side) for p in part], [p.bitrates for p in part])
        line = fit_line(x, y, errors, confidence)
        fitted = line.intercept + line.slope * x
        allowed = OFF_LINE * np.abs(fitted)
        if errors is not None:
            allowed = np.maximum(allowed, _uncertainty(line, errors, confidence))
        if line.slope > 0.0 and np.all(np.abs(y - fitted) <= allowed):
            return LinearRange(
                line,
                tuple(point.limit_percent for point in part),
                tuple(point.limit_percent for point in usable[n:]),
                float(x.min()),
                float(x.max()),
                line.at(float(x.max())),
            )
    return None


def _uncertainty(line: Line, errors: Errors, confidence: float) -> FloatArray:
    """Return how far off the line a point may lie by chance alone [bit/s]."""
    slope = line.slope
    both = slope**2 * errors.x**2 + errors.y**2
    variance = both - 2.0 * slope * errors.correlation * errors.x * errors.y
    spread: FloatArray = np.sqrt(variance)
    return t_quantile((1.0 + confidence) / 2.0, errors.freedom) * spread
