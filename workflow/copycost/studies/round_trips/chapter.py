"""What the chapter on round trips says: percentiles, ratios to the baseline, what was lost."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

from copycost.wording.filters import impl, ratio, size, span
from copycost.wording.markdown import Table, grouped, tabulate
from copycost.wording.values import Facts, interval, median, of_cells, place

# the appendix has all
_COMPARED = {"p50_ns": "median", "p99_ns": "99th"}
_TAIL = {"p99_ns": "p99", "p999_ns": "p99.9", "max_ns": "Maximum"}


def percentiles(condition: Facts) -> Table:
    """Return the percentiles of a condition, in µs."""
    labels = condition.get("labels", {})

    def of(key: str) -> Callable[[Facts], str]:
        return lambda row: median(row[key], 1e-3) if row[key] else ""

    return of_cells(
        condition["rows"],
        {
            ">p50": of("p50_ns"),
            ">Interval": lambda row: interval(row["p50_ns"], 1e-3),
            **{f">{title}": of(key) for key, title in _TAIL.items()},
            ">n": lambda row: str(row["n"]),
        },
        labels,
    )


def compared(trips: Facts) -> Table:
    """Return ratios to the baseline: a row per place, way, threads and percentile, a column a size.

    Those whose interval leaves out 1 are in bold.
    """
    rows: list[Facts] = [
        {
            **row,
            "order": order,
            "where": place(one),
            "way": one["implementations"].index(row["implementation"]),
        }
        for order, one in enumerate(trips["conditions"])
        for row in one["ratios"]
        if row["percentile"] in _COMPARED
    ]
    keys = ("order", "n_threads", "way", "percentile")

    def key(row: Facts) -> tuple[Any, ...]:
        return tuple(row[name] for name in keys)

    def at(size_of: int) -> Callable[[list[Facts]], str]:
        return lambda same: "".join(_ratio(row) for row in same if row["msg_bytes"] == size_of)

    return grouped(
        tabulate(
            [list(same) for _, same in groupby(sorted(rows, key=key), key)],
            {
                "Where": lambda same: str(same[0]["where"]),
                "With": lambda same: impl(same[0]["implementation"]),
                ">Threads": lambda same: str(same[0]["n_threads"]),
                "Percentile": lambda same: _COMPARED[same[0]["percentile"]],
                **{f">{size(of)}": at(of) for of in sorted({row["msg_bytes"] for row in rows})},
            },
        )
    )


def _ratio(row: Facts) -> str:
    text = ratio(row["value"])
    if row["low"] is None:
        return text
    shown = f"**{text}**" if row["sign"] != 0 else text
    return f"{shown} ({span(row['low'], row['high'], ratio)})"
