"""What a claim may say, as typed values."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias


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
    hold: ``all``, ``most`` or ``some``.
    """

    text: str
    statements: tuple[Statement, ...]
    sizes: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    dataset: str | None = None
    in_: str = "all"


class Unclear(ValueError):
    """A claim cannot be read; the message says what was found and expected."""
