"""The decision tables as plain text of 80 columns, for the terminal."""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from copycost.report.decisions import COPIED, multiple, price, row_name, told
from copycost.wording.numbers import NBSP
from copycost.wording.words import one_line

WIDTH = 80
_WAYS = 26
"""Columns of the names of ways, which go on in the next line."""


def decision_lines(
    condition: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], scene: str
) -> Iterator[str]:
    """Yield the lines of a condition's table: what it is about, then two lines for each row.

    Parameters
    ----------
    condition
        As of `copycost.report.decisions.decided_conditions`.
    rows
        Those of its rows that are told.
    scene
        What the condition is, in Markdown without references.
    """
    yield from wrapped(scene)
    unit = "µs" if condition["is_trip"] else "CPUs"
    yield from _lines("", "", "", f"times {condition['decisions']['baseline']}", unit)
    for row in rows:
        size, _, threads = row_name(row, condition).partition(", ")
        fastest, cheapest = (row[name] for name in ("fastest", "cheapest"))
        yield from _lines(size, "fastest", told(fastest, _named(condition)), multiple(fastest), "")
        if cheapest:
            names = told(cheapest, _named(condition))
            yield from _lines(threads, "cheapest", names, multiple(cheapest), price(row, condition))


def _lines(row: str, which: str, ways: str, ratio: str, cost: str) -> Iterator[str]:
    first, *more = textwrap.wrap(ways, _WAYS) or [""]
    cells = f"{row:<9} {which:<8} {first:<{_WAYS}} {ratio:>19} {cost:>13}"
    for line in (cells, *(f"{'':19}{names}" for names in more)):
        yield line.replace(NBSP, " ").rstrip()


def _named(condition: Mapping[str, Any]) -> Callable[[str], str]:
    return lambda way: way + (COPIED if condition["labels"].get(way) else "")


def wrapped(markdown: str) -> list[str]:
    """Return sentences of a template, which hold no reference, as lines of plain text."""
    plain = one_line(markdown).replace(f"\\{COPIED}", COPIED).replace("**", "")
    return [line.replace(NBSP, " ") for line in textwrap.wrap(plain, WIDTH)]
