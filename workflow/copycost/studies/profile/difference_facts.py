"""What changes from one cell to another: by function, paired by round, in CPU time per KiB."""

from collections.abc import Mapping, Sequence
from typing import Any

from copycost.grid.conditions import Condition
from copycost.hosts.parties import is_rest
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.account import DECIMALS, Rounds, account
from copycost.studies.profile.cell_facts import accelerator_of, copied_share
from copycost.studies.profile.changes import changes, negated
from copycost.studies.profile.functions import UNCATEGORISED, Stack, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.names import (
    Pair,
    difference_figure,
    pair_slug,
    parties_on,
    slug_of,
)
from copycost.studies.profile.shares import Lists
from copycost.studies.profile.tables import Repetition

_ROWS = 8


def rounds_of(cells: Mapping[CellKey, Sequence[Repetition]], pair: Pair) -> Rounds:
    """Return the repetitions of both that belong together, where both received bytes.

    Where the first is what the second took turns with, that is one repetition, else one round.
    """
    before, after = (
        {one.record["cell"]["rep"]: one for one in cells[key] if one.received_bytes} for key in pair
    )
    beside = [(one.reference, one) for one in after.values()]
    paired = [(its, one) for its, one in beside if its and its.key == pair[0]]
    return [both for both in paired if both[0].received_bytes] or [
        (before[rep], after[rep]) for rep in sorted(before.keys() & after.keys())
    ]


def difference_facts(
    pair: Pair, rounds: Rounds, lists: Lists, settings: StatisticsSettings
) -> dict[str, Any] | None:
    """Return what grew and what shrank from the first cell to the second; None without a round."""
    first, second = pair
    if not rounds:
        return None
    return {
        "slug": pair_slug(pair),
        "condition": first.condition,
        "testbed": first.testbed,
        "cells": [slug_of(key) for key in pair],
        "before": first.implementation,
        "after": second.implementation,
        "msg_bytes": first.msg_bytes,
        "n_threads": first.n_threads,
        "n_rounds": len(rounds),
        "sender_only": Condition.from_slug(first.condition).sender_only,
        "sides": {
            side: {
                **_side(side, rounds, lists, settings.confidence),
                "figure": difference_figure(pair_slug(pair), side),
                "pictured": not is_rest(side),
            }
            for side in parties_on(first.testbed)
            if all(side in one.shares for both in rounds for one in both)
        },
        "copied_share": copied_share([other for _, other in rounds]),
        "accelerator": accelerator_of([other for _, other in rounds]),
        "account": account(rounds, lists, settings.confidence),
    }


def _side(side: str, rounds: Rounds, lists: Lists, confidence: float) -> dict[str, Any]:
    costs = [(_costs(one, side, lists), _costs(other, side, lists)) for one, other in rounds]
    names = sorted({name for both in costs for table in both for name in table})
    found = changes(
        [
            [after.get(name, 0.0) - before.get(name, 0.0) for before, after in costs]
            for name in names
        ],
        confidence,
    )
    rows: list[dict[str, Any]] = [
        {
            "name": plain_name(name),
            "category": lists.categories.of_frame(name) or UNCATEGORISED,
            "before": _mean([before.get(name, 0.0) for before, _ in costs]),
            "after": _mean([after.get(name, 0.0) for _, after in costs]),
            "change": change,
        }
        for name, change in zip(names, found, strict=True)
    ]
    rows.sort(key=lambda row: (-row["change"]["mean"], row["name"]))
    (total,) = changes(
        [[other.ns_per_kib(side) - one.ns_per_kib(side) for one, other in rounds]], confidence
    )
    grew = [row for row in rows if row["change"]["mean"] > 0][:_ROWS]
    shrank = [row for row in reversed(rows) if row["change"]["mean"] < 0][:_ROWS]
    return {
        "before": _mean([one.ns_per_kib(side) for one, _ in rounds]),
        "after": _mean([other.ns_per_kib(side) for _, other in rounds]),
        "change": total,
        "saving": negated(total),
        "grew": grew,
        "shrank": shrank,
        "n_changed": len(grew) + len(shrank),
        "rest": _rest(rows, [*grew, *shrank]),
        "n_functions": len(rows),
        "n_sure": sum(row["change"]["sure"] for row in rows),
    }


def _rest(rows: Sequence[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how many functions are not shown, and what they come to together."""
    before, after = (
        sum(row[end] for row in rows) - sum(row[end] for row in shown)
        for end in ("before", "after")
    )
    return {
        "n": len(rows) - len(shown),
        "before": before,
        "after": after,
        "sum": round(after - before, DECIMALS),
    }


def _costs(one: Repetition, side: str, lists: Lists) -> dict[str, float]:
    """Return the CPU time per KiB of each function that works for itself [ns]."""
    stacks = one.stacks[side]
    scale = one.ns_per_kib(side) / sum(stacks.values())
    found: dict[str, float] = {}
    for stack, weight in stacks.items():
        name = _working_function(stack, lists)
        found[name] = found.get(name, 0.0) + weight * scale
    return found


def _working_function(stack: Stack, lists: Lists) -> str:
    """Return the innermost function that does not just work for its caller."""
    for frame in reversed(stack):
        if lists.categories.of_frame(frame) is not None:
            return frame
    return stack[-1]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
