"""What a claim may say, as typed values, and where a ratio lies by its words and amounts."""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from reprlib import repr as shown
from typing import Any, Literal, NamedTuple, TypeAlias


class In(StrEnum):
    """Of how many of its cells a claim speaks."""

    ALL = "all"
    MOST = "most"
    SOME = "some"


@dataclass(frozen=True, slots=True)
class Region:
    """Where a value, or a ratio of two, lies; `strict`: whether a value at an end is outside."""

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


class Point(NamedTuple):
    """A part of a cell's key; None where it is any, the same on both sides."""

    implementation: str | None = None
    msg_bytes: int | None = None
    n_threads: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A value beside others: `metric` at `to` over that at `from_`.

    `from_`: None for those of every other implementation, each of which it has to be beside.
    `from_size`, `up_to_size`: sizes that the claim is about. `below`: where the ratio lies at the
    sizes that `from_size` leaves out, None for nothing said. `implementations`: those that it is
    about, where neither side names one; empty for all.
    """

    metric: str
    from_: Point | None
    to: Point
    region: Region
    from_size: int = 0
    up_to_size: float = math.inf
    below: Region | None = None
    implementations: tuple[str, ...] = ()

    def claimed(self, msg_bytes: int) -> Region | None:
        """Return where the ratio lies at a size; None where nothing is said."""
        if msg_bytes > self.up_to_size:
            return None
        return self.below if msg_bytes < self.from_size else self.region


@dataclass(frozen=True, slots=True)
class Crossing:
    """From one size on, or up to it, an implementation is better than another, else worse.

    `is_from`: whether it is better from `msg_bytes` on, rather than up to it.
    """

    metric: str
    implementation: str
    baseline: str
    msg_bytes: int
    is_from: bool
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
    """One claim: prose, and what it says.

    `statements`: all have to hold; empty for a claim in words alone, which nothing can test.
    `sizes`, `threads`: the cells that it is about, empty for all. `dataset`: the dataset of the
    file that it is about, None for all. `in_`: in how many of these cells each statement has to
    hold.
    """

    text: str
    statements: tuple[Statement, ...]
    sizes: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    dataset: str | None = None
    in_: In = In.ALL


class Unclear(ValueError):
    """A claim cannot be read; the message says what was found and expected."""


AMOUNTS = ("percent", "factor", "at_least", "at_most", "tolerance")
_SMALLEST, _LARGEST = 1e-30, 1e30
_ALIKE = 1.05
"""What differs by less than this factor is the same."""
_COLLAPSED = 0.5
"""What falls below this share of what it was has collapsed."""

MORE, LESS = Region(1.0, math.inf, strict=True), Region(0.0, 1.0, strict=True)
_NOT_MORE, _NOT_LESS, _SAME = Region(0.0, 1.0), Region(1.0, math.inf), Region(1 / _ALIKE, _ALIKE)
_WORDS = {
    **dict.fromkeys(("more", "higher", "grows", "rises", "increases"), MORE),
    **dict.fromkeys(("less", "fewer", "lower", "falls", "drops", "decreases"), LESS),
    **dict.fromkeys(("not more", "never more"), _NOT_MORE),
    **dict.fromkeys(("not less", "never less"), _NOT_LESS),
    **dict.fromkeys(("same", "equal", "unchanged"), _SAME),
    "collapses": Region(0.0, _COLLAPSED),
}


def plain_region(word: object) -> Region:
    """Return where a ratio lies by a word such as ``less`` alone."""
    text = word.strip().lower() if isinstance(word, str) else ""
    if text not in _WORDS:
        raise Unclear(f"is: got {shown(word)}, must be one of {', '.join(_WORDS)}")
    return _WORDS[text]


def region_of(part: Mapping[str, Any]) -> Region:
    """Return where a ratio lies by `is` and, where one is given, its amount."""
    plain = plain_region(part["is"])
    given = [key for key in AMOUNTS if key in part]
    if not given:
        return plain
    is_margin = plain in (_NOT_MORE, _NOT_LESS, _SAME)
    allowed = [["percent"], ["factor"]]
    if not is_margin:
        allowed += [["percent", "tolerance"], ["factor", "tolerance"],
                    ["at_least"], ["at_most"], ["at_least", "at_most"]]  # fmt: skip
    if given not in allowed:
        told = ", or ".join(" and ".join(keys) for keys in allowed)
        raise Unclear(f"{given[0]}: got {', '.join(given)}, must be {told}")
    if is_margin:
        return _margin(part, plain)
    if given[0] in ("percent", "factor"):
        return _stated(part, given[0], grows=plain is MORE)
    low = number(part, "at_least", _SMALLEST) if "at_least" in part else 1.0
    high = number(part, "at_most", _SMALLEST) if "at_most" in part else math.inf
    if low > high:
        raise Unclear(f"at_most: got {shown(part['at_most'])}, must not be below {low:g}")
    return Region(low, high) if plain is MORE else Region(1.0 / high, 1.0 / low)


def _margin(part: Mapping[str, Any], plain: Region) -> Region:
    """Return where a ratio lies that may differ from 1 by so much."""
    if "factor" in part:
        factor = number(part, "factor", _SMALLEST)
        least, most = sorted((factor, 1.0 / factor))
    else:
        percent = number(part, "percent", 0.0)
        most, least = 1.0 + percent / 100.0, 1.0 - percent / 100.0
        if plain is not _NOT_MORE and least <= 0.0:
            raise Unclear(f"percent: got {shown(part['percent'])}, must be below 100")
        if plain is _SAME:
            least = 1.0 / most
    return Region(0.0 if plain is _NOT_MORE else least, math.inf if plain is _NOT_LESS else most)


def _stated(part: Mapping[str, Any], key: str, *, grows: bool) -> Region:
    """Return where a ratio lies that is a number, as exactly as the claim states it.

    It is within the tolerance; without one, it rounds to the number as it is written, or is within
    two percent of it.
    """
    value = number(part, key, 0.0 if key == "percent" else _SMALLEST)
    decimals, size = len(str(part[key]).partition(".")[2]), abs(float(str(part[key])))
    slack = min(max(0.5 * 10.0**-decimals, 0.02 * size), 0.1 * size)
    if "tolerance" in part:
        slack = number(part, "tolerance", 0.0)
    low, high = value - slack, value + slack
    if key == "percent":
        if not grows and value > 100.0:
            raise Unclear(f"percent: got {shown(part[key])}, must be at most 100 for what falls")
        low, high = (1.0 + end / 100.0 for end in ((low, high) if grows else (-high, -low)))
    elif grows and value < 1.0:
        raise Unclear(f"factor: got {shown(part[key])}, must be at least 1 for what grows")
    elif not grows and value > 1.0:
        low, high = 1.0 / high, 1.0 / max(low, _SMALLEST)
    return Region(max(low, 0.0), max(high, 0.0))


def number(part: Mapping[str, Any], key: str, least: float = -_LARGEST) -> float:
    """Return a number of a claim; YAML takes one such as 5e9 for a text."""
    value = part[key]
    found = math.nan
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            found = float(value)
    if not least <= found <= _LARGEST:
        said = "a number" if least < 0.0 else "a positive number"
        raise Unclear(f"{key}: got {shown(value)}, must be {said} of at most {_LARGEST:g}")
    return found
