"""What the chapter on round trips says: each way beside the baseline, and what was lost."""

from collections.abc import Mapping, Sequence
from typing import Any

from copycost.report.conditions import place
from copycost.report.markdown import Column
from copycost.wording.filters import impl, ratio, size, span

Facts = Mapping[str, Any]

# the appendix has all
_PERCENTILES = {"p50_ns": "median", "p99_ns": "99th"}


def round_trips_compared(trips: Facts) -> tuple[list[Column], list[list[str]]]:
    """Return ratios to the baseline: a row per place, way, threads and percentile, a column a size.

    Those whose interval leaves out 1 are in bold.
    """
    conditions = [one for one in trips["conditions"] if one["ratios"]]
    sizes = sorted({row["msg_bytes"] for one in conditions for row in one["ratios"]})
    columns = [
        Column("Where"),
        Column("With"),
        Column("Threads", "right"),
        Column("Percentile"),
        *(Column(size(of), "right") for of in sizes),
    ]
    rows = []
    for one in conditions:
        found: dict[tuple[Any, ...], dict[int, str]] = {}
        for row in one["ratios"]:
            if row["percentile"] in _PERCENTILES:
                key = (row["n_threads"], row["implementation"], row["percentile"])
                found.setdefault(key, {})[row["msg_bytes"]] = _ratio(row)
        order = {name: number for number, name in enumerate(one["implementations"])}
        rows += [
            [
                place(one),
                impl(name),
                str(n_threads),
                _PERCENTILES[percentile],
                *(cells.get(of, "") for of in sizes),
            ]
            for (n_threads, name, percentile), cells in sorted(
                found.items(), key=lambda item: (item[0][0], order[item[0][1]], item[0][2])
            )
        ]
    return columns, rows


def _ratio(row: Facts) -> str:
    text = ratio(row["value"])
    if row["low"] is None:
        return text
    shown = f"**{text}**" if row["sign"] != 0 else text
    return f"{shown} ({span(row['low'], row['high'], ratio)})"


def round_trips_told(trips: Facts) -> dict[str, int]:
    """Return how many comparisons came to what, over all conditions.

    Keys
    ----
    n, n_longer, n_shorter
        Ratios of medians and 99th percentiles that have an interval; those above and below 1.
    n_once
        Those of one repetition, without an interval.
    n_measured, n_warned
        Repetitions, and those with a warning that the machine was disturbed.
    """
    every = [row for one in trips["conditions"] for row in one["ratios"]]
    told = [row for row in every if row["percentile"] in _PERCENTILES]
    signs = [row["sign"] for row in told if not row["once"]]
    names = ("n_measured", "n_warned")
    return {
        "n": len(signs),
        "n_longer": signs.count(1),
        "n_shorter": signs.count(-1),
        "n_once": len(told) - len(signs),
        **{name: sum(one[name] for one in trips["conditions"]) for name in names},
    }


def round_trips_lost(trips: Facts) -> Sequence[Facts]:
    """Return what was not measured, for `copycost.report.study_values.losses`."""
    return [
        {**loss, "status": status, "testbed": [one["slug"]]}
        for one in trips["conditions"]
        for status in ("skipped", "failed")
        for loss in one[status]
    ]
