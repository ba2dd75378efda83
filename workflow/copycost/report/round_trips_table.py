"""The table of round trips, one per condition: percentiles per size and implementation."""

from collections.abc import Iterator, Mapping
from typing import Any

from copycost.report.conditions import place
from copycost.report.markdown import Column, pipe_table, slug
from copycost.report.marks import marked, note_of
from copycost.report.results_table import NONE, VAGUE, VAGUE_FACTOR
from copycost.wording.filters import significant, size

_TITLES = (
    ("p50_ns", "p50"),
    ("p90_ns", "p90"),
    ("p99_ns", "p99"),
    ("p999_ns", "p99.9"),
    ("max_ns", "max"),
)


def round_trips_table(condition: Mapping[str, Any], repetitions: int) -> str:
    """Return the percentiles of a condition in Markdown, in µs.

    Parameters
    ----------
    condition
        One of the conditions of ``facts["round_trips"]``.
    repetitions
        Repetitions asked for per cell; a row of fewer says so.
    """
    several = len({row.get("n_threads", 1) for row in condition["rows"]}) > 1
    columns = [
        Column("Message"),
        *([Column("Threads", "right")] if several else []),
        Column("Implementation"),
        Column("p50", "right"),
        Column("interval", "right"),
        *(Column(title, "right") for _, title in _TITLES[1:]),
        Column("round trips", "right"),
        Column("n", "right"),
    ]
    caption = (
        f"Round trips on {place(condition)} [µs]: median with its interval, 90th, 99th and "
        "99.9th percentile and the longest, each the median of the repetitions; the number of "
        "round trips and n of repetitions. Source: `results/tables/round_trips.csv`."
        f"{note_of(condition.get('labels', {}))}"
    )
    rows = list(_rows(condition, repetitions, several=several))
    identifier = f"tbl-{slug(condition['slug'])}-round-trips"
    return pipe_table(columns, rows, caption, identifier, ["grouped"])


def _rows(condition: Mapping[str, Any], repetitions: int, *, several: bool) -> Iterator[list[str]]:
    labels = condition.get("labels", {})
    previous = None
    for row in condition["rows"]:
        at = (row["msg_bytes"], row.get("n_threads"))
        yield [
            "" if at == previous else size(row["msg_bytes"]),
            *([str(row["n_threads"])] if several else []),
            marked(row["implementation"], labels),
            _value(row["p50_ns"]),
            _interval(row["p50_ns"]),
            *(_value(row[key]) for key, _ in _TITLES[1:]),
            f"{row['samples']:,}",
            str(row["n"]) if row["n"] == repetitions else f"{row['n']} of {repetitions}",
        ]
        previous = at


def _value(found: Mapping[str, Any] | None) -> str:
    if found is None or found["median"] is None:
        return NONE
    return significant(found["median"] * 1e-3)


def _interval(found: Mapping[str, Any] | None) -> str:
    if found is None or found["low"] is None or found["high"] is None:
        return NONE
    if found["high"] > VAGUE_FACTOR * found["low"]:
        return VAGUE
    return f"{significant(found['low'] * 1e-3)} to {significant(found['high'] * 1e-3)}"
