"""What became of a study's repetitions: how many were measured, and why others were not."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from copycost.analysis.json_values import plain
from copycost.config.capabilities import IPERF3
from copycost.stats.settings import StatisticsSettings


def outcome_facts(
    table: pd.DataFrame, statistics: StatisticsSettings, keys: Sequence[str]
) -> dict[str, Any]:
    """Return what the facts of a study say of its repetitions."""
    measured = table[table["status"] == "measured"]
    versions = measured.loc[measured["implementation"] == IPERF3, "driver_version"].dropna()
    return {
        "confidence": statistics.confidence,
        "n_measured": len(measured),
        "n_repetitions": len(table),
        "losses": losses_of(table, keys),
        # of iperf3, in the measured repetitions
        "versions": sorted({str(version) for version in versions}),
        # several pairs of processes carried the streams
        "separate_processes": bool((measured["process_pairs"] > 1).any()),
        # measured repetitions with a foreign load [count]
        "n_foreign": flag_counts(measured).get("foreign_load", 0),
    }


def flag_counts(measured: pd.DataFrame) -> dict[str, int]:
    """Return how many repetitions carry each warning."""
    texts = measured["flags"].dropna()  # an empty field of a file is NaN
    codes = [code for text in texts for code in str(text).split(";") if code]
    return {code: codes.count(code) for code in sorted(set(codes))}


def losses_of(table: pd.DataFrame, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return what was not measured, one entry per status and reason."""
    lost = table[table["status"] != "measured"]
    found = []
    for (status, reason), rows in lost.groupby(["status", "reason"], sort=False, dropna=False):
        remedies = [str(remedy) for remedy in rows["remedy"].dropna().unique()]
        entry: dict[str, Any] = {
            # and for each of `keys` the values that it concerns
            "status": str(status),
            "reason": str(reason),
            "remedy": remedies[0] if remedies else None,
            "n": len(rows),
        }
        entry.update({key: [plain(value) for value in rows[key].unique()] for key in keys})
        found.append(entry)
    return found
