"""``--fail-if``: by how much B may be worse before that ends with a failure."""

import argparse
import math
import re
from dataclasses import dataclass

from copycost.compare.runs.samples import Cell
from copycost.compare.runs.verdicts import CONFIDENCE, Judgement

QUANTITY_OF = {"slower": "throughput", "costlier": "cpu_time", "longer": "round_trip"}
"""What each word is about: lower throughput, more CPU time per byte, a longer round trip."""

_GATE = re.compile(rf"({'|'.join(QUANTITY_OF)}):(\d+(?:\.\d+)?)%?")


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on how much worse B may be: ``slower``, ``costlier`` or ``longer`` by so much."""

    word: str
    percent: float

    @property
    def quantity(self) -> str:
        """Return the name of the quantity."""
        return QUANTITY_OF[self.word]

    @property
    def bound(self) -> float:
        """Return the ratio, B over A, that has to be shown to be passed."""
        change = self.percent / 100.0
        return 1.0 - change if self.word == "slower" else 1.0 + change

    def is_passed(self, low: float, high: float) -> bool:
        """Tell whether an interval lies wholly on the far side of the bound."""
        return high < self.bound if self.word == "slower" else low > self.bound

    def smallest(self, share: float) -> float:
        """Return it as a change for the worse [percent]: by which share B must be above A."""
        if self.word == "slower" and math.isfinite(share):
            share = 1.0 - 1.0 / (1.0 + share)
        return 100.0 * share

    def failing_cells(self, judgement: Judgement) -> list[Cell]:
        """Return the cells whose interval, widened for the number of cells, lies beyond."""
        return [cell for cell, one in judgement.cells.items() if self.is_passed(*one.widened)]

    def fails_whole(self, judgement: Judgement) -> bool:
        """Tell whether the interval of the mean over all cells lies beyond.

        Not where cells contradict each other, since that mean then speaks for neither.
        """
        of_whole = judgement.whole.found.interval(CONFIDENCE)
        return not judgement.contradicts and self.is_passed(*of_whole)


def parse_gate(text: str) -> Gate:
    """Return what a word of the command line, such as ``slower:5%``, asks for."""
    match = _GATE.fullmatch(text)
    if match is None or (match[1] == "slower" and float(match[2]) >= 100.0):
        raise argparse.ArgumentTypeError(
            f"{text} is no bound, must be {', '.join(QUANTITY_OF)}, a colon and per cent, "
            "such as slower:5%"
        )
    return Gate(match[1], float(match[2]))
