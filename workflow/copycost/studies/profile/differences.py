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
from typing import TypeVar

import numpy as np
from scipy import special

from copycost.analysis.json_values import Facts
from copycost.analysis.stats.ratios import holm_levels, standard_error, t_quantile
from copycost.analysis.stats.settings import FloatArray
from copycost.config.conditions import Condition
from copycost.hosts.side import SIDES
from copycost.studies.profile.functions import UNCATEGORISED, Lists, plain_name
from copycost.studies.profile.grid import CellKey, parties_on, slug_of
from copycost.studies.profile.tables import Repetition, Samples

# of all functions, those that change most
_ROWS = 12
# of what it is in the other cell, in every round, or of all CPU time: as good as nothing
_NOTHING = 0.01
# done by the side whose bytes they are
_OF_A_SIDE = "copy"
# of a nanosecond per KiB: what is left below is the rounding of sums
_DECIMALS = 6
# a category, and the side that it is told of, empty where it is of both together
_UNNAMED = (UNCATEGORISED, "")

Pair = tuple[CellKey, CellKey]
"""Two cells that differ in nothing but the implementation."""

Rounds = Sequence[tuple[Repetition, Repetition]]
_Name = TypeVar("_Name", str, tuple[str, str])


def changes(rows: Sequence[FloatArray], confidence: float) -> list[Facts]:
    """Return the mean change of each row of values, shape (n_rounds, 2), after less before.

    Intervals and directions (`grew`, `shrank`, `no change seen`, `observed once`) are corrected for
    the number of rows: each is that by which Holm's method tests it.

    Source
    ------
    Student's t on paired differences; S. Holm, A simple sequentially rejective multiple test
    procedure, Scand. J. Statistics 6 (1979).
    """
    every = [np.round(after - before, _DECIMALS) for before, after in (row.T for row in rows)]
    found: list[Facts] = []
    levels = holm_levels(np.array([*map(_p_value, every)]), 1.0 - confidence)
    for differences, level in zip(every, levels.tolist(), strict=True):
        n, mean = differences.size, float(differences.mean())
        low = high = None
        direction = "observed once"
        if n > 1:
            half = t_quantile(1.0 - level / 2.0, n - 1) * standard_error(differences)
            low, high = mean - half, mean + half
            direction = "grew" if low > 0.0 else "shrank" if high < 0.0 else "no change seen"
        found.append({"mean": mean, "low": low, "high": high, "n": n, "direction": direction})
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


def difference_facts(pair: Pair, rounds: Rounds, lists: Lists, confidence: float) -> Facts:
    """Return what grew and what shrank from the first cell to the second, in a round at least."""
    first, second = pair
    changed = [
        row
        for side in parties_on(first.testbed)
        if all(side in one.samples for both in rounds for one in both)
        for row in _functions(side, rounds, lists, confidence)
    ]
    changed.sort(key=lambda row: (-abs(row["change"]["mean"]), row["side"], row["name"]))
    return {
        "slug": f"{slug_of(first)}_to_{second.implementation}",
        "condition": first.condition,
        "testbed": first.testbed,
        "cells": [slug_of(key) for key in pair],
        "before": first.implementation,
        "after": second.implementation,
        "msg_bytes": first.msg_bytes,
        "n_threads": first.n_threads,
        "n_rounds": len(rounds),
        "sender_only": Condition.from_slug(first.condition).sender_only,
        "accelerator": rounds[0][1].run.accelerator,
        "account": account(rounds, lists, confidence),
        "functions": changed[:_ROWS],
        "n_sure": sum(row["change"]["direction"] in ("grew", "shrank") for row in changed),
    }


def _functions(side: str, rounds: Rounds, lists: Lists, confidence: float) -> list[Facts]:
    """Return all functions of a side; their changes are corrected for their number."""

    def costs(samples: Samples) -> dict[str, float]:
        shares = samples.own(lists.categories.working_frame)
        return {frame: share * samples.ns_per_kib for frame, share in shares.items()}

    rows = _rows([(costs(one.samples[side]), costs(other.samples[side])) for one, other in rounds])
    judged = changes([*rows.values()], confidence)
    return [
        {"side": side, "name": plain_name(frame), **_means(row), "change": change}
        for (frame, row), change in zip(rows.items(), judged, strict=True)
    ]


