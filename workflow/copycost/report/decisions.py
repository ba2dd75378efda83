"""Who is the fastest, who the cheapest, and how sure that is: by size, and in brief.

In brief, what neighbouring sizes have alike is told once, and what is open is left out.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from copycost.analysis.finding import ANSWERS, Finding, answers_of, read_finding
from copycost.config.testbeds import is_wire
from copycost.wording.filters import impl, join_and, ratio, significant, size
from copycost.wording.markdown import Table, code, tabulate
from copycost.wording.numbers import NBSP
from copycost.wording.values import NONE, VAGUE, at_sizes, with_interval
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


class Span(NamedTuple):
    """Sizes with the same answer, none with another between: who is best, and if that is shown."""

    said: str
    settled: bool
    where: str


def _spans(condition: Mapping[str, Any], aim: str, named: Named) -> list[Span]:
    """Return what is not open of a condition; `aim` is one of `ANSWERS`."""
    rows = condition["decisions"]["rows"]
    answers = [
        (n_bytes, *_of_size([row[aim] for row in of_size], named))
        for n_bytes, of_size in groupby(rows, key=lambda row: row["msg_bytes"])
    ]
    every = [n_bytes for n_bytes, *_ in answers]
    unbroken = [
        Span(said, settled, at_sizes([one[0] for one in same], every))
        for (said, settled), same in groupby(answers, key=lambda one: one[1:])
        if said
    ]
    return _named_once(unbroken)


def _named_once(spans: Iterable[Span]) -> list[Span]:
    """Return neighbours that say the same as one span."""
    return [
        Span(said, settled, join_and(span.where for span in same))
        for (said, settled), same in groupby(spans, key=lambda span: span[:2])
    ]


def _of_size(found: Sequence[Finding | None], named: Named) -> tuple[str, bool]:
    """Return what is said of one size, nothing where it is open, and whether it is settled."""
    known = [one for one in found if one is not None and one.verdict != "open"]
    if len(known) < len(found):
        return "", False
    said = {told(one, named).replace(", alike", ", alike,") for one in known}
    settled = all(one.verdict == "best" for one in known)
    return (said.pop() if len(said) == 1 else "another way with other thread counts"), settled


def _answers(condition: Mapping[str, Any], aim: str) -> list[Finding]:
    return [row[aim] for row in condition["decisions"]["rows"] if row[aim]]


def along(condition: Mapping[str, Any], aim: str, named: Named = code) -> str:
    """Return answers with their sizes: ``two_copy up to 4 KiB; one_copy from 64 KiB``."""
    if not _answers(condition, aim):
        return "not measured"
    return "; ".join(f"{one.said} {one.where}" for one in _spans(condition, aim, named)) or "open"


def _largest(condition: Mapping[str, Any], aim: str) -> tuple[str, str] | None:
    """Return the ratio and the size of the settled answer that is furthest from the baseline.

    It is picked out of many, so its own interval would be too narrow beside it.
    """
    settled = [
        (one.estimate, one.msg_bytes[0])
        for one in _answers(condition, aim)
        if one.verdict == "best" and one.estimate
    ]
    if not settled:
        return None
    value, n_bytes = max(settled, key=lambda one: abs(math.log(one[0])))
    return ratio(value), size(n_bytes)


def _at_most(condition: Mapping[str, Any], aim: str, whose: str) -> str:
    """Return the settled answer that is furthest from the baseline, in brackets, if any."""
    most = _largest(condition, aim)
    return f" ({most[0]} times {whose} at {most[1]})" if most else ""


def brief_table(conditions: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table that has all conditions."""
    rows = []
    for condition in conditions:
        cells = [place_of(condition)]
        for aim in ANSWERS:
            most = _largest(condition, aim)
            cells.append(along(condition, aim, marking(condition)))
            cells.append(" at ".join(most) if most else NONE)
        n = condition["decisions"]["answers"]
        rows.append([*cells, f"{n['n_open']} of {n['n']}" if n["n"] else NONE])
    return ["Where", "Fastest", ">Most", "Cheapest", ">Most", ">Open"], rows


def place_of(condition: Mapping[str, Any], named: Named = code) -> str:
    """Return the name of a condition, and that it is of round trips where it is."""
    return f"{named(condition['slug'])}{', round trips' if condition['is_trip'] else ''}"


def answer_sentence(condition: Mapping[str, Any]) -> str:
    """Return what is settled of a condition as one would say it to a colleague, in Markdown.

    Nothing is said of what was not measured, nor where there was nothing to choose from.
    """
    baseline = impl(condition["decisions"]["baseline"])
    speed = "median time" if condition["is_trip"] else "speed"
    aims = {"fastest": ("the fastest", speed), "cheapest": ("the cheapest in CPU time", "CPU time")}
    left: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    for aim, (words, quantity) in aims.items():
        settled = _named_once(one for one in _spans(condition, aim, impl) if one.settled)
        if settled:
            best = join_and(f"{one.said} {one.where}" for one in settled)
            found[words] = best, _at_most(condition, aim, f"the {quantity} of {baseline}")
        elif any(one.verdict != "alone" for one in _answers(condition, aim)):
            left.append(words)
    ways = {best for best, _ in found.values()}
    if len(found) > len(ways):  # one way is both
        most = "; ".join(text.strip(" ()") for _, text in found.values() if text)
        said = [f"{' and '.join(found)} is {ways.pop()}{most and f' ({most})'}"]
    else:
        said = [f"{words} is {best}{most}" for words, (best, most) in found.items()]
    if left:
        said.append(f"it is open which way is {' and which '.join(left)}")
    return f"On {place_of(condition)}, {'; '.join(said)}." if said else ""


def in_brief(condition: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is told of the fastest and of the cheapest, as plain text."""
    for aim in ANSWERS:
        most = _at_most(condition, aim, condition["decisions"]["baseline"])
        yield f"{aim.capitalize()}: {along(condition, aim, str)}{most}"
