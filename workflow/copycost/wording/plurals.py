"""Numbers with their nouns and verbs: the only place where a plural is formed."""

from copycost.wording.finite import finite
from copycost.wording.sources import prints

_WORDS = (
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
    return _WORDS[whole] if 0 <= whole < len(_WORDS) else f"{whole:,}"


@prints
def plural(number: int, noun: str, plural_form: str | None = None) -> str:
    """Return a number in digits with its noun: ``1 thread``, ``4 threads``."""
    return f"{int(finite(number)):,} {noun if number == 1 else plural_form or _plural(noun)}"


@prints
def counted(number: int, noun: str, plural_form: str | None = None) -> str:
    """Return a number in words with its noun: ``one size``, ``three sizes``, ``28 cells``."""
    return f"{count(number)} {noun if number == 1 else plural_form or _plural(noun)}"


@prints
def times(number: int) -> str:
    """Return how often, in words: ``once``, ``twice``, ``three times``."""
    return {1: "once", 2: "twice"}.get(number) or f"{count(number)} times"


def agree(number: int, word: str, plural_form: str | None = None) -> str:
    """Return a word in the form that goes with a number: ``was`` for 1, ``were`` for others."""
    return word if number == 1 else plural_form or _plural(word)


def _plural(noun: str) -> str:
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun}s"
