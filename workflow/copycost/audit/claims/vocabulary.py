"""The vocabulary of claims: what a file of claims may say, as typed values.

docs/audit.md describes it for those who write claims.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class In(StrEnum):
    """Of how many of its cells a claim speaks."""

    ALL = "all"
    MOST = "most"
    SOME = "some"


@dataclass(frozen=True, slots=True)
class Region:
    """Where a claim says that a value, or a ratio of two, lies.

    Attributes
    ----------
    low, high
        The ends; 0 (of a ratio) or minus infinity, and infinity, for none.
    strict
        Whether a value at an end is outside.
    """

    low: float
    high: float
    strict: bool = False

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
    """A value beside another: `metric` at `to` over that at `from_`.

    Attributes
    ----------
    region
        Where the ratio lies.
    from_size, up_to_size
        Sizes that the claim is about, None for no bound.
    below
        Where the ratio lies at the sizes that `from_size` leaves out, None for nothing said.
    implementations
        Those that it is about, where neither side names one; empty for all.
    """

    metric: str
    from_: Point
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

    Attributes
    ----------
    from_
        True for better from `msg_bytes` on, False for better up to it; worse at other sizes.
    more_is_better
        Of the metric.
    """

    metric: str
    implementation: str
    baseline: str
    msg_bytes: int
    from_: bool
    more_is_better: bool


@dataclass(frozen=True, slots=True)
class Rank:
    """An implementation has the highest or lowest value of all in each cell."""

    metric: str
    implementation: str
    highest: bool


@dataclass(frozen=True, slots=True)
class Value:
    """Where a column's values lie (in SI units)."""

    metric: str
    region: Region
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Zero:
    """A column's values are zero, or none of them is."""

    metric: str
    zero: bool
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measurements:
    """Columns are measurements."""

    metrics: tuple[str, ...]


Statement: TypeAlias = Change | Crossing | Rank | Value | Zero | Measurements


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: prose, and what it says in the vocabulary.

    Attributes
    ----------
    text
        The prose.
    statements
        All have to hold; empty for a claim in words alone, which nothing can test.
    sizes, threads
        The cells that it is about, empty for all.
    question
        Which of the six questions it answers, None for none.
    dataset
        The dataset of the file that it is about, None for all.
    in_
        In how many of these cells each statement has to hold.
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
