"""What a file of claims may say, as typed values; docs/audit.md has it for those who write some."""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from reprlib import repr as shown
from typing import Any, Literal, TypeAlias


class In(StrEnum):
    """Of how many of its cells a claim speaks."""

    ALL = "all"
    MOST = "most"
    SOME = "some"


@dataclass(frozen=True, slots=True)
class Region:
    """Where a claim says that a value, or a ratio of two, lies.

    `low`, `high`: the ends; 0 (of a ratio) or minus infinity, and infinity, for none. `strict`:
    whether a value at an end is outside.
    """

    low: float
    high: float
    strict: bool = False

    @property
    def logs(self) -> "Region":
        """Return where the logarithms lie."""
        low, high = (math.log(end) if end > 0.0 else -math.inf for end in (self.low, self.high))
        return Region(low, high, self.strict)

    def holds(self, value: float) -> bool:
        """Tell whether a value lies there."""
        if self.strict:
            return self.low < value < self.high
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Point:
    """A part of a cell's key; None where it is any, the same on both sides."""

    implementation: str | None = None
    msg_bytes: int | None = None
    n_threads: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A value beside others: `metric` at `to` over that at `from_`.

    `from_`: None for those of every other implementation, each of which it has to be beside.
    `from_size`, `up_to_size`: sizes that the claim is about, None for no bound. `below`: where the
    ratio lies at the sizes that `from_size` leaves out, None for nothing said. `implementations`:
    those that it is about, where neither side names one; empty for all.
    """

    metric: str
    from_: Point | None
    to: Point
    region: Region
    from_size: int | None = None
    up_to_size: int | None = None
    below: Region | None = None
    implementations: tuple[str, ...] = ()

    def claimed(self, msg_bytes: int) -> Region | None:
        """Return where the ratio lies at a size; None where nothing is said."""
        if self.up_to_size is not None and msg_bytes > self.up_to_size:
            return None
        if self.from_size is not None and msg_bytes < self.from_size:
            return self.below
        return self.region


@dataclass(frozen=True, slots=True)
class Crossing:
    """From one size on, or up to it, an implementation is better than another.

    `from_`: true for better from `msg_bytes` on, False for better up to it; worse at other sizes.
    """

    metric: str
    implementation: str
    baseline: str
    msg_bytes: int
    from_: bool
    more_is_better: bool


@dataclass(frozen=True, slots=True)
class Value:
    """Where a column's values lie (in SI units): in a range, or they are zero, or none is."""

    metric: str
    is_: Region | Literal["zero", "not zero"]
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measurements:
    """Columns are measurements."""

    metrics: tuple[str, ...]


