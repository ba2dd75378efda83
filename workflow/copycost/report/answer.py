"""The answer in a few lines: from which size on which way is the fastest, and the cheapest.

What neighbouring sizes have alike is told once. `copycost.report.decisions` has each size.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from copycost.analysis.finding import Finding
from copycost.report.decisions import Named, marking, told
from copycost.wording.filters import impl, join_and, ratio, size
from copycost.wording.markdown import Table, code
from copycost.wording.values import NONE, at_sizes

# What is asked, and of what a ratio is then.
_AIMS = {"fastest": "speed", "cheapest": "CPU time"}
_THREADS = "another way with other thread counts"


class Span(NamedTuple):
    """Sizes with the same answer, and none with another between: who is the best, if it is shown."""

    said: str
    settled: bool
    where: str


def spans(condition: Mapping[str, Any], aim: str, named: Named = code) -> list[Span]:
    """Return what is not open of a condition; `aim` is ``fastest`` or ``cheapest``."""
    answers = [
        (n_bytes, *_answer([row[aim] for row in of_size], named))
        for n_bytes, of_size in groupby(
            condition["decisions"]["rows"], key=lambda row: row["msg_bytes"]
        )
    ]
    every = [n_bytes for n_bytes, *_ in answers]
    unbroken = [
        Span(said, settled, at_sizes([one[0] for one in same], every))
        for (said, settled), same in groupby(answers, key=lambda one: one[1:])
        if said
    ]
    return [
        Span(said, settled, join_and(span.where for span in same))
        for (said, settled), same in groupby(unbroken, key=lambda span: span[:2])
    ]


def _answer(found: Sequence[Finding | None], named: Named) -> tuple[str, bool]:
    """Return what is said of one size, nothing where it is open, and whether it is settled."""
    if any(one is None or one.verdict == "open" for one in found):
        return "", False
    words = list(dict.fromkeys(told(one, named).replace(", alike", ", alike,") for one in found))
    settled = all(one is not None and one.verdict == "best" for one in found)
    return (words[0] if len(words) == 1 else _THREADS), settled


def along(condition: Mapping[str, Any], aim: str, named: Named = code) -> str:
    """Return answers with their sizes: ``two_copy up to 4 KiB; one_copy from 64 KiB``."""
    if not _answers(condition, aim):
        return "not measured"
    found = spans(condition, aim, named)
    return "; ".join(f"{one.said} {one.where}" for one in found) or "open"


def _answers(condition: Mapping[str, Any], aim: str) -> list[Finding]:
    return [row[aim] for row in condition["decisions"]["rows"] if row[aim]]


def largest(condition: Mapping[str, Any], aim: str) -> tuple[float, int] | None:
    """Return the ratio and the size of the settled answer that is furthest from the baseline.

    None without any. It is picked out of many, so its own interval would be too narrow beside it.
    """
    settled = [
        (one.estimate, one.msg_bytes[0])
        for one in _answers(condition, aim)
        if one.verdict == "best" and one.estimate
    ]
    return max(settled, key=lambda one: abs(math.log(one[0])), default=None)


def table(conditions: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table that has all conditions."""
    rows = []
    for condition in conditions:
        cells = [place_of(condition)]
        for aim in _AIMS:
            most = largest(condition, aim)
            cells.append(along(condition, aim, marking(condition)))
            cells.append(NONE if most is None else f"{ratio(most[0])} at {size(most[1])}")
        n = condition["decisions"]["answers"]
        rows.append([*cells, f"{n['n_open']} of {n['n']}" if n["n"] else NONE])
    return ["Where", "Fastest", ">Most", "Cheapest", ">Most", ">Open"], rows


def place_of(condition: Mapping[str, Any], named: Named = code) -> str:
    """Return the name of a condition, and that it is of round trips where it is."""
    return f"{named(condition['slug'])}{', round trips' if condition['is_trip'] else ''}"


def sentence(condition: Mapping[str, Any]) -> str:
    """Return what is settled of a condition as one would say it to a colleague, in Markdown.

    Nothing is said of what was not measured, nor where there was nothing to choose from.
    """
    left: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    for aim, unit in _AIMS.items():
        words = "the cheapest in CPU time" if aim == "cheapest" else "the fastest"
        settled = [one for one in spans(condition, aim, impl) if one.settled]
        if settled:
            best = join_and(f"{one.said} {one.where}" for one in settled)
            what = "median time" if condition["is_trip"] and aim == "fastest" else unit
            found[words] = best, _at_most(condition, aim, what)
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


def lines(condition: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is told of the fastest and of the cheapest, as plain text."""
    for aim in _AIMS:
        yield f"{aim.capitalize()}: {along(condition, aim, str)}{_at_most(condition, aim)}"


def _at_most(condition: Mapping[str, Any], aim: str, of_what: str = "") -> str:
    """Return the settled answer that is furthest from the baseline, in brackets, if there is one.

    In Markdown where it is said `of_what` it is a multiple.
    """
    most, baseline = largest(condition, aim), condition["decisions"]["baseline"]
    if most is None:
        return ""
    whose = f"the {of_what} of {impl(baseline)}" if of_what else baseline
    return f" ({ratio(most[0])} times {whose} at {size(most[1])})"
