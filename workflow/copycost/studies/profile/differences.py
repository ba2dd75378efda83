"""What changes from one cell to another, paired by round, in CPU time per KiB.

By function, and as an account by category that adds up. Every sample is the own time of one
category, that of its innermost function that does not just work for its caller. So the categories
of both sides add up to the CPU time that was measured, and their changes to its change. What a
category calls is not part of it: it counts where it is done.

Work on packets is done in whatever task is there, so it is not told apart by sides; copying between
the application and the kernel is always done by the side whose bytes they are, so it is. What is
around sides in guests is not part of the account: a hypervisor's time is the guest's once more.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.stats.estimates import mean_estimate
from copycost.analysis.stats.ratios import Direction, holm_levels, paired_ratio
from copycost.analysis.stats.settings import FloatArray, StatisticsSettings
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
_ALL, _PLAIN = "all", "all without sampling"
_DIRECTIONS = {Direction.ABOVE: "grew", Direction.BELOW: "shrank"}

Pair = tuple[CellKey, CellKey]
"""Two cells that differ in nothing but the implementation."""

Rounds = Sequence[tuple[Repetition, Repetition]]


def changes(rows: Mapping[Any, FloatArray], confidence: float) -> dict[Any, Facts]:
    """Return by name the means of values, shape (n_rounds, 2), before and after, and their change.

    Intervals and directions (`grew`, `shrank`, `no difference seen`, `observed once`) are corrected
    for the number of rows: each is that by which Holm's method tests it.

    Source
    ------
    Student's t on paired differences; S. Holm, A simple sequentially rejective multiple test
    procedure, Scand. J. Statistics 6 (1979).
    """
    every = [np.round(row[:, 1] - row[:, 0], _DECIMALS) for row in rows.values()]
    # how sure a mean is off 0 does not depend on what it is the logarithm of
    p_values = np.array([paired_ratio(one, confidence).p_value for one in every])
    levels = holm_levels(p_values, 1.0 - confidence).tolist()
    found = {}
    for (name, row), differences, level in zip(rows.items(), every, levels, strict=True):
        before, after = row.mean(axis=0).tolist()
        direction = paired_ratio(differences, 1.0 - level).direction
        change: Facts = {
            **mean_estimate(differences, StatisticsSettings(1.0 - level)),
            "direction": _DIRECTIONS.get(direction, str(direction)),
        }
        found[name] = {"before": before, "after": after, "change": change}
    return found


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
    changed.sort(key=lambda row: (-abs(row["change"]["value"]), row["side"], row["name"]))
    return {
        **first._asdict(),
        "slug": f"{slug_of(first)}_to_{second.implementation}",
        "cells": [slug_of(key) for key in pair],
        "before": first.implementation,
        "after": second.implementation,
        "n_rounds": len(rounds),
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

    rows = _rows([costs(one.samples[side]) for both in rounds for one in both])
    return [
        {"side": side, "name": plain_name(frame), **found}
        for frame, found in changes(rows, confidence).items()
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

    tables = [costs(one) for both in rounds for one in both]
    totals = np.array([sum(table.values()) for table in tables]).reshape(-1, 2)
    unsampled = [
        [unsampled_cost(one) for one in both]
        for both in rounds
        if all(one.plain.received_bytes for one in both)
    ]
    rows = _rows(tables)
    unnamed = rows.pop(_UNNAMED)
    tested = {**rows, _ALL: totals, **({_PLAIN: np.array(unsampled)} if unsampled else {})}
    judged = changes(tested, confidence)
    titles = lists.categories.titles
    parts = [
        {
            "title": f"{titles[category]} ({side})" if side else titles[category],
            **_decided(row, judged[category, side]["change"], totals),
        }
        for (category, side), row in rows.items()
    ]
    parts.sort(key=lambda part: (-abs(part["change"]["value"]), part["title"]))
    open_parts = sum(part["change"]["value"] for part in parts if part["group"] == "open")
    before, after = unnamed.mean(axis=0).tolist()
    return {
        # all CPU time of the sampled runs; its change with an interval
        **judged[_ALL],
        # by kind of work, the largest change first
        "parts": parts,
        # the sum of the changes of the parts that are open, and of functions that no list names
        "unexplained": round(open_parts + round(after - before, _DECIMALS), _DECIMALS),
        # the change of all CPU time in the same rounds without sampling; None without such runs
        "unsampled": judged[_PLAIN]["change"] if unsampled else None,
    }


def _rows(tables: Sequence[Mapping[Any, float]]) -> dict[Any, FloatArray]:
    """Return the values of every name, before and after by round; so are the tables in turns."""
    columns = pd.DataFrame(tables).fillna(0.0).sort_index(axis=1)
    return {name: column.to_numpy().reshape(-1, 2) for name, column in columns.items()}


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
    elif direction == "observed once" and change["value"]:
        direction = "grew" if change["value"] > 0.0 else "shrank"
    group = direction if direction in ("grew", "shrank") else "open"
    return {"group": group, "change": {**change, "low": low, "high": high}}
