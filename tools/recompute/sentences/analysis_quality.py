"""How clean the measurements were."""

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.run import THROUGHPUT
from tools.recompute.told import Expected, Slot, Told, says

_DISTURBANCES = ("foreign_load", "steal", "throttled", "window_edge_late")
_WARNINGS = {
    "other programs used CPUs": "foreign_load",
    "the hypervisor took CPU time away": "steal",
    "the CPU lowered its clock": "throttled",
    "an edge of the window came late": "window_edge_late",
    "few messages fell into the window": "few_messages",
    "another measurement on this host had to be waited for": "lock_waited",
}


def with_warning(rows: pd.DataFrame, *codes: str) -> int:
    """Return how many repetitions carry any of these warnings."""
    return sum(not set(codes).isdisjoint(text.split(";")) for text in rows["warned"])


@says("Of <n> repetitions, <n> came with a warning that the machine was disturbed")
def _disturbed(told: Told, *_: Slot) -> Expected:
    rows = told.rows
    return [len(rows), with_warning(rows, *_DISTURBANCES)]


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


def _path(told: Told) -> np.ndarray:
    """Return the throughput of each round over that of the first, cells together."""
    whole = estimates.block(told.run.values(told.condition, THROUGHPUT)).sort_index(axis=1)
    logs = whole.to_numpy(float)
    path: np.ndarray = np.exp((logs - logs[:, :1]).mean(axis=0))
    return path
