"""What a difference in CPU time per byte is made of: an account by category that adds up.

Every sample is the own time of one category, that of its innermost function that does not just work
for its caller. So the categories of both sides add up to the CPU time that was measured, and their
changes to its change. What a category calls is not part of it: it counts where it is done.

Work on packets is done in whatever task is there, so it is not told apart by sides; copying between
the application and the kernel is always done by the side whose bytes they are, so it is. What is
around sides in guests is not part of it: a hypervisor's time is the guest's once more.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from copycost.hosts.side import SIDES
from copycost.studies.profile.changes import Change, changes
from copycost.studies.profile.functions import UNCATEGORISED
from copycost.studies.profile.runs import Run
from copycost.studies.profile.shares import Lists
from copycost.studies.profile.tables import KIB, Repetition

# of what it is in the other cell, in every round: as good as nothing
_NOTHING = 0.01
# done by the side whose bytes they are
_OF_A_SIDE = "copy"
DECIMALS = 6
"""Of a nanosecond per KiB: what is left below is the rounding of sums."""

Kind = tuple[str, str]
"""A category, and the side that it is told of, empty where it is of both together."""
_UNNAMED: Kind = (UNCATEGORISED, "")

Rounds = Sequence[tuple[Repetition, Repetition]]


def account(rounds: Rounds, lists: Lists, confidence: float) -> dict[str, Any]:
    """Return what grew, what shrank and what is left unexplained from the first cell to the second.

    Means over the rounds [ns per KiB], of both sides together; of the sender alone where nobody
    receives.
    """
    tables = [(_costs(one), _costs(other)) for one, other in rounds]
    titles = {one.name: one.title for one in lists.categories.all}
    names = sorted({name for both in tables for table in both for name in table} - {_UNNAMED})
    rows = {
        name: [(before.get(name, 0.0), after.get(name, 0.0)) for before, after in tables]
        for name in (*names, _UNNAMED)
    }
    found = changes([_differences(rows[name]) for name in names], confidence)
    parts = [
        _part(_title(name, titles), rows[name], change)
        for name, change in zip(names, found, strict=True)
    ]
    parts.sort(key=lambda part: (-abs(part["change"]["mean"]), part["title"]))
    unnamed = _part("", rows[_UNNAMED], None)
    unnamed["sum"] = round(unnamed["after"] - unnamed["before"], DECIMALS)
    open_parts = [part["change"]["mean"] for part in parts if part["group"] == "open"]
    totals = [(sum(before.values()), sum(after.values())) for before, after in tables]
    (total,) = changes([_differences(totals)], confidence)
    return {
        # all CPU time of the sampled runs; its change with an interval
        "before": _mean(before for before, _ in totals),
        "after": _mean(after for _, after in totals),
        "change": total,
        # by kind of work: title, before, after, change and `group`, which is ``grew``, ``shrank``
        # or ``open``; the largest change first. Each part's interval is for itself; of one round,
        # the sign decides. What is there in one cell and in every round as good as absent in the
        # other did change, however much it varied where it was.
        "parts": parts,
        "unnamed": unnamed,  # functions that no list names: before, after, `sum`
        "n_open": len(open_parts),
        # the sum of the changes of the parts that are open, and of those functions; `n_open` parts
        "unexplained": round(sum(open_parts) + unnamed["sum"], DECIMALS),
        # the change of all CPU time in the same rounds without sampling; None without such runs
        "unsampled": _unsampled(rounds, confidence),
    }


def _title(kind: Kind, titles: Mapping[str, str]) -> str:
    category, side = kind
    return f"{titles[category]} ({side})" if side else titles[category]


def _costs(one: Repetition) -> dict[Kind, float]:
    """Return the own CPU time per KiB of each kind of work, both sides together [ns].

    A side without a sample has used hardly any; what it used no list names.
    """
    found = {_UNNAMED: 0.0}
    run = one.record["sampled"]
    assert run is not None
    for side in SIDES:
        if side not in run["sides"]:
            continue
        scale = one.ns_per_kib(side)
        if side not in one.shares:
            found[_UNNAMED] += scale
            continue
        for name, share in one.shares[side].categories.items():
            if not share.own:
                continue  # it only calls others
            kind = (name, side if name == _OF_A_SIDE else "")
            found[kind] = found.get(kind, 0.0) + share.own * scale
    return found


def _part(title: str, row: Sequence[tuple[float, float]], change: Change | None) -> dict[str, Any]:
    """Return one category: what it was, what it is, and in which group its change belongs."""
    part = {
        "title": title,
        "before": _mean(before for before, _ in row),
        "after": _mean(after for _, after in row),
    }
    return part if change is None else {**part, **_decided(row, change)}


def _decided(row: Sequence[tuple[float, float]], change: Change) -> dict[str, Any]:
    if all(before <= _NOTHING * after and after for before, after in row):
        low = None if change["low"] is None else max(0.0, change["low"])
        return {"group": "grew", "change": {**change, "low": low}}
    if all(after <= _NOTHING * before and before for before, after in row):
        high = None if change["high"] is None else min(0.0, change["high"])
        return {"group": "shrank", "change": {**change, "high": high}}
    direction = change["direction"]
    if direction == "observed once" and change["mean"]:
        direction = "grew" if change["mean"] > 0.0 else "shrank"
    group = direction if direction in ("grew", "shrank") else "open"
    return {"group": group, "change": change}


def _unsampled(rounds: Rounds, confidence: float) -> Change | None:
    pairs = []
    for both in rounds:
        runs = [one.record["plain"] for one in both]
        costs = [_per_kib(run) for run in runs if run is not None and run["received_bytes"]]
        if len(costs) == len(both):
            pairs.append((costs[0], costs[1]))
    return changes([_differences(pairs)], confidence)[0] if pairs else None


def _per_kib(run: Run) -> float:
    """Return the CPU time per KiB of both sides of a run [ns]."""
    both = (run["sides"][side]["cpu_ns"] for side in SIDES if side in run["sides"])
    return sum(both) / (run["received_bytes"] / KIB)


def _differences(row: Iterable[tuple[float, float]]) -> list[float]:
    return [round(after - before, DECIMALS) for before, after in row]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
