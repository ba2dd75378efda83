"""What the facts of driven studies are made of: medians, intervals, losses, shares of functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from copycost.stats.medians import median_intervals
from copycost.stats.settings import FloatArray, StatisticsSettings

SideName = Literal["sender", "receiver"]
SIDES: tuple[SideName, ...] = ("sender", "receiver")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median over the repetitions and its interval; None where there is none."""

    median: float
    low: float | None
    high: float | None


def estimate(values: FloatArray, settings: StatisticsSettings) -> Estimate:
    """Return the median of some repetitions and its interval, None where one gives none."""
    found = median_intervals(values[None, :], settings)
    low, high = float(found.low[0]), float(found.high[0])
    known = np.isfinite(low) and np.isfinite(high)
    return Estimate(float(found.median[0]), low if known else None, high if known else None)


def common_facts(
    table: pd.DataFrame,
    section: Mapping[str, Any],
    statistics: StatisticsSettings,
    keys: Sequence[str],
) -> dict[str, Any]:
    """Return what the facts of every study say of its repetitions.

    Keys
    ----
    section, confidence
        As configured.
    n_measured, n_repetitions
        [count]
    losses
        See `losses_of`, with `keys`.
    versions, process_pairs
        What drove, and how many pairs of processes [count], in the measured repetitions.
    n_foreign
        Measured repetitions with a foreign load [count].
    """
    measured = table[table["status"] == "measured"]
    return {
        "section": dict(section),
        "confidence": statistics.confidence,
        "n_measured": len(measured),
        "n_repetitions": len(table),
        "losses": losses_of(table, keys),
        "versions": sorted({str(version) for version in measured["driver_version"].dropna()}),
        "process_pairs": sorted({int(n) for n in measured["process_pairs"].dropna()}),
        "n_foreign": flag_counts(measured).get("foreign_load", 0),
    }


def flag_counts(measured: pd.DataFrame) -> dict[str, int]:
    """Return how many repetitions carry each warning."""
    codes = [code for text in measured["flags"] for code in str(text).split(";") if code]
    return {code: codes.count(code) for code in sorted(set(codes))}


def losses_of(table: pd.DataFrame, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return what was not measured, one entry per status and reason.

    Keys
    ----
    status, reason, remedy, n
        And for each of `keys` the values that it concerns.
    """
    lost = table[table["status"] != "measured"]
    found = []
    for (status, reason), rows in lost.groupby(["status", "reason"], sort=False, dropna=False):
        remedies = [str(remedy) for remedy in rows["remedy"].dropna().unique()]
        entry: dict[str, Any] = {
            "status": str(status),
            "reason": str(reason),
            "remedy": remedies[0] if remedies else None,
            "n": len(rows),
        }
        entry.update({key: [plain(value) for value in rows[key].unique()] for key in keys})
        found.append(entry)
    return found


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a table cell holds
    """Return a value of a table without numpy's type, as JSON takes it."""
    return value.item() if isinstance(value, np.generic) else value


def with_interval(value: float, low: float, high: float) -> dict[str, float | None]:
    """Return a fitted value in plain words; the ends are None where there is no interval."""
    return {"value": value, "low": finite_or_none(low), "high": finite_or_none(high)}


def finite_or_none(value: float) -> float | None:
    """Return a number, or None where there is none, as JSON takes it."""
    return value if math.isfinite(value) else None


def published_rows(published: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a published table; an empty field is None."""
    return [
        {
            str(key): None if isinstance(value, float) and math.isnan(value) else value
            for key, value in row.items()
        }
        for row in published.to_dict(orient="records")
    ]


def category_shares(side: Mapping[str, Any]) -> dict[str, float]:
    """Return the median share of each category of functions, by title, on one profiled side.

    Parameters
    ----------
    side : mapping
        One side of a cell in the facts of the study `profile`.
    """
    return {str(row["title"]): float(row["own"]["share"]["median"]) for row in side["categories"]}
