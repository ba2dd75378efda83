"""``--fail-if``: bounds on how much worse B may be, and what a comparison has shown of them."""

import argparse
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from copycost.analysis.json_values import Facts
from copycost.compare.runs.results import CELL, QUANTITIES, Cell, Quantity
from copycost.compare.runs.verdicts import CONFIDENCE, Judgement, share_shown
from copycost.errors import DataError
from copycost.wording.filters import join_and, number
from copycost.wording.words import plural

_ASKED = {quantity.asked: quantity for quantity in QUANTITIES}
_GATE = re.compile(rf"({'|'.join(_ASKED)}):(\d+(?:\.\d+)?)%?")


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on how much worse B may be: ``slower``, ``costlier`` or ``longer`` by so much."""

    word: str
    percent: float

    @property
    def quantity(self) -> Quantity:
        """Return the quantity that the word is about."""
        return _ASKED[self.word]

    @property
    def bound(self) -> float:
        """Return the ratio, B over A, that has to be shown to be passed."""
        change = self.percent / 100.0
        return 1.0 - change if self.quantity.more_is_better else 1.0 + change

    def is_passed(self, low: float, high: float) -> bool | None:
        """Tell if an interval lies wholly beyond the bound; None if it holds the bound."""
        beyond, before = low > self.bound, high <= self.bound
        if self.quantity.more_is_better:
            beyond, before = high < self.bound, low >= self.bound
        return True if beyond else False if before else None

    def failing_cells(self, judgement: Judgement) -> list[Cell]:
        """Return the cells whose interval, widened for the number of cells, lies beyond."""
        return [cell for cell, one in judgement.cells.items() if self.is_passed(*one.widened)]

    def fails_whole(self, judgement: Judgement) -> bool:
        """Tell whether the interval of the mean over all cells lies beyond.

        Not where cells contradict each other, since that mean then speaks for neither.
        """
        of_whole = judgement.whole.found.interval(CONFIDENCE)
        return not judgement.contradicts and bool(self.is_passed(*of_whole))


def parse_gate(text: str) -> Gate:
    """Return what a word of the command line, such as ``slower:5%``, asks for."""
    match = _GATE.fullmatch(text)
    if match is None or (match[1] == "slower" and float(match[2]) >= 100.0):
        raise argparse.ArgumentTypeError(
            f"{text} is no bound, must be {', '.join(_ASKED)}, a colon and per cent, "
            "such as slower:5%"
        )
    return Gate(match[1], float(match[2]))


def gate_facts(gate: Gate, judged: Mapping[str, Judgement]) -> Facts:
    """Return what a gate finds; DataError if it could never find anything.

    ``smallest_percent`` is the smallest change for the worse that could have been shown. Where
    cells contradict each other, their mean can fail nothing: it rests on each of them.
    """
    judgement = judged.get(gate.quantity.name)
    asked = f"--fail-if {gate.word}:{gate.percent:g}%"
    if judgement is None:
        raise DataError(
            f"{asked}: the sides have no cell in common that tells it; measure both with the same "
            f"{gate.quantity.sections}"
        )
    ends = [one.widened for one in judgement.cells.values() if one.found.has_interval]
    if not ends:
        raise DataError(
            f"{asked}: one round of one run has no interval, so nothing could ever be shown; "
            "measure at least two (measure.repetitions), or compare several runs"
        )
    cells, whole = gate.failing_cells(judgement), gate.fails_whole(judgement)
    fails = bool(cells) or whole
    if not judgement.contradicts:
        ends = [judgement.whole.found.interval(CONFIDENCE)]
    share = max(map(share_shown, ends))
    if gate.quantity.more_is_better and math.isfinite(share):
        share = 1.0 - 1.0 / (1.0 + share)
    is_ruled_out = all(gate.is_passed(*one) is False for one in ends)
    return {
        "word": gate.word,
        "percent": gate.percent,
        "cells": [dict(zip(CELL, cell, strict=True)) for cell in cells],
        "whole": whole,
        "contradicts": judgement.contradicts,
        "fails": fails,
        "smallest_percent": 100.0 * share if math.isfinite(share) else None,
        "cannot_tell": not fails and 100.0 * share > gate.percent and not is_ruled_out,
    }


def gate_line(gate: Facts) -> str:
    """Return what a bound of ``--fail-if`` has shown."""
    smallest = gate["smallest_percent"]
    said = "cannot tell" if gate["cannot_tell"] else "not shown"
    if gate["fails"]:
        where = ["over all cells together"] if gate["whole"] else []
        where += [f"in {plural(len(gate['cells']), 'cell')}"] if gate["cells"] else []
        said = f"shown {join_and(where)}"
    could = "none" if smallest is None else f"{number(smallest)} %"
    of = "in every cell" if gate["contradicts"] else "over all cells"
    return (
        f"{gate['word']} by more than {number(gate['percent'])} %: {said}; the smallest change {of}"
        f" that could have been shown: {could}"
    )