Statement: TypeAlias = Change | Crossing | Value | Measurements


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: prose, and what it says in the vocabulary.

    `statements`: all have to hold; empty for a claim in words alone, which nothing can test.
    `sizes`, `threads`: the cells that it is about, empty for all. `question`: which of the six
    questions it answers, None for none. `dataset`: the dataset of the file that it is about, None
    for all. `in_`: in how many of these cells each statement has to hold.
    """

    text: str
    statements: tuple[Statement, ...]
    sizes: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    question: int | None = None
    dataset: str | None = None
    in_: In = In.ALL


class Unclear(ValueError):
    """A claim is not in the vocabulary; the message says what was found and expected."""


AMOUNTS = ("percent", "factor", "at_least", "at_most", "tolerance")
SMALLEST, LARGEST = 1e-30, 1e30
ALIKE = 1.05
"""What differs by less than this factor is the same."""
COLLAPSED = 0.5
"""What falls below this share of what it was has collapsed."""

MORE, LESS = Region(1.0, math.inf, strict=True), Region(0.0, 1.0, strict=True)
_NOT_MORE, _NOT_LESS = Region(0.0, 1.0), Region(1.0, math.inf)
_SAME, _COLLAPSES = Region(1.0 / ALIKE, ALIKE), Region(0.0, COLLAPSED)
_WORDS = {
    **dict.fromkeys(("more", "higher", "grows", "rises", "increases"), MORE),
    **dict.fromkeys(("less", "fewer", "lower", "falls", "drops", "decreases"), LESS),
    **dict.fromkeys(("not more", "never more"), _NOT_MORE),
    **dict.fromkeys(("not less", "never less"), _NOT_LESS),
    **dict.fromkeys(("same", "equal", "unchanged"), _SAME),
    "collapses": _COLLAPSES,
}
"""Where a ratio lies, by what is said of it without an amount."""


def region_of(part: Mapping[str, Any]) -> Region:
    """Return where a ratio lies by `is` and, where one is given, its amount; or raise `Unclear`."""
    plain = plain_region(part["is"])
    given = [key for key in AMOUNTS if key in part]
    if not given:
        return plain
    if plain in (_NOT_MORE, _NOT_LESS, _SAME):
        return _margin(part, plain, given)
    if "at_least" in part or "at_most" in part:
        _only(given, {"at_least"}, {"at_most"}, {"at_least", "at_most"})
        low = number(part, "at_least", SMALLEST) if "at_least" in part else 1.0
        high = number(part, "at_most", SMALLEST) if "at_most" in part else math.inf
        if low > high:
            raise Unclear(f"at_most: got {shown(part['at_most'])}, must not be below {low:g}")
        return Region(low, high) if plain is MORE else Region(1.0 / high, 1.0 / low)
    return _stated(part, given, grows=plain is MORE)


def plain_region(word: object) -> Region:
    """Return where a ratio lies by a word such as ``less`` alone."""
    text = word.strip().lower() if isinstance(word, str) else ""
    if text not in _WORDS:
        raise Unclear(f"is: got {shown(word)}, must be one of {', '.join(_WORDS)}")
    return _WORDS[text]


def _only(given: list[str], *sets: set[str]) -> None:
    """Refuse amounts that do not go together."""
    if set(given) not in sets:
        said = " or ".join(" and ".join(sorted(one)) for one in sets)
        raise Unclear(f"{given[0]}: got {', '.join(given)}, must be {said}")


def _margin(part: Mapping[str, Any], plain: Region, given: list[str]) -> Region:
    """Return where a ratio lies that may differ from 1 by so much."""
    _only(given, {"percent"}, {"factor"})
    if "factor" in part:
        factor = number(part, "factor", SMALLEST)
        least, most = sorted((factor, 1.0 / factor))
    else:
        percent = number(part, "percent", 0.0)
        most, least = 1.0 + percent / 100.0, 1.0 - percent / 100.0
        if plain is not _NOT_MORE and least <= 0.0:
            raise Unclear(f"percent: got {shown(part['percent'])}, must be below 100")
        if plain is _SAME:
            least = 1.0 / most
    return Region(0.0 if plain is _NOT_MORE else least, math.inf if plain is _NOT_LESS else most)


def _stated(part: Mapping[str, Any], given: list[str], *, grows: bool) -> Region:
    """Return where a ratio lies that is a number, as exactly as the claim states it."""
    _only(given, *({key, *more} for key in ("percent", "factor") for more in ((), ("tolerance",))))
    key = "percent" if "percent" in part else "factor"
    value = number(part, key, 0.0 if key == "percent" else SMALLEST)
    if "tolerance" in part:
        slack = number(part, "tolerance", 0.0)
    else:  # it rounds to the number as it is written, or is within two percent of it
        decimals, size = len(str(part[key]).partition(".")[2]), abs(float(str(part[key])))
        slack = min(max(0.5 * 10.0**-decimals, 0.02 * size), 0.1 * size)
    low, high = value - slack, value + slack
    if key == "percent":
        if not grows and value > 100.0:
            raise Unclear(f"percent: got {shown(part[key])}, must be at most 100 for what falls")
        low, high = (1.0 + end / 100.0 for end in ((low, high) if grows else (-high, -low)))
    elif grows and value < 1.0:
        raise Unclear(f"factor: got {shown(part[key])}, must be at least 1 for what grows")
    elif not grows and value > 1.0:
        low, high = 1.0 / high, 1.0 / max(low, SMALLEST)
    return Region(max(low, 0.0), max(high, 0.0))


def number(part: Mapping[str, Any], key: str, least: float = -LARGEST) -> float:
    """Return a number of a claim; YAML takes one such as 5e9 for a text."""
    value = part[key]
    found = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            found = float(value)
    if not least <= found <= LARGEST:
        said = "a number" if least < 0.0 else "a positive number"
        raise Unclear(f"{key}: got {shown(value)}, must be {said} of at most {LARGEST:g}")
    return found
