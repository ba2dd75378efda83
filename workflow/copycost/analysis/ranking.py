"""Implementations by what a byte costs, and which places are told apart."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from copycost.analysis.condition_view import View
from copycost.analysis.crossovers import records
from copycost.analysis.json_values import Facts
from copycost.analysis.memory_floor import floor_of, working_set_of
from copycost.analysis.metrics import THROUGHPUT
from copycost.stats.ratios import Ratio, holm, paired_ratio
from copycost.stats.settings import FloatArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]

_TIME = "cpu_ns"


class _Rounds:
    """The log ratios of all pairs of implementations, by repetition, in any cell."""

    def __init__(self, view: View, column: str) -> None:
        """Look at one column of a condition's cells; pairs are made when first asked for."""
        self._view = view
        self.column = column
        self._pairs: dict[tuple[str, str], dict[object, FloatArray]] = {}

    def ratio(self, names: tuple[str, str], cell: tuple[int, int]) -> Ratio:
        """Return the first over the second, in the cell of a size and a thread count."""
        if names not in self._pairs:
            logs = self._view.logs(self.column, *names)
            matrix: FloatArray = logs.to_numpy(dtype=np.float64)
            self._pairs[names] = dict(zip(logs.index, matrix, strict=True))
        rounds = self._pairs[names].get(cell, np.empty(0))
        return paired_ratio(rounds, self._view.settings.confidence)


def ranking_facts(view: View, memory: Facts | None) -> Facts | None:
    """Return the places of all implementations at each size, None where there is nothing to rank.

    The places are those at the fewest threads, where a byte's cost is not one of taking turns.

    Keys
    ----
    metric, unit, label, side, column
        What is ranked: CPU time where it was recorded, so that it can stand next to the memory
        floor, else the cost of this run; throughput where no cost was measured (side None).
    n_threads
        The thread count of all that follows.
    sizes
        Per size: msg_bytes; floor_ns_per_byte, floor_level, floor_bytes (None without a floor);
        winners (the implementations that none was shown to be better than, with Holm's correction
        for the number of their pairs); rows.
    rows
        Best first: implementation, rank (by the median), place_low and place_high (the places that
        the comparisons leave open: one more than were shown to be better, and so on), median, low,
        high, n, floor_ratio (times memcpy's cost).
    """
    metric, unit, label, column = _what(view)
    medians = view.medians(column)
    if medians.empty:
        return None
    n_threads = int(medians["n_threads"].min())
    found = medians[medians["n_threads"] == n_threads]
    rounds = _Rounds(view, column)
    if metric != _TIME:
        memory = None  # which is in ns
    sizes = [
        _at_size(view, size, records(found[found["msg_bytes"] == size]), rounds, memory)
        for size in sorted({int(size) for size in found["msg_bytes"]})
    ]
    side = None if metric == "throughput" else ("sender" if view.sender_only else "both")
    return {
        "metric": metric,
        "unit": unit,
        "label": label,
        "side": side,
        "column": column,
        "n_threads": n_threads,
        "sizes": sizes,
    }


def _what(view: View) -> tuple[str, str, str, str]:
    time = view.per_byte(_TIME)
    side = "sender " if view.sender_only else ""
    if view.counted(time):
        return _TIME, "ns", f"{side}CPU time", time
    if view.counted(view.cost_column):
        return view.cost.name, view.cost.unit, view.cost_label, view.cost_column
    return "throughput", "bit/s", "throughput", THROUGHPUT


def _at_size(
    view: View, msg_bytes: int, rows: list[Facts], rounds: _Rounds, memory: Facts | None
) -> Facts:
    best_is_high = rounds.column == THROUGHPUT
    rows.sort(key=lambda row: -row["median"] if best_is_high else row["median"])
    names = [row["implementation"] for row in rows]
    n_threads = int(rows[0]["n_threads"])
    better = _shown_better(
        rounds,
        names,
        (msg_bytes, n_threads),
        sign=1 if best_is_high else -1,
        alpha=1.0 - view.settings.confidence,
    )
    floor = floor_of(memory, working_set_of(view, msg_bytes))
    lost_to = better.sum(axis=0)
    won_over = better.sum(axis=1)
    return {
        "msg_bytes": msg_bytes,
        "floor_ns_per_byte": floor["ns_per_byte"] if floor else None,
        "floor_bytes": floor["bytes"] if floor else None,
        "floor_level": floor["level"] if floor else None,
        "winners": [name for name, lost in zip(names, lost_to, strict=True) if lost == 0],
        "rows": [
            {
                "implementation": row["implementation"],
                "rank": place,
                "place_low": 1 + int(lost),
                "place_high": len(rows) - int(won),
                "median": row["median"],
                "low": row["low"],
                "high": row["high"],
                "n": row["n"],
                "floor_ratio": row["median"] / floor["ns_per_byte"] if floor else None,
            }
            for place, (row, lost, won) in enumerate(
                zip(rows, lost_to, won_over, strict=True), start=1
            )
        ],
    }


def _shown_better(
    rounds: _Rounds, names: Sequence[str], cell: tuple[int, int], sign: int, alpha: float
) -> BoolArray:
    """Return which implementation (row) was shown to be better than which (column).

    Every pair is compared round by round; a difference counts if it stands after Holm's correction
    for the number of pairs. `sign` is 1 where more is better, -1 where less is.
    """
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    found = [rounds.ratio((names[i], names[j]), cell) for i, j in pairs]
    corrected = holm(np.array([one.p_value for one in found]))
    better = np.zeros((len(names), len(names)), dtype=bool)
    for (i, j), one, p_value in zip(pairs, found, corrected, strict=True):
        if p_value < alpha:
            better[(i, j) if (one.value > 1.0) == (sign > 0) else (j, i)] = True
    return better
