"""The decision tables in words: who is the fastest, who the cheapest, and how sure that is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from copycost.analysis.finding import ANSWERS, Finding, answers_of, read_finding
from copycost.config.testbeds import is_wire
from copycost.wording.filters import impl, join_and, significant, size
from copycost.wording.markdown import Table, code, tabulate
from copycost.wording.numbers import NBSP
from copycost.wording.values import NONE, VAGUE, with_interval
from copycost.wording.words import plural

COPIED = "*"
"""The mark of a way that asks for no copy where the kernel copies."""

_FEW = 3
"""So many ways are named; more are counted."""

Named = Callable[[str], str]
"""Sets the name of a way."""


def decided_conditions(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the conditions with a decision table, those of the round trips last.

    Of either, those over the network to another machine come first. Each has ``is_trip``, which
    tells what its table is of, next to the keys that it has anyway, and a `Finding` for each answer
    of its table. Round trips of which no two ways were measured have a table only where there is no
    other.
    """
    found = [_read(facts["conditions"][slug], False) for slug in facts["measured_conditions"]]
    trips = facts["round_trips"]["conditions"] if facts["round_trips"] else []
    for one in [_read(trip, True) for trip in trips if trip["n_measured"]]:
        compared = any(answer.verdict != "alone" for answer in answers_of(one["decisions"]))
        if compared or not facts["measured_conditions"]:
            found.append(one)
    return sorted(found, key=lambda one: (one["is_trip"], not is_wire(one["testbed"])))


def _read(condition: Mapping[str, Any], is_trip: bool) -> Mapping[str, Any]:
    def rows(of: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            {**row, **{one: read_finding(row[one]) for one in ANSWERS if row[one]}}
            for row in of["rows"]
        ]

    said = condition["decisions"]
    by_threads = [{**one, "rows": rows(one)} for one in said["by_threads"]]
    decisions = {**said, "rows": rows(said), "by_threads": by_threads}
    return {**condition, "is_trip": is_trip, "decisions": decisions}


def table(condition: Mapping[str, Any]) -> Table:
    """Return a condition's table: the fastest and the cheapest of each size, and by how much."""
    trip, named = condition["is_trip"], marking(condition)
    return tabulate(
        condition["decisions"]["rows"],
        {
            "Message": lambda row: row_name(row, condition),
            "Fastest": lambda row: with_next(row["fastest"], named),
            ">Median time" if trip else ">Speed": lambda row: multiple(row["fastest"]),
            "Cheapest": lambda row: with_next(row["cheapest"], named),
            ">CPU time": lambda row: multiple(row["cheapest"]),
            ">µs" if trip else ">CPUs": lambda row: price(row, condition),
        },
    )


def marking(condition: Mapping[str, Any]) -> Named:
    """Return what sets the name of a way, with the mark `COPIED` where the kernel copied."""
    return lambda way: code(way) + (f"\\{COPIED}" if condition["labels"].get(way) else "")


def marked_ways(condition: Mapping[str, Any]) -> list[str]:
    """Return the ways that some answer of a table names and that bear the mark `COPIED`."""
    named = {way for answer in answers_of(condition["decisions"]) for way in answer.ways}
    return [way for way, label in condition["labels"].items() if label and way in named]


def row_name(row: Mapping[str, Any], condition: Mapping[str, Any]) -> str:
    """Return what a row is about: its size, its threads if not all, and what was not measured."""
    parts = [size(row["msg_bytes"])]
    if row["n_threads"] != condition["decisions"]["n_threads"]:
        parts.append(plural(row["n_threads"][0], "thread").replace(" ", NBSP))
    if row["missing"]:
        parts.append(f"no {join_and(map(impl, row['missing']), 'or')}")
    return ", ".join(parts)


def told(found: Finding | None, named: Named) -> str:
    """Return who is the best, in words that say how sure that is."""
    if found is None:
        return NONE
    ways = [named(way) for way in found.ways]
    if len(ways) > _FEW:
        ways = [*ways[: _FEW - 1], "others"]
    names = join_and(ways, "or")
    match found.verdict:
        case "unsure":
            return f"likely {names}"
        case "alike":
            return f"{names}, alike"
        case "once":
            return f"{names}, seen once"
        case "alone":
            return f"only {names}"
    return names


def with_next(found: Finding | None, named: Named) -> str:
    """Return who is the best, and what comes next, whose ratio is told, if that is the baseline."""
    who = told(found, named)
    return f"{who}, then {named(found.reasons[0].subject)}" if found and found.reasons else who


def multiple(found: Finding | None) -> str:
    """Return a ratio to the baseline with its interval; of the baseline, that of the next best."""
    if found is None:
        return NONE
    of = found.reasons[0] if found.reasons else found
    if of.estimate is None:
        return "1"
    said = with_interval(of.estimate, of.low, of.high)
    return VAGUE if said.endswith(f"({VAGUE})") else said


def price(row: Mapping[str, Any], condition: Mapping[str, Any]) -> str:
    """Return what the cheapest way costs over the thread counts: CPUs, or µs of a round trip."""
    found = row["price"]
    if found is None:
        return NONE
    scale = 1e-3 if condition["is_trip"] else 1.0
    low, high = (significant(scale * found[end], 2) for end in ("low", "high"))
    return low if low == high else f"{low} to {high}"


def baseline_of(conditions: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the baseline that all conditions share; None where they have several."""
    found = {condition["decisions"]["baseline"] for condition in conditions}
    return str(found.pop()) if len(found) == 1 else None
