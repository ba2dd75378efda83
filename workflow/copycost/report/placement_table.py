"""The table of what placement does: a row per cell, with the ends apart and in each other way."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from copycost.grid.placements import APART
from copycost.report.markdown import Column, pipe_table
from copycost.report.results_table import NONE, VAGUE, VAGUE_FACTOR
from copycost.wording.filters import impl, interval_of, ratio, significant, size, span

Facts = Mapping[str, Any]

_QUANTITIES = {"streams": ("throughput [Gbit/s]", 1e-9), "round_trips": ("round trip [µs]", 1e-3)}


def placement_span(group: Facts, confidence: float) -> str:
    """Return the ratios of a group: ``1.02 to 1.76``, or one with its interval."""
    if group["ratio"] is None:
        return span(group["lowest"], group["highest"])
    return f"{ratio(group['lowest'])} {interval_of(group['ratio'], confidence)}"


def placement_table(facts: Facts) -> str:
    """Return `facts["placement"]` as a table in Markdown."""
    columns = [
        Column("Quantity"),
        Column("Implementation"),
        Column("Message", "right"),
        Column("Threads", "right"),
        Column(f"`{APART}`", "right"),
        Column("Placement"),
        Column("median", "right"),
        Column("ratio", "right"),
        Column("interval", "right"),
    ]
    several = len({effect["condition"] for effect in facts["effects"]}) > 1
    if several:
        columns.insert(1, Column("Condition"))
    caption = (
        "The same cells in several placements: medians, and the ratio to that with both ends on "
        "different cores, paired by round. Source: `results/tables/cells.csv` and "
        "`round_trips.csv`."
    )
    return pipe_table(
        columns, list(_rows(facts, several=several)), caption, "tbl-placement", ["grouped"]
    )


def _rows(facts: Facts, *, several: bool) -> Iterator[list[str]]:
    def cell(effect: Facts) -> tuple[Any, ...]:
        names = ("study", "condition", "implementation", "msg_bytes", "n_threads")
        return tuple(effect[name] for name in names)

    effects = sorted(
        facts["effects"], key=lambda effect: (effect["study"] != "streams", cell(effect))
    )
    for (study, condition, implementation, msg_bytes, n_threads), members in groupby(effects, cell):
        title, factor = _QUANTITIES[study]
        for index, effect in enumerate(members):
            head = [
                title,
                *([f"`{condition}`"] if several else []),
                impl(implementation),
                size(msg_bytes),
                str(n_threads),
                significant(effect["apart"]["median"] * factor),
            ]
            found = effect["ratio"]
            yield [
                *(head if index == 0 else [""] * len(head)),
                f"`{effect['placement']}`",
                significant(effect["here"]["median"] * factor),
                ratio(found["value"]),
                _interval(found),
            ]


def _interval(found: Facts) -> str:
    if found["low"] is None:
        return NONE
    if found["high"] > VAGUE_FACTOR * found["low"]:
        return VAGUE
    return span(found["low"], found["high"])
