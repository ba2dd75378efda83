"""What the chapter on round trips says of each implementation compared with the baseline."""

from collections.abc import Iterable, Mapping
from typing import Any

PERCENTILES = ("p50_ns", "p99_ns")
"""Those that the text compares; the table has all."""


def round_trips_compared(condition: Mapping[str, Any], baseline: str) -> list[dict[str, Any]]:
    """Return what was seen of each percentile of each implementation, by number of threads.

    Keys
    ----
    implementation, percentile, n_threads
        What was compared.
    compared
        Whether there is any ratio: whether the samples carried the percentile.
    apart
        The ratios that show a difference.
    even
        The sizes where the ratio shows none.
    """
    ratios = condition["ratios"]
    names = [
        name
        for name in condition["implementations"]
        if name != baseline and any(row["implementation"] == name for row in ratios)
    ]
    return [
        _compared((name, percentile, n_threads), ratios)
        for n_threads in condition["n_threads"]
        for name in names
        for percentile in PERCENTILES
    ]


def _compared(what: tuple[str, str, int], ratios: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    keys = ("implementation", "percentile", "n_threads")
    rows = [row for row in ratios if tuple(row[key] for key in keys) == what]
    return {
        **dict(zip(keys, what, strict=True)),
        "compared": bool(rows),
        "apart": [row for row in rows if row["sign"] != 0],
        "even": [row["msg_bytes"] for row in rows if row["sign"] == 0],
    }


def all_once(condition: Mapping[str, Any]) -> bool:
    """Tell whether every ratio of a condition was observed in one round only."""
    return all(row["once"] for row in condition["ratios"])
