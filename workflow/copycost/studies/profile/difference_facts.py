"""What changes from one cell to another: by function, paired by round, in CPU time per KiB."""

from collections.abc import Mapping, Sequence
from typing import Any

from copycost.config.conditions import Condition
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.account import Rounds, account
from copycost.studies.profile.cell_facts import accelerator_of
from copycost.studies.profile.changes import changes
from copycost.studies.profile.functions import Stack, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.names import Pair, pair_slug, parties_on, slug_of
from copycost.studies.profile.shares import Lists
from copycost.studies.profile.tables import Repetition

# of all functions, those that change most
_ROWS = 12


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
    changed = [
        row
        for side in parties_on(first.testbed)
        if all(side in one.shares for both in rounds for one in both)
        for row in _functions(side, rounds, lists, settings.confidence)
    ]
    changed.sort(key=lambda row: (-abs(row["change"]["mean"]), row["side"], row["name"]))
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
        "accelerator": accelerator_of([other for _, other in rounds]),
        "account": account(rounds, lists, settings.confidence),
        "functions": changed[:_ROWS],
        "n_sure": sum(row["change"]["sure"] for row in changed),
    }


def _functions(side: str, rounds: Rounds, lists: Lists, confidence: float) -> list[dict[str, Any]]:
    """Return all functions of a side; Holm's correction is for their number."""
    costs = [(_costs(one, side, lists), _costs(other, side, lists)) for one, other in rounds]
    names = sorted({name for both in costs for table in both for name in table})
    found = changes(
        [
            [after.get(name, 0.0) - before.get(name, 0.0) for before, after in costs]
            for name in names
        ],
        confidence,
    )
    return [
        {
            "side": side,
            "name": plain_name(name),
            "before": _mean([before.get(name, 0.0) for before, _ in costs]),
            "after": _mean([after.get(name, 0.0) for _, after in costs]),
            "change": change,
        }
        for name, change in zip(names, found, strict=True)
    ]


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
