"""Medians and ratios with their intervals, as the report's chapter on the method words them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
from scipy import special, stats


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval and its p-value; NaN where one round gives none.

    Where the package draws resamples to get the interval, its ends scatter: by `scatter` over the
    root of their number.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    n: int = 1
    scatter: tuple[float, float] = (0.0, 0.0)

    @property
    def sign(self) -> int:
        """On which side of 1 the interval lies; 0 where it holds 1 or there is none."""
        return int(self.low > 1.0) - int(self.high < 1.0)

    def rest(self) -> "Estimate":
        """Return what a share leaves of the whole."""
        return Estimate(
            1 - self.value, 1 - self.high, 1 - self.low, n=self.n, scatter=self.scatter[::-1]
        )

    def within(self, most: float) -> "Estimate":
        """Return the same with an interval that does not reach below 0 or above the most."""
        return replace(self, low=max(self.low, 0.0), high=min(self.high, max(self.value, most)))


def median(values: np.ndarray, confidence: float) -> Estimate:
    """Return the median of values, shape (n,).

    The interval is Student's t times the bootstrap's standard error of the median, on logarithms
    where all are positive: that of all resamples, whose chances are known. The standard error of
    a standard deviation follows from the fourth moment.
    """
    value, n = float(np.median(values)), len(values)
    if n < 2:
        return Estimate(value, n=n)
    positive = bool(values.min() > 0)
    scaled = np.sort(np.log(values) if positive else values)
    medians = (scaled[:, None] + scaled) / 2
    chances = _middles(n)
    off = medians - (medians * chances).sum()
    variance = float((off**2 * chances).sum())
    if variance == 0:
        return Estimate(value, value, value, n=n)
    kurtosis = float((off**4 * chances).sum()) / variance**2
    half = _quantile(confidence, n) * math.sqrt(variance)
    scatter = float(half * math.sqrt(max(kurtosis - 1, 0.0)) / 2)
    if not positive:
        return Estimate(value, value - half, value + half, n=n, scatter=(scatter, scatter))
    low, high = value * math.exp(-half), value * math.exp(half)
    return Estimate(value, low, high, n=n, scatter=(low * scatter, high * scatter))


@cache
def _quantile(confidence: float, n: int) -> float:
    """Return how many standard errors a two-sided interval of n values reaches to either side."""
    return float(stats.t.ppf((1 + confidence) / 2, n - 1))


@cache
def _middles(n: int) -> np.ndarray:
    """Return how likely two of n values are the middle ones of a resample, shape (n, n).

    By rank, the lower one first. Of an odd number both are the same one.
    """
    rank = np.arange(n + 1) / n
    if n % 2:
        return np.diag(np.diff(stats.binom.sf(n // 2, n, rank)))
    half = n // 2
    # half of the draws end at the lower one, the other half begin at the higher one
    ends, begins = np.diff(rank**half), np.diff(rank**half)[::-1]
    chances = np.triu(math.comb(n, half) * np.outer(ends, begins), 1)
    lower = np.diff(stats.binom.sf(half - 1, n, rank))
    return chances + np.diag(lower - chances.sum(axis=1))


def ratio(logs: np.ndarray, confidence: float, picked_from: int = 1) -> Estimate:
    """Return the geometric mean of the rounds' ratios from their logarithms, shape (n_rounds,).

    The interval is Student's t; that of a ratio picked from so many allows for all of them
    (Bonferroni).
    """
    known = logs[np.isfinite(logs)]
    n = len(known)
    if n == 0:
        return Estimate(math.nan, n=0)
    mean = float(known.mean())
    value = math.exp(mean)
    if n < 2:
        return Estimate(value)
    if known.std() == 0:
        return Estimate(value, value, value, float(value == 1.0), n)
    error = float(known.std(ddof=1)) / math.sqrt(n)
    half = _quantile(1.0 - (1.0 - confidence) / picked_from, n) * error
    p_value = min(2.0 * float(special.stdtr(n - 1, -abs(mean) / error)) * picked_from, 1.0)
    return Estimate(value, math.exp(mean - half), math.exp(mean + half), p_value, n)


def family(rows: Sequence[np.ndarray], confidence: float) -> list[Estimate]:
    """Return the ratios of comparisons that are judged together, by Holm's method.

    The surest has an interval that allows for all of them, the next for one fewer, and so on as
    long as they stand.
    """
    found = [ratio(row, confidence) for row in rows]
    tested = sorted(
        (i for i in range(len(rows)) if found[i].p_value >= 0), key=lambda i: found[i].p_value
    )
    left = len(tested)
    for i in tested:
        p_value = found[i].p_value
        found[i] = replace(ratio(rows[i], confidence, left), p_value=p_value)
        left -= p_value * left < 1.0 - confidence
    return found


def block(logs: pd.DataFrame) -> pd.DataFrame:
    """Return the rounds and cells without gaps that leave most values, of equally many more rounds.

    All rounds have to be of the same cells to be comparable.
    """
    rounds = list(logs.isna().sum().sort_values(kind="stable").index)
    blocks = [logs[rounds[: n + 1]].dropna() for n in reversed(range(len(rounds)))]
    return max(blocks, key=lambda one: one.size)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values corrected for their number by Holm's step-down method; NaN stays NaN."""
    corrected = np.full(len(p_values), math.nan)
    order = [i for i in np.argsort(p_values) if np.isfinite(p_values[i])]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def settled(ratios: Sequence[np.ndarray], confidence: float, *, floor: bool = True) -> list[int]:
    """Return which of several ratios of one quantity stand after Holm's correction: 1, -1 or 0.

    With a floor, none is taken to scatter less from round to round than half of them do.
    """
    known = [logs[np.isfinite(logs)] for logs in ratios]
    known = [logs if len(logs) > 1 else np.full(1, math.nan) for logs in known]
    means = np.array([logs.mean() for logs in known])
    numbers = np.array([len(logs) for logs in known])
    spreads = np.array([logs.std(ddof=min(1, len(logs) - 1)) for logs in known])
    least = np.nanmedian(spreads) if floor and np.isfinite(spreads).any() else 0.0
    with np.errstate(divide="ignore"):
        t = np.abs(means) / np.maximum(spreads, least) * np.sqrt(numbers)
    stands = holm(np.asarray(2 * stats.t.sf(t, numbers - 1))) < 1 - confidence
    return [int(sign) if holds else 0 for sign, holds in zip(np.sign(means), stands, strict=True)]
