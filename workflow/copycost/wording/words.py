"""Plurals, names of parties, lines and lists: words that stand in every room's texts."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from copycost.wording.number_sources import prints
from copycost.wording.numbers import finite

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_IRREGULAR = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "this": "these",
    "it": "they",
    "its": "their",
    "matrix": "matrices",
}


@prints
def count(value: int) -> str:
    """Return a whole number, as a word up to twelve: ``three``, ``28``, ``10,000``."""
    whole = int(finite(value))
    return _NUMBERS[whole] if 0 <= whole < len(_NUMBERS) else f"{whole:,}"


@prints
def plural(number: int, noun: str, plural_form: str | None = None) -> str:
    """Return a number in digits with its noun: ``1 thread``, ``4 threads``."""
    return f"{int(finite(number)):,} {agree(number, noun, plural_form)}"


def counted(number: int, noun: str, plural_form: str | None = None) -> str:
    """Return a number in words with its noun: ``one size``, ``three sizes``, ``28 cells``."""
    return f"{count(number)} {agree(number, noun, plural_form)}"


def agree(number: int, word: str, plural_form: str | None = None) -> str:
    """Return a word in the form that goes with a number: ``was`` for 1, ``were`` for others."""
    if number == 1:
        return word
    if plural_form or word in _IRREGULAR:
        return plural_form or _IRREGULAR[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """Return ``; did you mean NAME?`` where one of the known names is close, else nothing."""
    close = difflib.get_close_matches(word, [str(name) for name in known], n=1)
    return f"; did you mean {close[0]}?" if close else ""


_MOST = 80


def changes_between(known: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what tells the facts of two hosts apart: ``kernel_release was 6.1, is 6.12``."""
    changes = []
    for name in sorted(known.keys() | now.keys()):
        before, after = known.get(name), now.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            changes += [f"{name}.{change}" for change in changes_between(before, after)]
        elif before != after:
            changes.append(f"{name} was {_short(before)}, is {_short(after)}")
    return changes


def _short(value: object) -> str:
    text = "unknown" if value is None else str(value)
    return text if len(text) <= _MOST else f"{text[: _MOST - 3]}..."


_WORDS = {
    "sender_guest": "rest of the sender's guest",
    "receiver_guest": "rest of the receiver's guest",
    "guest": "rest of the guest",
    "sender_qemu": "sender's QEMU",
    "receiver_qemu": "receiver's QEMU",
    "qemu": "guest's QEMU",
    "reference_sender": "reference's sender",
    "reference_receiver": "reference's receiver",
}


def party(name: str) -> str:
    """Return what a party is called: ``sender``, ``sender's QEMU``; without an article."""
    return _WORDS.get(name, name)


def one_line(text: str) -> str:
    """Return a text on one line: line ends and indentation of a template become single spaces.

    The space between a number and its unit, where a line must not break, stays as it is.
    """
    return re.sub(r"[ \t\n]+", " ", text).strip(" ")


def item(text: str) -> str:
    """Return the sentences of a template as an item of a list, or nothing if there are none."""
    line = one_line(text)
    return f"- {line}\n" if line else ""


def paragraph(text: str) -> str:
    """Return the sentences of a template as a paragraph of its own, or nothing if there are none.

    So a template has a sentence a line, breaks a long one wherever it likes, and may leave out any
    of them: ``{% filter paragraph %}`` ... ``{% endfilter %}``. An item of a list starts with
    ``-``, as in Markdown.
    """
    line = one_line(text)
    return f"\n{line}\n\n" if line else ""
