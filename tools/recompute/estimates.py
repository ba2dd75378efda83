"""Medians and ratios with their intervals, as the report's chapter on the method words them."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

# Up to here all resamples are looked at one by one, 46,656 of them.
_ALL_RESAMPLES = 6
_DRAWS = 20_000


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval and its p-value; NaN where one round gives none."""

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    n: int = 1

    @property
    def sign(self) -> int:
        """On which side of 1 the interval lies; 0 where it holds 1 or there is none."""
        return int(self.low > 1.0) - int(self.high < 1.0)

    @property
    def seen(self) -> int:
        """What a text says of it: with one round, by the ratio alone."""
        return int(math.copysign(1, self.value - 1)) if self.n == 1 else self.sign


def median(values: np.ndarray, confidence: float) -> Estimate:
    """Return the median of positive values, shape (n,).

    The interval is Student's t times the bootstrap's standard error of the median, on logarithms.
    """
    value, n = float(np.median(values)), len(values)
    if n < 2 or values.min() <= 0:
        return Estimate(value, n=n)
    medians = np.median(np.log(values)[_resamples(n)], axis=1)
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * medians.std()
    return Estimate(value, value * math.exp(-half), value * math.exp(half), n=n)


@cache
def _resamples(n: int) -> np.ndarray:
    """Return which values are drawn, shape (n_resamples, n): each way to draw, where few are."""
    if n <= _ALL_RESAMPLES:
        return np.array(list(itertools.product(range(n), repeat=n)))
    return np.random.default_rng(1).integers(n, size=(_DRAWS, n))


def ratio(logs: np.ndarray, confidence: float, picked_from: int = 1) -> Estimate:
    """Return the geometric mean of the rounds' ratios from their logarithms, shape (n_rounds,).

    The interval is Student's t; that of a ratio picked from so many allows for all of them
    (Bonferroni).
    """
    known = logs[np.isfinite(logs)]
    if len(known) == 0:
        return Estimate(math.nan, n=0)
    value = math.exp(known.mean())
    if len(known) < 2:
        return Estimate(value)
    if known.std() == 0:
        return Estimate(value, value, value, float(value == 1.0), len(known))
    test = stats.ttest_1samp(known, 0.0)
    ends = test.confidence_interval(1.0 - (1.0 - confidence) / picked_from)
    p_value = min(float(test.pvalue) * picked_from, 1.0)
    return Estimate(value, math.exp(ends.low), math.exp(ends.high), p_value, len(known))


def pooled(logs: pd.DataFrame, confidence: float) -> Estimate:
    """Return the ratio over cells together: a round's mean over the cells is one replicate.

    `logs` has a row per cell and a column per round.
    """
    if not logs.notna().to_numpy().any():
        return Estimate(math.nan, n=0)
    return ratio(block(logs).mean().to_numpy(float), confidence)


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


def settled(ratios: Sequence[np.ndarray], confidence: float) -> list[int]:
    """Return which of several ratios of one quantity stand after Holm's correction: 1, -1 or 0.

    None is taken to scatter less from round to round than half of them do.
    """
    known = [logs[np.isfinite(logs)] for logs in ratios]
    known = [logs if len(logs) > 1 else np.full(1, math.nan) for logs in known]
    means = np.array([logs.mean() for logs in known])
    numbers = np.array([len(logs) for logs in known])
    spreads = np.array([logs.std(ddof=min(1, len(logs) - 1)) for logs in known])
    least = np.nanmedian(spreads) if np.isfinite(spreads).any() else math.nan
    with np.errstate(divide="ignore"):
        t = np.abs(means) / np.maximum(spreads, least) * np.sqrt(numbers)
    stands = holm(np.asarray(2 * stats.t.sf(t, numbers - 1))) < 1 - confidence
    return [int(sign) if holds else 0 for sign, holds in zip(np.sign(means), stands, strict=True)]
