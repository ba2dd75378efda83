"""What several hosts have in common, how far they differ, and what to expect of a further one."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from copycost.analysis.stats.ratios import t_quantile
from copycost.analysis.stats.settings import FloatArray

FEWEST = 3
"""Hosts that it takes to say how far hosts differ, and what to expect of a further one."""

_FEWEST_FOR_TAILS = 5


@dataclass(frozen=True, slots=True)
class AcrossHosts:
    """An effect over hosts, each of which has its own and is measured with an error of its own.

    All but `n`, the hosts, are logarithms of ratios; NaN where there are too few hosts.
    """

    n: int
    mean: float
    low: float
    high: float
    """Ends of the interval of the mean over hosts like these, every host counting alike."""
    spread: float
    """Standard deviation from host to host, beyond what errors of measurement make of it."""
    spread_low: float
    spread_high: float
    next_low: float
    next_high: float
    """Where the true effect of a further host is expected, with the same confidence."""


def across_hosts(effects: FloatArray, errors: FloatArray, confidence: float) -> AcrossHosts:
    """Estimate the distribution of an effect over hosts.

    A host's effect is what hosts have in common, plus what is its own, plus an error. Every host
    counts alike: a few rounds tell their own error badly, and weights made of such errors would
    follow chance. The variance over hosts is then that of their estimates less the mean of the
    squared errors (the unweighted estimator of Hedges and Olkin), and what is left of the
    uncertainty is Student's t. How often these intervals hold the truth: docs/across_hosts.md.

    Effects, logarithms of ratios, and their standard errors have the shape (n,). Hosts without an
    effect, which is NaN, are left out; without an error, the others' mean is taken.

    Source
    ------
    L. V. Hedges, I. Olkin, Statistical Methods for Meta-Analysis (1985), chapter 9; J. P. T.
    Higgins, S. G. Thompson, D. J. Spiegelhalter, A re-evaluation of random-effects meta-analysis,
    J. R. Stat. Soc. A 172 (2009), for the interval of a further one.
    """
    known = effects[np.isfinite(effects)]
    own = errors[np.isfinite(effects) & np.isfinite(errors)]
    n, nan = int(known.size), math.nan
    if n == 0:
        return AcrossHosts(0, *[nan] * 8)
    mean = float(known.mean())
    if n < FEWEST or not own.size:
        return AcrossHosts(n, mean, *[nan] * 7)
    total = float(known.var(ddof=1))
    within = float(np.square(own).mean())
    quantile = t_quantile((1.0 + confidence) / 2.0, n - 1)
    half = quantile * math.sqrt(total / n)
    between = max(total - within, 0.0)
    ends = [max(end - within, 0.0) for end in _variance_interval(known, confidence)]
    beyond = quantile * math.sqrt(between + total / n)
    return AcrossHosts(
        n, mean, mean - half, mean + half,
        math.sqrt(between), math.sqrt(ends[0]), math.sqrt(ends[1]), mean - beyond, mean + beyond,
    )  # fmt: skip


def _variance_interval(values: FloatArray, confidence: float) -> tuple[float, float]:
    """Return the interval of a variance, wider where tails are heavy; that of few values, normal's.

    Source
    ------
    D. G. Bonett, Approximate confidence interval for standard deviation of nonnormal
    distributions, Computational Statistics & Data Analysis 50 (2006).
    """
    n = values.size
    squares = float(np.square(values - values.mean()).sum())
    tail = (1.0 - confidence) / 2.0
    if squares == 0.0:
        return 0.0, 0.0
    if n <= _FEWEST_FOR_TAILS:
        return (
            squares / float(special.chdtri(n - 1, tail)),
            squares / float(special.chdtri(n - 1, 1.0 - tail)),
        )
    quantile = -float(special.ndtri(tail))
    cut = int(n / (2.0 * math.sqrt(n - 4)))
    middle = float(np.sort(values)[cut : n - cut].mean())
    kurtosis = n * float(np.power(values - middle, 4).sum()) / squares**2
    factor = n / (n - quantile)
    error = factor * math.sqrt(max(kurtosis - (n - 3) / n, 0.0) / (n - 1))
    centre = math.log(factor * squares / (n - 1))
    return math.exp(centre - quantile * error), math.exp(centre + quantile * error)


def outlying(effects: FloatArray, errors: FloatArray, confidence: float) -> FloatArray:
    """Return how far each host lies from where the others would have it, where that is too far.

    Each is compared with the interval in which the others expect what a further host is measured
    to have; the confidence is that all hosts that are like the others lie in theirs (Bonferroni).
    Returned is, shape (n,), the logarithm of the ratio beyond the nearer end; 0 within; NaN without
    an effect, or where the others are fewer than `FEWEST`.
    """
    beyond = np.full(effects.shape, np.nan)
    known = np.flatnonzero(np.isfinite(effects))
    n = known.size
    if n <= FEWEST:
        return beyond
    tail = (1.0 - confidence) / 2.0 / n
    quantile = -t_quantile(tail, n - 2)
    values = effects[known]
    within = np.square(np.nan_to_num(errors[known], nan=0.0))
    total, squares = values.sum(), np.square(values).sum()
    mean = (total - values) / (n - 1)
    variance = np.maximum((squares - values**2) / (n - 1) - mean**2, 0.0) * (n - 1) / (n - 2)
    # one that was measured badly may lie off for that
    between = np.maximum(variance - within.mean(), 0.0)
    half = quantile * np.sqrt(np.maximum(variance, between + within) + variance / (n - 1))
    far = np.abs(values - mean) - half
    beyond[known] = np.where(far > 0.0, np.sign(values - mean) * far, 0.0)
    return beyond
