"""What changes from one cell to another: by function, paired by round, in CPU time per KiB."""

from collections.abc import Mapping, Sequence
from typing import Any

from copycost.grid.conditions import Condition
from copycost.stats.settings import StatisticsSettings
from copycost.studies.profile.cell_facts import copied_share
from copycost.studies.profile.changes import Change, changes, negated
from copycost.studies.profile.functions import UNCATEGORISED, Stack, plain_name
from copycost.studies.profile.grid import CellKey
from copycost.studies.profile.names import SIDES, Pair, difference_figure, pair_slug, slug_of
from copycost.studies.profile.shares import Lists
from copycost.studies.profile.tables import Repetition

_ROWS = 8
# what only zero-copy does, and what it is to spare: everywhere, and in the sender
_PRICE = ("pinning", "notification", "deferred_copy")
_SPARED = ("user_copy", "copy")
# of what it was, in every round: as good as nothing
_GONE = 0.01

Rounds = Sequence[tuple[Repetition, Repetition]]


def rounds_of(cells: Mapping[CellKey, Sequence[Repetition]], pair: Pair) -> Rounds:
    """Return the repetitions of both that belong to the same round, where both received bytes."""
    before, after = (
        {one.record["cell"]["rep"]: one for one in cells[key] if one.received_bytes} for key in pair
    )
    return [(before[rep], after[rep]) for rep in sorted(before.keys() & after.keys())]


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
            }
            for side in SIDES
            if all(side in one.shares for both in rounds for one in both)
        },
        "copied_share": copied_share([other for _, other in rounds]),
        "price": _price(rounds, lists, settings.confidence),
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
        "n_functions": len(rows),
        "n_sure": sum(row["change"]["sure"] for row in rows),
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


def _price(rounds: Rounds, lists: Lists, confidence: float) -> dict[str, Any] | None:
    """Return what only the second cell does, and what of the first it spares; both sides.

    Means over the rounds, so that they add up. None where the second does none of it.
    """
    paid_for = [_innermost_costs(other, _PRICE, SIDES, lists) for _, other in rounds]
    extra = {name: [costs[name] for costs in paid_for] for name in _PRICE}
    if not any(any(values) for values in extra.values()):
        return None
    copying = [
        tuple(sum(_innermost_costs(run, _SPARED, ("sender",), lists).values()) for run in both)
        for both in rounds
    ]
    spared = [before - after for before, after in copying]
    paid = [sum(values) for values in zip(*extra.values(), strict=True)]
    totals = [sum(other.ns_per_kib(side) for side in other.shares) for _, other in rounds]
    balance = [a - b for a, b in zip(paid, spared, strict=True)]
    all_paid, all_spared, all_balance = changes([paid, spared, balance], confidence)
    if all(before > 0.0 and after <= _GONE * before for before, after in copying):
        # What is not there any more was spared, however much it varied while it was there.
        all_spared = _no_less_than_nothing(all_spared)
        if len(rounds) > 1:
            all_spared["direction"] = "grew"
    parts: list[dict[str, Any]] = [
        {
            "name": name,
            "cost": _no_less_than_nothing(changes([values], confidence)[0]),
            "share": _mean([a / b for a, b in zip(values, totals, strict=True)]),
            "in_every_round": all(values),
        }
        for name, values in extra.items()
        if any(values)
    ]
    parts.sort(key=lambda part: -float(part["cost"]["mean"]))
    return {
        "parts": parts,
        "paid": _no_less_than_nothing(all_paid),
        "spared": all_spared,
        "spared_once": all_spared["direction"] == "observed once" and all_spared["mean"] > 0.0,
        "balance": all_balance,
        "gain": negated(all_balance),
    }


def _no_less_than_nothing(cost: Change) -> Change:
    """Return a cost whose interval holds nothing below 0."""
    return {**cost, "low": None if cost["low"] is None else max(0.0, cost["low"])}


def _innermost_costs(
    one: Repetition, names: Sequence[str], sides: Sequence[str], lists: Lists
) -> dict[str, float]:
    """Return the CPU time per KiB of some categories, each with all that it calls [ns].

    A sample that goes through several of them counts once, for the innermost: the deferred copy
    that a notification's function calls is a copy.
    """
    found = dict.fromkeys(names, 0.0)
    for side in sides:
        if side not in one.shares:
            continue
        stacks = one.stacks[side]
        scale = one.ns_per_kib(side) / sum(stacks.values())
        for stack, weight in stacks.items():
            inside = (lists.categories.of_frame(frame) for frame in reversed(stack))
            name = next((category for category in inside if category in found), None)
            if name is not None:
                found[name] += weight * scale
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
