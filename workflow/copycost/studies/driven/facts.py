"""What the facts of driven studies are made of: medians, intervals, losses, shares of functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from copycost.grid.capabilities import IPERF3
from copycost.stats.estimates import estimate as estimate_of_known
from copycost.stats.settings import FloatArray, StatisticsSettings

SideName = Literal["sender", "receiver"]
SIDES: tuple[SideName, ...] = ("sender", "receiver")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median over the repetitions and its interval; None where there is none.

    `vague` tells that the interval says how little is known rather than where the value lies.
    """

    median: float
    low: float | None
    high: float | None
    vague: bool


def estimate(
    values: FloatArray,
    settings: StatisticsSettings,
    *,
    is_share: bool = False,
    most: float = math.inf,
) -> Estimate:
    """Return the median of some repetitions, at least one, and its interval.

    Parameters
    ----------
    is_share, most
        What there can be, see `copycost.stats.estimates.intervals`.
    """
    found = estimate_of_known(values, settings, is_share=is_share, most=most)
    assert found is not None
    return Estimate(found["median"], found["low"], found["high"], found["vague"])


def common_facts(
    table: pd.DataFrame,
    statistics: StatisticsSettings,
    keys: Sequence[str],
) -> dict[str, Any]:
    """Return what the facts of every study say of its repetitions.

    Keys
    ----
    confidence
        As configured.
    n_measured, n_repetitions
        [count]
    losses
        See `losses_of`, with `keys`.
    versions, process_pairs
        Of iperf3, and how many pairs of processes [count], in the measured repetitions.
    n_foreign
        Measured repetitions with a foreign load [count].
    """
    measured = table[table["status"] == "measured"]
    versions = measured.loc[measured["implementation"] == IPERF3, "driver_version"].dropna()
    return {
        "confidence": statistics.confidence,
        "n_measured": len(measured),
        "n_repetitions": len(table),
        "losses": losses_of(table, keys),
        "versions": sorted({str(version) for version in versions}),
        "process_pairs": sorted({int(n) for n in measured["process_pairs"].dropna()}),
        "n_foreign": flag_counts(measured).get("foreign_load", 0),
    }


def flag_counts(measured: pd.DataFrame) -> dict[str, int]:
    """Return how many repetitions carry each warning."""
    texts = measured["flags"].dropna()  # an empty field of a file is NaN
    codes = [code for text in texts for code in str(text).split(";") if code]
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


def category_shares(side: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the share of each category of functions, by title, on one profiled side.

    Parameters
    ----------
    side : mapping
        One side of a cell in the facts of the study `profile`.
    """
    return {str(row["title"]): row["own"]["share"] for row in side["categories"]}
