# ruff: noqa: ANN401 - values of facts are of any kind
"""Where printed numbers come from: values that carry their source, and what was printed of them.

A value of a file of facts is wrapped when the report is filled, and stays the number that it is: a
`float` or an `int` for whoever computes with it. Scaled or shifted by a constant, or added to
another of its file, it keeps its source as a formula; what else is made of several values has none.
Whatever form prints one is noted, and its digits become characters that no other text has, so that
digits which are left over are of numbers without a source; one that is spelt out is noted as such.
"""

import csv
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec

P = ParamSpec("P")

_SHORTEST, _MOST_SOURCES = 3, 3

_DIGITS, _MARKED = "0123456789", "".join(map(chr, range(0xE000, 0xE00A)))  # for private use
_MARK, _UNMARK = str.maketrans(_DIGITS, _MARKED), str.maketrans(_MARKED, _DIGITS)
# One behind a letter is of a name: L1d, p50, flame_veth_65536.svg.
_NUMBER = re.compile("(?<![A-Za-z_\\d.])\N{MINUS SIGN}?\\d(?:[\\d,]*\\d)?(?:\\.\\d+)?", re.ASCII)
# times, labels, widths, percentiles by name, what the page's script reads
_NO_TEXT = re.compile(
    r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?|[{@](?:#|fig-|tbl-|sec-)[\w-]+|width=\d+%|\d+th\b"
    r"|```\{=html\}.*?```",
    re.DOTALL | re.ASCII,
)


class Note(NamedTuple):
    """A printed number: its text, its value, and the file and place of that value.

    What no form printed, or one for a value without a source, has neither value nor source.
    """

    printed: str
    value: float | None
    source: str


_notes: dict[Note, None] | None = None


@contextmanager
def noting() -> Iterator[dict[Note, None]]:
    """Note what is printed in the block; each only once, in the order of printing."""
    global _notes
    before, _notes = _notes, {}
    try:
        yield _notes
    finally:
        _notes = before


def _operator(sign: str, compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return an operator whose result has the formula as its source.

    The other value is a constant; one that is added or taken away may also be of the same file.
    """

    def operate(value: "_Sourced", other: Any) -> Any:
        result = compute(_plain(value), _plain(other))
        if (sign in "*/" and other == 1) or (sign in "+-" and other == 0):
            return sourced(result, value.source)
        if sign in "+-" and isinstance(other, _Sourced):
            file, _, places = other.source.partition(": ")
            terms = places.split(" + ")
            if value.source.startswith(f"{file}: ") and not any(" " in term for term in terms):
                formula = "".join([value.source, *(f" {sign} {term}" for term in terms)])
                return sourced(result, formula)
        if type(other) in (int, float) and _is_constant(other):
            return sourced(result, f"{value.source} {sign} {other!r}")
        return result

    return operate


def _is_constant(number: float) -> bool:
    """Tell a factor between units, or the whole of a share, from what was computed."""
    if number in (-1, 1, 8, 60, 3600):
        return True
    return number > 0 and any(base ** round(math.log(number, base)) == number for base in (2, 10))


class _Sourced:
    """What float and int have in common here."""

    source: str

    def __str__(self) -> str:
        return _noted(repr(self), self)

    def __format__(self, spec: str) -> str:
        return _noted(format(_plain(self), spec), self)

    __mul__ = __rmul__ = _operator("*", operator.mul)
    __truediv__ = _operator("/", operator.truediv)
    __add__ = __radd__ = _operator("+", operator.add)
    __sub__ = _operator("-", operator.sub)
    __rsub__ = _operator("from", lambda value, other: other - value)

    def __neg__(self) -> Any:
        return self * -1

    def __abs__(self) -> Any:
        return -self if _plain(self) < 0 else self


class SourcedFloat(_Sourced, float):
    """A number that knows its source."""


class SourcedInt(_Sourced, int):
    """A whole one."""


class SourcedList(list[Any]):
    """A list whose length has a source."""

    source: str


def number_of(items: Sequence[Any]) -> int:
    """Return how many there are; of a list of facts, with its source."""
    n = len(items)
    if isinstance(items, SourcedList):
        n = sourced(n, f"{items.source}.length")
    return n


def sourced(value: Any, source: str) -> Any:
    """Return a number with its source; whatever is no number as it is."""
    kind = {float: SourcedFloat, int: SourcedInt}.get(type(value))
    if kind is None:
        return value
    found = kind(value)
    found.source = source
    return found


def with_sources(content: Any, file: str) -> Any:
    """Return the content of a JSON file, whose numbers carry the file and their place in it."""

    def look(value: Any, place: str) -> Any:
        if isinstance(value, dict):
            return {key: look(part, f"{place}.{key}") for key, part in value.items()}
        if isinstance(value, list):
            items = SourcedList(look(part, f"{place}.{n}") for n, part in enumerate(value))
            items.source = f"{file}: {place[1:]}"
            return items
        return sourced(value, f"{file}: {place[1:]}")

    return look(content, "")


def prints(
    form: Callable[Concatenate[Any, P], str],
) -> Callable[Concatenate[Any, P], str]:
    """Have a function that prints its first argument note what it printed."""

    @wraps(form)
    def print_and_note(value: Any, /, *args: P.args, **kwargs: P.kwargs) -> str:
        return _noted(form(_plain(value), *args, **kwargs), value)

    return print_and_note


def write_numbers(notes: dict[Note, None], path: Path) -> None:
    """Write what was printed: text, value and source, a row each."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(Note._fields)
        rows.writerows(notes)


def marked(text: str) -> str:
    """Return a text whose numbers need no source, with other characters for digits."""
    return text.translate(_MARK)


def without_marks(text: str, notes: dict[Note, None]) -> str:
    """Return a text as it is to be read, and note the numbers of it that no form printed."""
    for number in numbers_in(_NO_TEXT.sub("", text)):
        notes[Note(number, None, "")] = None
    return text.translate(_UNMARK)


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, as they are written there."""
    return _NUMBER.findall(text)


def sources_by_text(notes: Iterable[Note]) -> dict[str, list[str]]:
    """Return where printed texts come from: several sources where several values read so.

    Not of texts that many values read as, nor of short ones, which also stand for other things.
    """
    found: dict[str, list[str]] = {}
    for note in notes:
        if note.source:
            found.setdefault(note.printed, []).append(note.source)
    return {
        text: sources
        for text, sources in found.items()
        if len(text) >= _SHORTEST and len(sources) <= _MOST_SOURCES
    }


def _noted(printed: str, value: Any) -> str:
    if _notes is None:
        return printed
    if isinstance(value, _Sourced):
        _notes[Note(printed.translate(_UNMARK), _plain(value), value.source)] = None
        return marked(printed)
    if type(value) in (int, float) and not re.search(r"\d", printed):  # spelt out
        _notes[Note(printed, None, "")] = None
    return printed


def _plain(value: Any) -> Any:
    if isinstance(value, SourcedInt):
        return int(value)
    return float(value) if isinstance(value, SourcedFloat) else value
