"""What the chapter on round trips says: percentiles, ratios to the baseline, what was lost."""

from collections.abc import Sequence
from typing import Any

from copycost.report.markdown import Table, pipe_table, slug
from copycost.report.values import Facts, interval, marked, median, note_of, place
from copycost.wording.filters import impl, ratio, size, span

# the appendix has all
_COMPARED = {"p50_ns": "median", "p99_ns": "99th"}
_TAIL = {"p90_ns": "p90", "p99_ns": "p99", "p999_ns": "p99.9", "max_ns": "max"}


def percentiles(condition: Facts, repetitions: int) -> str:
    """Return the percentiles of a condition in Markdown, in µs.

    A row of fewer repetitions than were asked for says so.
    """
    several = len({row.get("n_threads", 1) for row in condition["rows"]}) > 1
    titles = ["Message", *([">Threads"] if several else []), "Implementation", ">p50", ">interval",
              *(f">{title}" for title in _TAIL.values()), ">round trips", ">n"]  # fmt: skip
    labels = condition.get("labels", {})
    rows, previous = [], None
    for row in condition["rows"]:
        at = (row["msg_bytes"], row.get("n_threads"))
        rows.append(
            [
                "" if at == previous else size(row["msg_bytes"]),
                *([str(row["n_threads"])] if several else []),
                marked(row["implementation"], labels),
                median(row["p50_ns"], 1e-3),
                interval(row["p50_ns"], 1e-3),
                *(median(row[key], 1e-3) for key in _TAIL),
                f"{row['samples']:,}",
                str(row["n"]) if row["n"] == repetitions else f"{row['n']} of {repetitions}",
            ]
        )
        previous = at
    caption = (
        f"Round-trip times on {place(condition)} [µs]: median with its interval, 90th, 99th and "
        "99.9th percentile and maximum, each the median of the repetitions; the number of round "
        "trips, and n of repetitions. Source: `results/tables/round_trips.csv`."
        f"{note_of(labels)}"
    )
    identifier = f"tbl-{slug(condition['slug'])}-round-trips"
    return pipe_table(titles, rows, caption, identifier, ["grouped"])


def compared(trips: Facts) -> Table:
    """Return ratios to the baseline: a row per place, way, threads and percentile, a column a size.

    Those whose interval leaves out 1 are in bold.
    """
    conditions = [one for one in trips["conditions"] if one["ratios"]]
    sizes = sorted({row["msg_bytes"] for one in conditions for row in one["ratios"]})
    titles = ["Where", "With", ">Threads", "Percentile", *(f">{size(of)}" for of in sizes)]
    rows = []
    for one in conditions:
        found: dict[tuple[Any, ...], dict[int, str]] = {}
        for row in one["ratios"]:
            if row["percentile"] in _COMPARED:
                place_of_way = one["implementations"].index(row["implementation"])
                key = (row["n_threads"], place_of_way, row["percentile"])
                found.setdefault(key, {})[row["msg_bytes"]] = _ratio(row)
        rows += [
            [
                place(one),
                impl(one["implementations"][way]),
                str(n_threads),
                _COMPARED[percentile],
                *(cells.get(of, "") for of in sizes),
            ]
            for (n_threads, way, percentile), cells in sorted(found.items())
        ]
    return titles, rows


def _ratio(row: Facts) -> str:
    text = ratio(row["value"])
    if row["low"] is None:
        return text
    shown = f"**{text}**" if row["sign"] != 0 else text
    return f"{shown} ({span(row['low'], row['high'], ratio)})"


def told(trips: Facts) -> dict[str, int]:
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
    found = [row for row in every if row["percentile"] in _COMPARED]
    signs = [row["sign"] for row in found if not row["once"]]
    names = ("n_measured", "n_warned")
    return {
        "n": len(signs),
        "n_longer": signs.count(1),
        "n_shorter": signs.count(-1),
        "n_once": len(found) - len(signs),
        **{name: sum(one[name] for one in trips["conditions"]) for name in names},
    }


def lost(trips: Facts) -> Sequence[Facts]:
    """Return what was not measured, for `copycost.report.values.losses`."""
    return [
        {**loss, "status": status, "testbed": [one["slug"]]}
        for one in trips["conditions"]
        for status in ("skipped", "failed")
        for loss in one[status]
    ]
