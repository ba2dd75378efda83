"""Estimates over repetitions, as facts hold them: medians and differences with intervals."""

import math
from collections.abc import Iterable, Sequence
from typing import TypedDict

import numpy as np
from scipy import special

from copycost.stats.medians import MedianIntervals, median_intervals
from copycost.stats.ratios import holm, t_quantile
from copycost.stats.settings import FloatArray, StatisticsSettings

# as in the other tables of the report; shares may well be 0 at one end
_VAGUE_FACTOR = 20.0
_VAGUE_SHARE = 0.5


class Estimate(TypedDict):
    """A median; `low` and `high` are None where one repetition gives no interval.

    `vague` tells that the interval says how little is known rather than where the value lies.
    """

    median: float
    low: float | None
    high: float | None
    n: int
    vague: bool


class Change(TypedDict):
    """A mean difference paired by round, after less before.

    `direction` is ``grew``, ``shrank`` or ``no change seen`` by the interval, or ``observed once``.
    `sure` tells whether it stands after Holm's correction for the number of comparisons.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    direction: str
    sure: bool


def intervals(
    values: FloatArray,
    settings: StatisticsSettings,
    *,
    is_share: bool = False,
    most: FloatArray | float = math.inf,
) -> MedianIntervals:
    """Return the median of each row and its interval, within what there can be.

    Parameters
    ----------
    values : array
        Shape (n_rows, n): n repetitions each, none below 0, no NaN.
    settings : StatisticsSettings
        Confidence and resamples.
    is_share : bool
        Nothing is above 1. Of a share above a half, the interval is that of the rest: 0.97 is as
        far from 1 as 0.03 from 0.
    most : float, or array of shape (n_rows,)
        No interval reaches beyond it, unless its median does: as many CPUs as there are threads.
    """
    found = median_intervals(values, settings)
    low = np.maximum(found.low, 0.0)
    high = np.minimum(found.high, np.maximum(found.median, most))
    if is_share:
        rest = median_intervals(1.0 - values, settings)
        flipped = found.median > 0.5
        low = np.where(flipped, 1.0 - rest.high, low).clip(0.0, 1.0)
        high = np.where(flipped, 1.0 - rest.low, high).clip(0.0, 1.0)
    return MedianIntervals(found.median, low, high)


def estimate(
    values: Iterable[float],
    settings: StatisticsSettings,
    *,
    is_share: bool = False,
    most: float = math.inf,
) -> Estimate | None:
    """Return the median of the values that are numbers and its interval, None if there are none."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return None
    found = intervals(np.array([known]), settings, is_share=is_share, most=most)
    low, high = float(found.low[0]), float(found.high[0])
    vague = high - low > _VAGUE_SHARE if is_share else high > _VAGUE_FACTOR * low
    return {
        "median": float(found.median[0]),
        "low": _bound(low),
        "high": _bound(high),
        "n": len(known),
        "vague": bool(vague),
    }


def changes(differences: Sequence[Sequence[float]], confidence: float) -> list[Change]:
    """Return for each row of differences (one per round) what may be said of it.

    Source
    ------
    Student's t on paired differences; S. Holm, A simple sequentially rejective multiple test
    procedure, Scand. J. Statistics 6 (1979).
    """
    rows = [np.array(row, dtype=float) for row in differences]
    p_values = holm(np.array([_p_value(row) for row in rows]))
    return [
        _change(row, float(p_value), confidence)
        for row, p_value in zip(rows, p_values, strict=True)
    ]


def negated(change: Change) -> Change:
    """Return the same change the other way round: what grew has shrunk."""
    turned = {"grew": "shrank", "shrank": "grew"}
    return {
        **change,
        "mean": -change["mean"],
        "low": None if change["high"] is None else -change["high"],
        "high": None if change["low"] is None else -change["low"],
        "direction": turned.get(change["direction"], change["direction"]),
    }


def _p_value(row: FloatArray) -> float:
    if row.size < 2:
        return float("nan")
    error = float(row.std(ddof=1)) / math.sqrt(row.size)
    if error == 0.0:
        return 1.0 if row.mean() == 0.0 else 0.0
    return float(2.0 * special.stdtr(row.size - 1, -abs(float(row.mean())) / error))


def _change(row: FloatArray, p_value: float, confidence: float) -> Change:
    mean = float(row.mean())
    if row.size < 2:
        once: Change = {
            "mean": mean,
            "low": None,
            "high": None,
            "n": int(row.size),
            "direction": "observed once",
            "sure": False,
        }
        return once
    half = t_quantile((1.0 + confidence) / 2.0, row.size - 1) * (
        float(row.std(ddof=1)) / math.sqrt(row.size)
    )
    low, high = mean - half, mean + half
    direction = "grew" if low > 0.0 else "shrank" if high < 0.0 else "no change seen"
    return {
        "mean": mean,
        "low": low,
        "high": high,
        "n": int(row.size),
        "direction": direction,
        "sure": p_value <= 1.0 - confidence,
    }


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