def account(rounds: Rounds, lists: Lists, confidence: float) -> Facts:
    """Return what grew, what shrank and what is left unexplained from the first cell to the second.

    Means over the rounds [ns per KiB], of both sides together; of the sender alone where nobody
    receives.
    """

    def costs(one: Repetition) -> dict[tuple[str, str], float]:
        found = defaultdict(float, {_UNNAMED: 0.0})
        for side in (side for side in SIDES if side in one.run.cpu_ns):
            cost, samples = one.run.ns_per_kib(side), one.samples.get(side)
            # a side without a sample has used hardly any; what it used no list names
            shares = samples.own(lists.categories.of_stack) if samples else {UNCATEGORISED: 1.0}
            for name, share in shares.items():
                found[name, side if name == _OF_A_SIDE else ""] += share * cost
        return found

    def unsampled_cost(one: Repetition) -> float:
        return sum(one.plain.ns_per_kib(side) for side in SIDES if side in one.plain.cpu_ns)

    tables = [(costs(one), costs(other)) for one, other in rounds]
    totals = np.array([[sum(table.values()) for table in both] for both in tables])
    unsampled = [
        [unsampled_cost(one) for one in both]
        for both in rounds
        if all(one.plain.received_bytes for one in both)
    ]
    rows = _rows(tables)
    unnamed = _means(rows.pop(_UNNAMED))
    tested = [*rows.values(), totals, *([np.array(unsampled)] if unsampled else [])]
    judged = changes(tested, confidence)
    titles = lists.categories.titles
    parts = [
        {
            "title": f"{titles[category]} ({side})" if side else titles[category],
            **_means(row),
            **_decided(row, change, totals),
        }
        for ((category, side), row), change in zip(rows.items(), judged, strict=False)
    ]
    parts.sort(key=lambda part: (-abs(part["change"]["mean"]), part["title"]))
    open_parts = sum(part["change"]["mean"] for part in parts if part["group"] == "open")
    unexplained = open_parts + round(unnamed["after"] - unnamed["before"], _DECIMALS)
    return {
        # all CPU time of the sampled runs; its change with an interval
        **_means(totals),
        "change": judged[len(rows)],
        # by kind of work, the largest change first
        "parts": parts,
        # the sum of the changes of the parts that are open, and of functions that no list names
        "unexplained": round(unexplained, _DECIMALS),
        # the change of all CPU time in the same rounds without sampling; None without such runs
        "unsampled": judged[-1] if unsampled else None,
    }


def _rows(
    tables: Sequence[tuple[Mapping[_Name, float], Mapping[_Name, float]]],
) -> dict[_Name, FloatArray]:
    """Return the values of every name, before and after by round."""
    names = sorted({name for both in tables for table in both for name in table})
    return {
        name: np.array([[table.get(name, 0.0) for table in both] for both in tables])
        for name in names
    }


def _means(row: FloatArray) -> dict[str, float]:
    return dict(zip(("before", "after"), row.mean(axis=0).tolist(), strict=True))


def _decided(row: FloatArray, change: Facts, totals: FloatArray) -> Facts:
    """Return in which group a change belongs: ``grew``, ``shrank`` or ``open``; and the change.

    What is there in one cell, and in every round as good as absent in the other, did change,
    however much it varied where it was; few samples may be there by chance. Of one round, the sign
    decides.
    """

    def only(here: int, there: int) -> bool:
        absent = row[:, there] <= _NOTHING * row[:, here]
        return bool(np.all(absent & (row[:, here] > _NOTHING * totals[:, here])))

    low, high, direction = change["low"], change["high"], change["direction"]
    if only(here=1, there=0):
        direction, low = "grew", None if low is None else max(0.0, low)
    elif only(here=0, there=1):
        direction, high = "shrank", None if high is None else min(0.0, high)
    elif direction == "observed once" and change["mean"]:
        direction = "grew" if change["mean"] > 0.0 else "shrank"
    group = direction if direction in ("grew", "shrank") else "open"
    return {"group": group, "change": {**change, "low": low, "high": high}}
