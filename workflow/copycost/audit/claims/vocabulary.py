"""The vocabulary of claims: what a file of claims may say, as typed values.

docs/audit.md describes it for those who write claims.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Is(StrEnum):
    """What is claimed of one value beside another."""

    MORE = "more"
    LESS = "less"
    NOT_MORE = "not more"
    NOT_LESS = "not less"
    SAME = "same"
    COLLAPSES = "collapses"


@dataclass(frozen=True, slots=True)
class Amount:
    """How much: a factor of the later value over the earlier, with what counts as it.

    Attributes
    ----------
    low, high
        The factors that the claim allows.
    """

    low: float
    high: float


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
    from_size, up_to_size
        Sizes that the claim is about, None for no bound.
    below
        What is claimed of the sizes that `from_size` leaves out, None for nothing.
    implementations
        Those that it is about, where neither side names one; empty for all.
    """

    metric: str
    from_: Point
    to: Point
    is_: Is
    amount: Amount | None = None
    from_size: int | None = None
    up_to_size: int | None = None
    below: Is | None = None
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rank:
    """An implementation has the highest or lowest value of all in each cell."""

    metric: str
    implementation: str
    highest: bool


@dataclass(frozen=True, slots=True)
class Value:
    """A column's values are zero, not zero, above or below a number (in the file's SI unit)."""

    metric: str
    is_: str
    than: float
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measurements:
    """Columns are measurements."""

    metrics: tuple[str, ...]


Statement: TypeAlias = Change | Rank | Value | Measurements


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
    """

    text: str
    statements: tuple[Statement, ...]
    sizes: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    question: int | None = None
    dataset: str | None = None


class Unclear(ValueError):
    """A claim is not in the vocabulary; the message says what was found and expected."""
