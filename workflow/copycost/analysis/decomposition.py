"""What a difference in throughput consists of: measured factors whose product it is.

Throughput is CPUs in use over CPU time per byte, in every repetition, by definition of the three.
So the ratio of two throughputs is, exactly and in every repetition, one ratio of these over
another, and their logarithms add up to its logarithm.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, complete_block
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.stats.ratios import paired_ratio
from copycost.stats.settings import FloatArray, IntArray

_BITS = 8.0
_NS = 1e9

Values = Callable[[str], pd.DataFrame]
"""The logarithms of a column, one row per cell and one column per round."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """One of the two things compared: arrays by cell and round, the costs by side before that."""

    rate: FloatArray
    """Throughput [bit/s]."""
    costs: FloatArray
    """CPU time per byte [ns]."""

    @property
    def cost(self) -> FloatArray:
        """Return the CPU time per byte of all sides [ns]."""
        return np.asarray(self.costs.sum(axis=0), dtype=np.float64)

    @property
    def cpus(self) -> FloatArray:
        """Return the number of CPUs in use, mean over the window."""
        return self.rate / _BITS * self.cost / _NS


def explain_pair(
    view: View, implementation: str, baseline: str, cells: Sequence[tuple[int, int]]
) -> Facts | None:
    """Return what one implementation's throughput over another's consists of, in some cells.

    These, sizes [bytes] with thread counts, are those in which the difference holds that is
    explained. See `_explain`.
    """

    def of(which: int) -> Values:
        return lambda metric: _at(view.cube.levels(metric, implementation, baseline)[which], cells)

    return _explain(view, of(0), of(1), len(cells))


def explain_threads(
    view: View, implementation: str, more: int, fewer: int, sizes: Sequence[int]
) -> Facts | None:
    """Return the same of one implementation with more threads over itself with fewer."""

    def of(n_threads: int) -> Values:
        cells = [(size, n_threads) for size in sizes]
        return lambda metric: _at(view.cube.values(metric, implementation), cells)

    return _explain(view, of(more), of(fewer), len(sizes))


def cpus_in_use(view: View, implementation: str) -> pd.Series:
    """Return the number of CPUs in use, mean over the rounds, by size and thread count."""
    rate = view.cube.values(THROUGHPUT, implementation)
    cost = view.cube.values(view.per_byte("cpu_ns"), implementation)
    found: pd.Series = (np.exp(rate + cost) / _BITS / _NS).mean(axis=1)
    return found


def _at(table: pd.DataFrame, cells: Sequence[tuple[int, int]]) -> pd.DataFrame:
    index = pd.MultiIndex.from_tuples(list(cells), names=["msg_bytes", "n_threads"])
    return table.reindex(index)


def _explain(view: View, above: Values, below: Values, n_cells: int) -> Facts | None:
    """Return the factors of a ratio of throughputs; None where CPU time was not measured.

    Keys
    ----
    n_cells: Cells asked for; all that follows is of those of them that have every round.
    throughput: The ratio that is explained; see `ratio_facts`.
    factors: ``cost`` (CPU time per byte) and ``use`` (CPUs in use), the larger effect in the
        direction of the difference first: name, ratio (of the quantity itself) and effect (what it
        makes of the throughput, whose product over the factors is that of `throughput`).
    relation: What the second factor does: ``both`` (the same way as the first), ``alone`` (no
        difference shown), ``against``; ``unsettled`` where the first is not shown to have an
        effect.

    The two add up in logarithms, without a rest.
    """
    if not n_cells:
        return None
    sides = ("sender",) if view.sender_only else ("sender", "receiver")
    columns = [THROUGHPUT, *(f"{side}_cpu_ns_per_byte" for side in sides)]
    logs = [np.stack([one(column).to_numpy(np.float64) for column in columns]) for one in
            (above, below)]  # fmt: skip
    rows, rounds = complete_block((logs[0] + logs[1]).sum(axis=0))
    if not rows.size:
        return None
    here, there = (_measured(values, rows, rounds) for values in logs)
    whole = np.log(here.rate / there.rate)
    effects = {"cost": -np.log(here.cost / there.cost), "use": np.log(here.cpus / there.cpus)}
    factors = _factors(view, whole, effects)
    signs = [factor["effect"]["sign"] for factor in factors]
    return {
        "n_cells": n_cells,
        "throughput": _ratio(view, whole),
        "factors": factors,
        "relation": _relation(*signs),
    }


def _relation(first: int | None, second: int | None) -> str:
    if not first:
        return "unsettled"
    if not second:
        return "alone"
    return "both" if first == second else "against"


def _measured(logs: FloatArray, rows: IntArray, rounds: IntArray) -> _Measured:
    values = np.exp(logs[:, rows][:, :, rounds])
    return _Measured(values[0], values[1:])


def _factors(view: View, whole: FloatArray, effects: dict[str, FloatArray]) -> list[Facts]:
    direction = 1.0 if float(whole.mean()) >= 0.0 else -1.0
    return [
        {
            "name": name,
            "ratio": _ratio(view, -effects[name] if name == "cost" else effects[name]),
            "effect": _ratio(view, effects[name]),
        }
        for name in sorted(effects, key=lambda name: -direction * float(effects[name].mean()))
    ]


def _ratio(view: View, logs: FloatArray) -> Facts:
    """Return the ratio over the cells together, of logarithms by cell and round."""
    return ratio_facts(paired_ratio(logs.mean(axis=0), view.settings.confidence))
