"""Ratios of two things measured in the same rounds, and what may be said of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

import numpy as np
from scipy import special

from copycost.analysis.stats.settings import FloatArray

METHOD = "t interval of the rounds' log ratios"
"""What the intervals of ratios are called, wherever a text or a figure names them."""
FAMILY_METHOD = f"{METHOD}, at the level at which Holm's method tests it"
"""The same for comparisons that are judged together."""


class Direction(StrEnum):
    """Where a ratio lies, as far as its interval tells."""

    ABOVE = "above"
    BELOW = "below"
    NO_DIFFERENCE = "no difference seen"
    OBSERVED_ONCE = "observed once"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio paired by repetition."""

    n_pairs: int
    """Repetitions in which both were measured."""
    value: float
    """Geometric mean of the rounds' ratios; NaN where there is none."""
    low: float
    high: float
    """End of its interval; NaN where fewer than two rounds give none."""
    p_value: float
    """Two-sided, of "the ratio is 1"; NaN like the interval."""
    direction: Direction

    @property
    def sign(self) -> int:
        """Return 1 above, -1 below, 0 no difference seen or not measured; once: by value alone."""
        if self.direction is Direction.OBSERVED_ONCE:
            return int(np.sign(self.value - 1.0))
        return {Direction.ABOVE: 1, Direction.BELOW: -1}.get(self.direction, 0)


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t with `freedom` degrees of freedom."""
    return float(special.stdtrit(freedom, probability))


def paired_ratio(log_ratios: FloatArray, confidence: float, least_error: float = 0.0) -> Ratio:
    """Estimate a ratio from the logarithms of its rounds' ratios, with Student's t interval.

    Pairing cancels the drift of the machine, and the logarithm makes "twice" and "half" equally far
    from 1. The percentile bootstrap would hold the truth in only about 75 % at n = 3 and 90 % at n
    = 10; t on the logarithms holds it in 95 % where noise is proportional, and in 94 to 97 % under
    heavier tails (`tools.simulate` measures both). Of `log_ratios`, shape (n,), NaN rounds are left
    out; `least_error` is the standard error of the mean logarithm that is assumed where the rounds
    give a smaller one.
    """
    known = log_ratios[np.isfinite(log_ratios)]
    n = int(known.size)
    nan = float("nan")
    if n == 0:
        return Ratio(0, nan, nan, nan, nan, Direction.NOT_MEASURED)
    mean = float(known.mean())
    if n == 1:
        return Ratio(1, float(np.exp(mean)), nan, nan, nan, Direction.OBSERVED_ONCE)
    error = max(standard_error(known), least_error)
    half = t_quantile((1.0 + confidence) / 2.0, n - 1) * error
    low, high = mean - half, mean + half
    if error > 0.0:
        p_value = float(2.0 * special.stdtr(n - 1, -abs(mean) / error))
    else:
        p_value = 1.0 if mean == 0.0 else 0.0
    if low > 0.0:
        direction = Direction.ABOVE
    elif high < 0.0:
        direction = Direction.BELOW
    else:
        direction = Direction.NO_DIFFERENCE
    with np.errstate(over="ignore"):
        ends = np.exp([mean, low, high])
    return Ratio(n, float(ends[0]), float(ends[1]), float(ends[2]), p_value, direction)


def standard_error(values: FloatArray) -> float:
    """Return that of the mean of two values or more."""
    return float(values.std(ddof=1)) / float(np.sqrt(values.size))


def holm(p_values: FloatArray, at_least: int = 1) -> FloatArray:
    """Return p-values corrected for the number of comparisons made (Holm's step-down method).

    NaN stays NaN and does not count as a comparison. So many of the corrected p-values as have to
    hold for what is concluded, `at_least`, are below a level only if so many comparisons hold, but
    for an error of that level, however the comparisons depend on one another; 1 is Holm's method.

    Source
    ------
    S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statistics 6 (1979);
    Y. Benjamini, R. Heller, Screening for partial conjunction hypotheses, Biometrics 64 (2008).
    """
    corrected = np.full(p_values.shape, np.nan)
    known = np.flatnonzero(np.isfinite(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    done = np.maximum(np.arange(order.size), at_least - 1)
    factors = np.maximum(order.size - done, 1)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected


def holm_levels(p_values: FloatArray, level: float) -> FloatArray:
    """Return the level at which Holm's method tests each comparison; `level` where there is none.

    That of the first is for all of them, and for one fewer as long as they stand.
    """
    levels = np.full(p_values.shape, level)
    known = np.flatnonzero(np.isfinite(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    divisors = np.arange(order.size, 0, -1)
    open_ones = p_values[order] * divisors >= level
    if open_ones.any():  # the first of these ends the procedure
        divisors = np.maximum(divisors, divisors[open_ones.argmax()])
    levels[order] /= divisors
    return levels


def family_ratios(
    rows: Sequence[FloatArray] | FloatArray,
    confidence: float,
    least_errors: Sequence[float] | None = None,
) -> list[Ratio]:
    """Return `paired_ratio` of each of several comparisons that are judged together.

    Each has the interval that Holm's method tests it by, so that it lies off 1 where, and only
    where, the p-value of `holm` is below 1 - `confidence`. The chance that any of the directions is
    wrong is at most that. `p_value` remains that of the comparison alone.
    """
    least = least_errors or [0.0] * len(rows)
    alone = [paired_ratio(row, confidence, one) for row, one in zip(rows, least, strict=True)]
    levels = holm_levels(np.array([ratio.p_value for ratio in alone]), 1.0 - confidence)
    return [
        paired_ratio(row, 1.0 - level, one)
        for row, level, one in zip(rows, levels, least, strict=True)
    ]


PICKED_METHOD = "Student's t of the log ratios, Bonferroni's correction for the cells picked from"
"""What these intervals are called, wherever a text names them."""


def simultaneous_ratio(
    log_ratios: FloatArray, n_selected_from: int, confidence: float, least_error: float = 0.0
) -> Ratio:
    """Return `paired_ratio` with an interval that holds the truth however the ratio was picked.

    A 95 % interval holds the truth in 95 % of the cells, but less often in the cell that chance has
    moved furthest, which is the one that gets picked. All intervals of this width together hold all
    their truths with the probability `confidence`. Each has its own spread and nothing is assumed
    of how the cells depend on each other. At three rounds it is wide: out of 28 cells, five and a
    half times as wide as that of a cell that was not picked; at seven rounds twice. `p_value` and
    `direction` are corrected likewise. The ratio was picked from `n_selected_from`, itself
    included; `ValueError` if from nothing.

    Source
    ------
    O. J. Dunn, Multiple comparisons among means, J. Am. Stat. Assoc. 56 (1961).
    """
    if n_selected_from < 1:
        raise ValueError(f"got {n_selected_from} ratios to pick from, must be at least 1")
    found = paired_ratio(log_ratios, 1.0 - (1.0 - confidence) / n_selected_from, least_error)
    # NaN stays NaN: it is what comes first that min() keeps.
    return replace(found, p_value=min(found.p_value * n_selected_from, 1.0))
