"""What recomputes a sentence: where it stands, and which forms there are.

A handler gets what the slots of its sentence say and where it stands, and returns what each slot
should say; None for one that only names what the others are about. The handlers are in `sentences`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from tools.recompute.decisions import of_tables
from tools.recompute.document import Sentence
from tools.recompute.estimates import Estimate, holm
from tools.recompute.run import THROUGHPUT, Cell, Run
from tools.recompute.slots import compiled

Slot: TypeAlias = Any
Cells: TypeAlias = dict[Cell, Estimate]
Expected: TypeAlias = list[Any]
COSTS = r"(?:sender )?CPU (?:cycles|time)(?: of both machines)?"
_PAIRS = {"q1": "zero_copy", "q4": "one_copy", "q5": "zero_copy"}


class NotRecomputedError(Exception):
    """Raised where a sentence stands in a place whose numbers nothing here recomputes."""


@dataclass(frozen=True)
class Told:
    """Where a sentence stands: its condition, and what was said before it."""

    run: Run
    condition: str
    sentence: Sentence

    @property
    def pair(self) -> tuple[str, str]:
        """Who is compared with whom: as named last, else as the question has it."""
        compared = r"`(\w+)`(?: seen)?(?: was| to be)? (?:faster|slower) than `(\w+)`"
        named = re.findall(rf"{compared}|between `(\w+)` and `(\w+)`", self.sentence.before)
        if named:
            a, b = [name for name in named[-1] if name]
            return a, b
        return _PAIRS[self.sentence.section.rpartition("-")[2]], "two_copy"

    @property
    def cells(self) -> Cells:
        """The throughput ratio of each cell of that pair."""
        return self.run.cells(self.condition, *self.pair)

    @property
    def rows(self) -> pd.DataFrame:
        """The measured repetitions that are counted: of the condition, or all."""
        section = self.sentence.section
        if section == "sec-answer":
            return pd.concat([of_tables(self.run, trips=trips) for trips in (False, True)])
        trips = section.startswith("sec-round-trips")
        rows = self.run.round_trips if trips else self.run.streams
        if trips or section.endswith("-quality"):
            rows = rows[rows["condition"] == self.condition]
        return rows[rows["status"] == "measured"]

    @property
    def cpu_time(self) -> str:
        """The column of the CPU time per byte."""
        return self.run.metric(self.condition, "CPU time")

    def differing(self) -> tuple[list[Any], str, str]:
        """Return the cells of the difference that is explained, and who is compared there."""
        found = re.findall(
            r"That it was (slower|faster) than `(\w+)` stands in",
            f"{self.sentence.before} {self.sentence.text}",
        )
        if not found:
            raise NotRecomputedError("no difference was told before")
        way, rival = found[-1]
        cells = self.run.cells(self.condition, "zero_copy", rival)
        sign = {"faster": 1, "slower": -1}[way]
        return standing(cells, sign, self.run.settings.confidence), "zero_copy", rival


Handler = Callable[..., Expected]
FORMS: list[tuple[re.Pattern[str], list[str], Handler]] = []


def says(*patterns: str) -> Callable[[Handler], Handler]:
    """Name the sentences that a handler recomputes."""

    def add(handler: Handler) -> Handler:
        FORMS.extend((*compiled(pattern), handler) for pattern in patterns)
        return handler

    return add


_OPPOSED = {
    ("msg_bytes", -1): ("for the smaller messages together", "for the larger ones"),
    ("msg_bytes", 1): ("for the larger messages together", "for the smaller ones"),
    ("n_threads", -1): ("for the lower numbers of threads together", "for the higher ones"),
    ("n_threads", 1): ("for the higher numbers of threads together", "for the lower ones"),
}


def says_opposed(
    *patterns: str, less: str, of: str = "in <n> of <n> cells"
) -> Callable[[Callable[..., pd.DataFrame]], Callable[..., pd.DataFrame]]:
    """Name the sentences of cells that contradict each other, by what is so above 1.

    What is decorated gets what the slots of these say and returns the logarithms of the cells.
    """

    def add(logs_of: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
        def counted(told: Told, *said: Slot) -> Expected:
            logs = logs_of(told, *said[:-3])
            assert told.run.contradict(logs), "they agree"
            return [*[None] * len(said[:-3]), *_sides(told, logs)]

        says(*(f"{one} {of} and {less} {of.split()[0]} <n>" for one in patterns))(counted)
        for half, ends in _OPPOSED.items():
            says(*(f"{one} {ends[0]} and {less} {ends[1]}" for one in patterns))(
                _by_halves(logs_of, half)
            )
        return logs_of

    return add


def _by_halves(logs_of: Callable[..., pd.DataFrame], half: tuple[str, int]) -> Handler:
    def opposed(told: Told, *said: Slot) -> Expected:
        logs = logs_of(told, *said)
        above, _n, below = _sides(told, logs)
        assert not (above and below), "single cells lie on both sides"
        found = told.run.opposed(logs)
        assert half in list(found.items())[:1], f"it is {found}"
        return [None] * len(said)

    return opposed


def _sides(told: Told, logs: pd.DataFrame) -> tuple[int, int, int]:
    """Return how many cells lie above 1, how many there are, and how many lie below."""
    signs = [told.run.ratio(row).seen for _, row in logs.iterrows()]
    return signs.count(1), len(signs), signs.count(-1)


def with_sign(cells: Cells, sign: int) -> list[Any]:
    """Return the cells in which that was seen: 1, -1 or 0."""
    return [cell for cell, one in cells.items() if one.seen == sign]


def standing(cells: Cells, sign: int, confidence: float) -> list[Any]:
    """Return the cells whose difference stands after Holm's correction for all of these."""
    corrected = holm(np.array([one.p_value for one in cells.values()]))
    return [
        cell
        for (cell, one), p_value in zip(cells.items(), corrected, strict=True)
        if p_value < 1 - confidence and (one.value > 1) == (sign > 0)
    ]


def threads_alike(told: Told, threads: tuple[int, ...], pair: tuple[str, str], cost: str) -> Slot:
    """Return the sizes that are better and worse with each of these threads, and all compared."""
    metric = told.run.metric(told.condition, cost) if cost else THROUGHPUT
    cells = told.run.cells(told.condition, *pair, metric)
    less = -1 if cost else 1
    found = set()
    for n in threads or sorted({n for _, n in cells}):
        here = {size: one.seen * less for (size, each), one in cells.items() if each == n}
        sizes = [tuple(s for s in here if here[s] == sign) for sign in (1, -1, 0)]
        found.add((*sizes, tuple(here)))
    assert len(found) == 1, "these thread counts differ"
    return found.pop()
