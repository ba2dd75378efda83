"""Differences over paired rounds, as facts hold them."""

import math
from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from scipy import special

from copycost.stats.ratios import holm, t_quantile
from copycost.stats.settings import FloatArray


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
