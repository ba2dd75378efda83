"""What changes from one cell to another, paired by round, in CPU time per KiB.

By function, and as an account by category that adds up. Every sample is the own time of one
category, that of its innermost function that does not just work for its caller. So the categories
of both sides add up to the CPU time that was measured, and their changes to its change. What a
category calls is not part of it: it counts where it is done.

Work on packets is done in whatever task is there, so it is not told apart by sides; copying between
the application and the kernel is always done by the side whose bytes they are, so it is. What is
around sides in guests is not part of the account: a hypervisor's time is the guest's once more.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar

import numpy as np
from scipy import special

from copycost.config.conditions import Condition
from copycost.hosts.side import SIDES
from copycost.stats.ratios import holm_levels, standard_error, t_quantile
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.studies.profile.cell_facts import accelerator_of
from copycost.studies.profile.functions import UNCATEGORISED, Stack, plain_name
from copycost.studies.profile.grid import CellKey, Pair, pair_slug, parties_on, slug_of
from copycost.studies.profile.runs import KIB, Run
from copycost.studies.profile.tables import Lists, Repetition

# of all functions, those that change most
_ROWS = 12
# of what it is in the other cell, in every round, or of all CPU time: as good as nothing
_NOTHING = 0.01
# done by the side whose bytes they are
_OF_A_SIDE = "copy"
DECIMALS = 6
"""Of a nanosecond per KiB: what is left below is the rounding of sums."""

Kind = tuple[str, str]
"""A category, and the side that it is told of, empty where it is of both together."""
_UNNAMED: Kind = (UNCATEGORISED, "")

Rounds = Sequence[tuple[Repetition, Repetition]]
_Row = Sequence[tuple[float, float]]
"""Values before and after, by round."""
_Name = TypeVar("_Name", str, Kind)


class Change(TypedDict):
    """A mean difference paired by round, after less before."""

    mean: float
    low: float | None
    high: float | None
    n: int
    direction: str  # `grew`, `shrank`, `no change seen` by the interval, or `observed once`


def changes(rows: Sequence[_Row], confidence: float) -> list[Change]:
    """Return for each row of values, before and after by round, what may be said of the change.

    Intervals and directions are corrected for the number of rows: each is that by which Holm's
    method tests it.

    Source
    ------
    Student's t on paired differences; S. Holm, A simple sequentially rejective multiple test
    procedure, Scand. J. Statistics 6 (1979).
    """
    every = [np.round([after - before for before, after in row], DECIMALS) for row in rows]
    levels = holm_levels(np.array([*map(_p_value, every)]), 1.0 - confidence)
    found: list[Change] = []
    for differences, level in zip(every, levels.tolist(), strict=True):
        n, mean = differences.size, float(differences.mean())
        low = high = None
        direction = "observed once"
        if n > 1:
            half = t_quantile(1.0 - level / 2.0, n - 1) * standard_error(differences)
            low, high = mean - half, mean + half
            direction = "grew" if low > 0.0 else "shrank" if high < 0.0 else "no change seen"
        found.append(Change(mean=mean, low=low, high=high, n=n, direction=direction))
    return found


def _p_value(differences: FloatArray) -> float:
    if differences.size < 2:
        return math.nan
    mean, error = float(differences.mean()), standard_error(differences)
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * special.stdtr(differences.size - 1, -abs(mean) / error))


def rounds_of(cells: Mapping[CellKey, Sequence[Repetition]], pair: Pair) -> Rounds:
    """Return the repetitions of both that belong together, where both received bytes.

    Where the first is what the second took turns with, that is one repetition, else one round.
    """
    before, after = (
        {one.record["cell"]["rep"]: one for one in cells[key] if one.run.received_bytes}
        for key in pair
    )
    beside = [(one.reference, one) for one in after.values()]
    paired = [(its, one) for its, one in beside if its and its.key == pair[0]]
    return [both for both in paired if both[0].run.received_bytes] or [
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
        if all(side in one.samples for both in rounds for one in both)
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
        "n_sure": sum(row["change"]["direction"] in ("grew", "shrank") for row in changed),
    }


def _functions(side: str, rounds: Rounds, lists: Lists, confidence: float) -> list[dict[str, Any]]:
    """Return all functions of a side; their changes are corrected for their number."""

    def working(stack: Stack) -> str:
        """Return the innermost function that does not just work for its caller."""
        own = (frame for frame in reversed(stack) if lists.categories.of_frame(frame) is not None)
        return next(own, stack[-1])

    def costs(one: Repetition) -> dict[str, float]:
        """Return the CPU time per KiB of each function that works for itself [ns]."""
        samples = one.samples[side]
        scale = samples.ns_per_kib / sum(samples.stacks.values())
        found: dict[str, float] = defaultdict(float)
        for stack, weight in samples.stacks.items():
            found[working(stack)] += weight * scale
        return found

    rows = _rows([(costs(one), costs(other)) for one, other in rounds])
    found = changes([*rows.values()], confidence)
    return [
        {"side": side, "name": plain_name(name), **_means(row), "change": change}
        for (name, row), change in zip(rows.items(), found, strict=True)
    ]


def account(rounds: Rounds, lists: Lists, confidence: float) -> dict[str, Any]:
    """Return what grew, what shrank and what is left unexplained from the first cell to the second.

    Means over the rounds [ns per KiB], of both sides together; of the sender alone where nobody
    receives.
    """
    tables = [(_costs(one), _costs(other)) for one, other in rounds]
    rows = _rows(tables)
    row_of_unnamed = rows.pop(_UNNAMED)
    titles = lists.categories.titles
    totals = [(sum(before.values()), sum(after.values())) for before, after in tables]
    unsampled = _unsampled(rounds)
    tested = [*rows.values(), totals, *([unsampled] if unsampled else [])]
    judged = changes(tested, confidence)
    parts = [
        {
            "title": f"{titles[category]} ({side})" if side else titles[category],
            **_means(row),
            **_decided(row, change, totals),
        }
        for ((category, side), row), change in zip(rows.items(), judged[: len(rows)], strict=True)
    ]
    parts.sort(key=lambda part: (-abs(part["change"]["mean"]), part["title"]))
    unnamed = _means(row_of_unnamed)
    open_parts = [part["change"]["mean"] for part in parts if part["group"] == "open"]
    unexplained = sum(open_parts) + round(unnamed["after"] - unnamed["before"], DECIMALS)
    return {
        # all CPU time of the sampled runs; its change with an interval
        **_means(totals),
        "change": judged[len(rows)],
        # by kind of work, the largest change first
        "parts": parts,
        # the sum of the changes of the parts that are open, and of functions that no list names
        "unexplained": round(unexplained, DECIMALS),
        # the change of all CPU time in the same rounds without sampling; None without such runs
        "unsampled": judged[-1] if unsampled else None,
    }


def _rows(
    tables: Sequence[tuple[Mapping[_Name, float], Mapping[_Name, float]]],
) -> dict[_Name, _Row]:
    """Return the values of every name, before and after by round."""
    names = sorted({name for both in tables for table in both for name in table})
    return {
        name: [(before.get(name, 0.0), after.get(name, 0.0)) for before, after in tables]
        for name in names
    }


def _costs(one: Repetition) -> dict[Kind, float]:
    """Return the own CPU time per KiB of each kind of work, both sides together [ns].

    A side without a sample has used hardly any; what it used no list names.
    """
    found: dict[Kind, float] = defaultdict(float, {_UNNAMED: 0.0})
    for side in SIDES:
        if side not in one.run.cpu_ns:
            continue
        scale = one.run.ns_per_kib(side)
        if side not in one.samples:
            found[_UNNAMED] += scale
            continue
        for name, share in one.samples[side].categories.items():
            if share.own:  # or it only calls others
                found[name, side if name == _OF_A_SIDE else ""] += share.own * scale
    return found


def _decided(row: _Row, change: Change, totals: _Row) -> dict[str, Any]:
    """Return in which group a change belongs: ``grew``, ``shrank`` or ``open``; and the change.

    What is there in one cell, and in every round as good as absent in the other, did change,
    however much it varied where it was; few samples may be there by chance. Of one round, the sign
    decides.
    """

    def only(here: int, there: int) -> bool:
        return all(
            cost[there] <= _NOTHING * cost[here] and cost[here] > _NOTHING * total[here]
            for cost, total in zip(row, totals, strict=True)
        )

    before, after = 0, 1
    low, high, direction = change["low"], change["high"], change["direction"]
    if only(after, before):
        direction, low = "grew", None if low is None else max(0.0, low)
    elif only(before, after):
        direction, high = "shrank", None if high is None else min(0.0, high)
    elif direction == "observed once" and change["mean"]:
        direction = "grew" if change["mean"] > 0.0 else "shrank"
    group = direction if direction in ("grew", "shrank") else "open"
    return {"group": group, "change": {**change, "low": low, "high": high}}


def _unsampled(rounds: Rounds) -> _Row:
    """Return the CPU time per KiB of both sides without sampling [ns], where both were run so."""

    def per_kib(run: Run) -> float:
        return sum(run.cpu_ns.get(side, 0.0) for side in SIDES) / (run.received_bytes / KIB)

    plain = [(one.plain, other.plain) for one, other in rounds]
    return [
        (per_kib(one), per_kib(other))
        for one, other in plain
        if one and one.received_bytes and other and other.received_bytes
    ]


def _means(row: _Row) -> dict[str, float]:
    before, after = zip(*row, strict=True)
    return {"before": sum(before) / len(before), "after": sum(after) / len(after)}
