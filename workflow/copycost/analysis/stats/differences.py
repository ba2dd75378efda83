"""Differences of mean logarithms with their uncertainty: of two samples, of two runs."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from copycost.analysis.stats.ratios import t_quantile
from copycost.analysis.stats.settings import FloatArray


@dataclass(frozen=True, slots=True)
class LogDifference:
    """How far one mean of logarithms lies above another."""

    mean: float
    """The difference; its exponential is a ratio of geometric means."""
    error: float
    """Its standard error; NaN where nothing tells it."""
    freedom: float
    """Degrees of freedom of that error (Student's t); NaN like the error."""

    @property
    def ratio(self) -> float:
        """Return the ratio of geometric means."""
        return math.exp(self.mean)

    @property
    def has_interval(self) -> bool:
        """Tell whether there is more than a point."""
        return math.isfinite(self.error)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the ratio's interval, which may be 0 and infinity; NaN without one."""
        if not self.has_interval:
            return math.nan, math.nan
        half = -t_quantile((1.0 - confidence) / 2.0, self.freedom) * self.error
        with np.errstate(over="ignore"):
            return float(np.exp(self.mean - half)), float(np.exp(self.mean + half))

    @property
    def p_value(self) -> float:
        """Return the two-sided p-value of "the ratio is 1"; NaN without an error."""
        if not self.has_interval:
            return math.nan
        if self.error == 0.0:
            return 1.0 if self.mean == 0.0 else 0.0
        return float(2.0 * special.stdtr(self.freedom, -abs(self.mean) / self.error))


def welch_difference(logs_a: FloatArray, logs_b: FloatArray) -> LogDifference:
    """Return B less A of two samples, shape (n,) and without NaN, that may scatter differently.

    One value tells no scatter, so there is an error only where both have two.

    Source
    ------
    B. L. Welch, The generalization of "Student's" problem when several different population
    variances are involved, Biometrika 34 (1947).
    """
    mean = float(logs_b.mean() - logs_a.mean())
    if min(logs_a.size, logs_b.size) < 2:
        return LogDifference(mean, math.nan, math.nan)
    parts = [
        (float(logs.var(ddof=1)) / logs.size, float(logs.size - 1)) for logs in (logs_a, logs_b)
    ]
    return _of_parts(mean, parts)


def pooled_difference(logs_a: FloatArray, logs_b: FloatArray) -> LogDifference:
    """Return B less A of two samples that scatter alike, of which one may be a single value.

    There is an error where they have three values together.
    """
    mean = float(logs_b.mean() - logs_a.mean())
    freedom = logs_a.size + logs_b.size - 2
    if freedom < 1:
        return LogDifference(mean, math.nan, math.nan)
    squares = sum(float(np.square(logs - logs.mean()).sum()) for logs in (logs_a, logs_b))
    return LogDifference(
        mean, math.sqrt(squares / freedom * (1.0 / logs_a.size + 1.0 / logs_b.size)), freedom
    )


def with_run_spread(found: LogDifference, spread: float, freedom: float) -> LogDifference:
    """Return the difference of two single runs, which lie off by more than their rounds tell.

    The spread is the standard deviation of a run's mean around that of all runs, beyond what the
    scatter of its rounds makes of it [logarithm]; the freedom, how well that is known: few degrees
    allow for cells whose runs differ by more than the usual one's do.
    """
    if not found.has_interval:
        return found
    return _of_parts(found.mean, [(found.error**2, found.freedom), (2.0 * spread**2, freedom)])


def _of_parts(mean: float, parts: list[tuple[float, float]]) -> LogDifference:
    """Return a difference whose variance is the sum of parts, each with its degrees of freedom.

    Source
    ------
    F. E. Satterthwaite, An approximate distribution of estimates of variance components,
    Biometrics Bulletin 2 (1946).
    """
    variance = sum(part for part, _ in parts)
    if variance == 0.0:
        return LogDifference(mean, 0.0, min(freedom for _, freedom in parts))
    freedom = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    return LogDifference(mean, math.sqrt(variance), freedom)
