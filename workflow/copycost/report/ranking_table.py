"""The table of implementations by what a byte costs, one per condition."""

from collections.abc import Iterator, Mapping
from typing import Any

from copycost.report.conditions import place as place_of
from copycost.report.markdown import Column, pipe_table, slug
from copycost.report.marks import marked, note_of
from copycost.report.ranking import has_floor
from copycost.report.results_table import NONE, VAGUE, VAGUE_FACTOR
from copycost.wording.filters import ratio, significant, size
from copycost.wording.plurals import plural

_ROWS_OF_A_PAGE = 45


def ranking_table(condition: Mapping[str, Any]) -> str:
    """Return the ranking of a condition in Markdown, a row per size and implementation."""
    ranking = condition["ranking"]
    with_floor = has_floor(condition)
    columns = [
        Column("Message"),
        Column("Place", "right"),
        Column("Implementation"),
        Column(f"{ranking['unit']} per byte", "right"),
        Column("interval", "right"),
        *([Column("copies", "right")] if with_floor else []),
        Column("n", "right"),
    ]
    whose = "the sender alone" if ranking["side"] == "sender" else "both sides together"
    threads = plural(ranking["n_threads"], "thread")
    caption = (
        f"Implementations on {place_of(condition)} by the {ranking['label']} of a byte "
        f"({whose}, {threads}): median, interval"
        f"{', multiple of a plain copy' if with_floor else ''}, number n of repetitions. "
        f"Source: `results/facts.json`.{note_of(condition['labels'])}"
    )
    rows = list(_rows(condition, with_floor))
    return pipe_table(columns, rows, caption, f"tbl-{slug(condition['slug'])}-ranking", ["grouped"])


def _rows(condition: Mapping[str, Any], with_floor: bool) -> Iterator[list[str]]:
    sizes, labels = condition["ranking"]["sizes"], condition["labels"]
    is_long = sum(len(at["rows"]) for at in sizes) > _ROWS_OF_A_PAGE
    for at in sizes:
        for place, row in enumerate(at["rows"]):
            yield [
                size(at["msg_bytes"]) if is_long or not place else "",
                _place(row),
                marked(row["implementation"], labels),
                significant(row["median"]),
                _interval(row),
                *([_multiple(row["floor_ratio"])] if with_floor else []),
                str(row["n"]),
            ]


def _place(row: Mapping[str, Any]) -> str:
    low, high = row.get("place_low", row["rank"]), row.get("place_high", row["rank"])
    return str(low) if low == high else f"{low} to {high}"


def _interval(row: Mapping[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return NONE
    if row["high"] > VAGUE_FACTOR * row["low"]:
        return VAGUE
    return f"{significant(row['low'])} to {significant(row['high'])}"


def _multiple(value: float | None) -> str:
    return NONE if value is None else ratio(value)
