"""Repetitions that gave no value: how many, why, and what helps."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


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
