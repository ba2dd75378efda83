"""How clean the measurements were."""

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.quality import Without, quality_of
from tools.recompute.run import THROUGHPUT
from tools.recompute.told import Expected, Slot, Told, says

DISTURBANCES = ("foreign_load", "steal", "throttled", "window_edge_late", "odd_numbers")
_WARNINGS = {
    "other programs used CPUs": "foreign_load",
    "the hypervisor took CPU time away": "steal",
    "the CPU lowered its clock": "throttled",
    "an edge of the window came late": "window_edge_late",
    "bytes and messages, or CPU time and window, were read at two moments": "odd_numbers",
    "few messages fell into the window": "few_messages",
    "somebody else came to the port of the measurement": "strangers",
    "another measurement had to be waited for": "lock_waited",
}


def with_warning(rows: pd.DataFrame, *codes: str) -> int:
    """Return how many repetitions carry any of these warnings."""
    return sum(not set(codes).isdisjoint(text.split(";")) for text in rows["warned"])


@says("Of <n> repetitions, <n> came with a warning that the machine was disturbed")
def _disturbed(told: Told, *_: Slot) -> Expected:
    rows = told.rows
    return [len(rows), with_warning(rows, *DISTURBANCES)]


@says("<n> repetitions of <n> came with a warning that the machine was disturbed")
@says("<n> repetition of <n> came with a warning that the machine was disturbed")
def _disturbed_trips(told: Told, *_: Slot) -> Expected:
    return _disturbed(told)[::-1]


@says("All <n> repetitions came with a warning that the machine was disturbed")
def _all_disturbed(told: Told, _n: int) -> Expected:
    return _disturbed(told)[1:]


def _says_warnings() -> None:
    for words, code in _WARNINGS.items():

        @says(f"{words} (<n>)")
        def _count(told: Told, _n: int, code: str = code) -> Expected:
            return [with_warning(told.rows, code)]


_says_warnings()


@says("Of <n> measured cells")
def _cells(told: Told, _n: int) -> Expected:
    return [len(told.rows.groupby(["implementation", "msg_bytes", "n_threads"]))]


@says("over the cells together, the last had <x> times that of the first")
def _drift(told: Told, _x: str) -> Expected:
    path = _path(told)
    return [float(path[-1])]


@says("the rounds had <x> to <x> times the throughput of the first")
def _rounds_apart(told: Told, *_: Slot) -> Expected:
    path = _path(told)
    return [float(path.min()), float(path.max())]


@says(
    "it lay between <x> times that of the first round (in round <n>) and <x> times (in round <n>)"
)
def _between_rounds(told: Told, *_: Slot) -> Expected:
    path = _path(told)
    rounds = sorted(set(told.rows["rep"]))
    lowest, highest = int(path.argmin()), int(path.argmax())
    return [float(path[lowest]), rounds[lowest], float(path[highest]), rounds[highest]]


def _path(told: Told) -> np.ndarray:
    """Return the throughput of each round over that of the first, cells together."""
    whole = estimates.block(told.run.values(told.condition, THROUGHPUT)).sort_index(axis=1)
    logs = whole.to_numpy(float)
    path: np.ndarray = np.exp((logs - logs[:, :1]).mean(axis=0))
    return path


@says("Of <n> measured cells, <n> passed every check")
def _passed(told: Told, *_: Slot) -> Expected:
    quality = quality_of(told.run, told.condition)
    return [len(quality.values["Measured repetitions"]), quality.clean]


@says("All <n> measured cells passed every check")
def _all_passed(told: Told, _n: int) -> Expected:
    n_cells, clean = _passed(told)
    return [n_cells if clean == n_cells else -1]


def _flagged(told: Told) -> pd.Series:
    """Return which repetitions are left out in the comparisons of the sentence."""
    quality = quality_of(told.run, told.condition)
    together = "The checks together flag" in f"{told.sentence.before} {told.sentence.text}"
    return quality.any if together else quality.warned


@says("The checks together flag <n> of <n> repetitions")
def _together(told: Told, *_: Slot) -> Expected:
    flagged = _flagged(told)
    return [int(flagged.sum()), len(flagged)]


def _without(told: Told) -> Without:
    return quality_of(told.run, told.condition).without(_flagged(told))


@says(
    "Without them, <n> of the <n> throughput comparisons that can still be made would have another "
    "verdict, though none the opposite one"
)
def _changed(told: Told, *_: Slot) -> Expected:
    found = _without(told)
    assert not found.reversed, f"{found.reversed} have it"
    return [found.changed, found.compared]


@says(
    "Without them, <n> of the <n> throughput comparisons that can still be made would have another "
    "verdict, <n> of them the opposite one"
)
def _reversed(told: Told, *_: Slot) -> Expected:
    found = _without(told)
    return [found.changed, found.compared, found.reversed]


@says(
    "Without them, each of the <n> throughput comparisons that can still be made would have the "
    "same verdict"
)
def _same(told: Told, _n: int) -> Expected:
    found = _without(told)
    return [found.compared if not found.changed else -1]


@says("Of all <n>, <n> would rest on a single round, which gives no verdict, and <n> would have no")
def _left(told: Told, *_: Slot) -> Expected:
    found = _without(told)
    return [found.compared + found.once + found.none, found.once, found.none]


@says("Of all <n>, <n> would rest on a single round, which gives no verdict")
def _left_once(told: Told, *_: Slot) -> Expected:
    found = _without(told)
    return [found.compared + found.once, found.once] if not found.none else [-1, -1]


@says("Of all <n>, <n> would have no round left")
def _left_none(told: Told, *_: Slot) -> Expected:
    found = _without(told)
    return [found.compared + found.none, found.none] if not found.once else [-1, -1]
