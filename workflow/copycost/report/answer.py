"""The answer in a few lines: from which size on which way is the fastest, and the cheapest.

What neighbouring sizes have alike is told once. `copycost.report.decisions` has each size.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from copycost.report.decisions import Named, multiple, told
from copycost.report.markdown import Column, code
from copycost.report.results_table import NONE
from copycost.wording.filters import impl, join_and, ratio, size

COLUMNS = [
    Column("Where"),
    Column("Fastest"),
    Column("Most", "right"),
    Column("Cheapest"),
    Column("Most", "right"),
    Column("Open", "right"),
]
_AIMS = (
    ("fastest", "the fastest", "speed"),
    ("cheapest", "the cheapest in CPU time", "CPU time"),
)
_THREADS = "another way with other thread counts"


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring sizes with the same answer.

    Attributes
    ----------
    said
        Who is the best, in words.
    settled
        Whether that is shown.
    first, last
        The smallest and the largest of the sizes [bytes].
    """

    said: str
    settled: bool
    first: int
    last: int


def spans(condition: Mapping[str, Any], aim: str, named: Named = code) -> list[Span]:
    """Return what is not open of a condition; `aim` is ``fastest`` or ``cheapest``."""
    rows = condition["decisions"]["rows"]
    answers = [
        (n_bytes, *_answer([row[aim] for row in of_size], named))
        for n_bytes, of_size in groupby(rows, key=lambda row: int(row["msg_bytes"]))
    ]
    found = []
    for (said, settled), same in groupby(answers, key=lambda one: one[1:]):
        sizes = [one[0] for one in same]
        found += [Span(said, settled, sizes[0], sizes[-1])] if said else []
    return found


def _answer(found: Sequence[Mapping[str, Any] | None], named: Named) -> tuple[str, bool]:
    """Return what is said of one size, nothing where it is open, and whether it is settled."""
    if any(one is None or one["told"] == "open" for one in found):
        return "", False
    words = list(dict.fromkeys(told(one, named) for one in found))
    settled = all(one is not None and one["settled"] for one in found)
    return (words[0] if len(words) == 1 else _THREADS), settled


def along(found: Sequence[Span], every: Sequence[int]) -> str:
    """Return answers with their sizes: ``two_copy up to 4 KiB, one_copy from 64 KiB``.

    Parameters
    ----------
    every
        All sizes, ascending [bytes].
    """
    return ", ".join(f"{one.said} {_where(one, every)}" for one in found) or "open"


def _where(span: Span, every: Sequence[int]) -> str:
    if (span.first, span.last) == (every[0], every[-1]):
        return "at every size"
    if span.first == span.last:
        return f"at {size(span.first)}"
    if span.first == every[0]:
        return f"up to {size(span.last)}"
    if span.last == every[-1]:
        return f"from {size(span.first)}"
    return f"from {size(span.first)} to {size(span.last)}"


def largest(condition: Mapping[str, Any], aim: str) -> Mapping[str, Any] | None:
    """Return the row whose settled answer is furthest from the baseline; None without any."""
    rows = [
        row
        for row in condition["decisions"]["rows"]
        if row[aim] and row[aim]["settled"] and row[aim]["ratio"]
    ]
    return max(rows, key=lambda row: abs(math.log(row[aim]["ratio"]["value"])), default=None)


def n_open(condition: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many answers of a condition are neither settled nor alike, and how many it has."""
    rows = condition["decisions"]["rows"]
    answers = [row[aim] for row in rows for aim in ("fastest", "cheapest") if row[aim]]
    compared = [one for one in answers if one["told"] != "alone"]
    return sum(not one["settled"] and one["told"] != "alike" for one in compared), len(compared)


def rows(conditions: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the rows of the table that has all conditions, in Markdown."""
    table = []
    for condition in conditions:
        cells = [place_of(condition)]
        for aim in ("fastest", "cheapest"):
            cells += [along(spans(condition, aim), _sizes(condition)), _most(condition, aim)]
        left, of_all = n_open(condition)
        table.append([*cells, f"{left} of {of_all}"])
    return table


def _most(condition: Mapping[str, Any], aim: str) -> str:
    row = largest(condition, aim)
    return NONE if row is None else f"{multiple(row[aim])} at {size(row['msg_bytes'])}"


def _sizes(condition: Mapping[str, Any]) -> list[int]:
    return sorted({int(row["msg_bytes"]) for row in condition["decisions"]["rows"]})


def place_of(condition: Mapping[str, Any], named: Named = code) -> str:
    """Return the name of a condition, and that it is of round trips where it is."""
    return f"{named(condition['slug'])}{', round trips' if condition['is_trip'] else ''}"


def sentence(condition: Mapping[str, Any]) -> str:
    """Return what is settled of a condition as one would say it to a colleague, in Markdown."""
    said = []
    for aim, words, unit in _AIMS:
        settled = [one for one in spans(condition, aim, impl) if one.settled]
        if not settled:
            said.append(f"it is open which way is {words}")
            continue
        best = join_and(f"{one.said} {_where(one, _sizes(condition))}" for one in settled)
        row = largest(condition, aim)
        most = ""
        if row is not None:
            found = row[aim]["ratio"]
            most = (
                f" ({ratio(found['value'])} times the {unit} of"
                f" {impl(condition['decisions']['baseline'])} at {size(row['msg_bytes'])})"
            )
        said.append(f"{words} is {best}{most}")
    return f"On {place_of(condition)}, {'; '.join(said)}."


def lines(condition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is told of the fastest and of the cheapest, each with its label, as plain text."""
    for aim in ("fastest", "cheapest"):
        found = spans(condition, aim, str)
        row = largest(condition, aim)
        most = ""
        if row is not None:
            times = ratio(row[aim]["ratio"]["value"])
            baseline = condition["decisions"]["baseline"]
            most = f" ({times} times {baseline} at {size(row['msg_bytes'])})"
        yield aim, along(found, _sizes(condition)) + most
