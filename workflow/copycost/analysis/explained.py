"""What a difference in throughput consists of: measured factors whose product it is.

Throughput is CPUs in use over CPU time per byte, in every repetition, by definition of the three.
So the ratio of two throughputs is, exactly and in every repetition, one ratio of these over
another, and their logarithms add up to its logarithm.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, complete_block
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.together import cell_counts
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

    Parameters
    ----------
    cells
        Sizes [bytes] with thread counts; those in which the difference holds that is explained.

    Returns
    -------
    dict or None
        See `_explain`.
    """

    def of(which: int) -> Values:
        return lambda metric: _at(view.levels(metric, implementation, baseline)[which], cells)

    return _explain(view, of(0), of(1), len(cells))


def explain_threads(
    view: View, implementation: str, more: int, fewer: int, sizes: Sequence[int]
) -> Facts | None:
    """Return the same of one implementation with more threads over itself with fewer."""

    def of(n_threads: int) -> Values:
        cells = [(size, n_threads) for size in sizes]
        return lambda metric: _at(view.values(metric, implementation), cells)

    return _explain(view, of(more), of(fewer), len(sizes))


def explain_cases(view: View, cases: Sequence[Mapping[str, str | int]]) -> Facts | None:
    """Return what the ratios of throughputs consist of that `copycost.analysis.checks` compares.

    None where one of them is no ratio of two throughputs, but a ratio of such ratios.
    """
    ends = [_ends(view, case) for case in cases]
    if not all(ends):
        return None

    def of(which: int) -> Values:
        def rows(metric: str) -> pd.DataFrame:
            found = [end(metric)[which] for end in ends if end]
            return pd.concat(found, axis=1).T.rename_axis(["msg_bytes", "n_threads"])

        return rows

    return _explain(view, of(0), of(1), len(cases))


_Ends = Callable[[str], tuple[pd.Series, pd.Series]]
"""The logarithms of a column in the two cells that are compared, by repetition."""


def _ends(view: View, case: Mapping[str, str | int]) -> _Ends | None:
    steps = {"baseline", "hot", "from_bytes", "from_threads"} & set(case)
    if len(steps) != 1:
        return None
    name, hot = str(case["implementation"]), view.hot if "hot" in case else view
    sizes = [int(case.get(f"{end}_bytes", case.get("msg_bytes", 0))) for end in ("to", "from")]
    counts = [int(case.get(f"{end}_threads", case.get("n_threads", 0))) for end in ("to", "from")]
    if hot is None:
        return None

    def ends(metric: str) -> tuple[pd.Series, pd.Series]:
        if "baseline" in case:
            tables = view.levels(metric, name, str(case["baseline"]))
        else:
            tables = view.values(metric, name), hot.values(metric, name)
        here, there = (
            _at(table, [cell]).iloc[0]
            for table, cell in zip(tables, zip(sizes, counts, strict=True), strict=True)
        )
        return here, there

    return ends


def cpus_in_use(view: View, implementation: str) -> pd.Series:
    """Return the number of CPUs in use, mean over the rounds, by size and thread count."""
    rate = view.values(THROUGHPUT, implementation)
    cost = view.values(view.per_byte("cpu_ns"), implementation)
    found: pd.Series = (np.exp(rate + cost) / _BITS / _NS).mean(axis=1)
    return found


def _at(table: pd.DataFrame, cells: Sequence[tuple[int, int]]) -> pd.DataFrame:
    index = pd.MultiIndex.from_tuples(list(cells), names=["msg_bytes", "n_threads"])
    return table.reindex(index)


def _explain(view: View, above: Values, below: Values, n_cells: int) -> Facts | None:
    """Return the factors of a ratio of throughputs; None where CPU time was not measured.

    Keys
    ----
    n_cells
        Cells asked for; all that follows is of those of them that have every round.
    throughput
        The ratio that is explained; see `ratio_facts`.
    factors
        ``cost`` (CPU time per byte) and ``use`` (CPUs in use), the larger effect in the direction
        of the difference first: name; ratio (of the quantity itself); effect (what it makes of the
        throughput, whose product over the factors is that of `throughput`); share (of the logarithm
        of the difference; above 1 or below 0 where the factors oppose each other); n_cells,
        n_above, n_below, contradict, halves (of the effect; see `copycost.analysis.together`).
    relation
        What the second factor does: ``both`` (the same way as the first), ``alone`` (no difference
        shown), ``against``; ``unsettled`` where the first is not shown to have an effect.
    instructions, pace
        Instructions per byte, and CPU time per instruction, whose product is the ratio of CPU time
        per byte; None where instructions were not counted in kernel and user mode.
    cpus, cpus_before
        CPUs in use, mean over cells and rounds, of the two.
    sides
        Per side: name, and what the change in its CPU time per byte alone makes of the throughput
        (effect) and of that of both sides (cost); the product of the effects is that of ``cost``.

    Source
    ------
    The logarithmic mean, by which the sides' parts add up: B. W. Ang, The LMDI approach to
    decomposition analysis, Energy Policy 33 (2005).
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
    cells = above(THROUGHPUT).index[rows]
    here, there = (_measured(values, rows, rounds) for values in logs)
    whole = np.log(here.rate / there.rate)
    effects = {"cost": -np.log(here.cost / there.cost), "use": np.log(here.cpus / there.cpus)}
    by_side = -(here.costs - there.costs) / _log_mean(here.cost, there.cost)
    tables = {name: pd.DataFrame(effect, index=cells) for name, effect in effects.items()}
    factors = _factors(view, whole, tables)
    signs = [factor["effect"]["sign"] for factor in factors]
    return {
        "n_cells": n_cells,
        "throughput": _ratio(view, whole),
        "factors": factors,
        "relation": _relation(*signs),
        **_work(view, above, below, (rows, rounds), effects["cost"]),
        "cpus": float(here.cpus.mean()),
        "cpus_before": float(there.cpus.mean()),
        "sides": [
            {"name": side, "effect": _ratio(view, part), "cost": _ratio(view, -part)}
            for side, part in zip(sides, by_side, strict=True)
        ],
    }


def _work(
    view: View, above: Values, below: Values, used: tuple[IntArray, IntArray], cost: FloatArray
) -> dict[str, Facts | None]:
    """Return how much of a cost is more instructions, and how much is slower ones."""
    column = view.per_byte("instructions")
    nothing: dict[str, Facts | None] = {"instructions": None, "pace": None}
    user_only = view.measured["user_mode_only"].fillna(False).astype(bool).any()
    if user_only or not view.counted(column):
        return nothing
    logs = (above(column) - below(column)).to_numpy(np.float64)[np.ix_(*used)]
    if np.isnan(logs).any():
        return nothing
    return {"instructions": _ratio(view, logs), "pace": _ratio(view, -cost - logs)}


def _relation(first: int | None, second: int | None) -> str:
    if not first:
        return "unsettled"
    if not second:
        return "alone"
    return "both" if first == second else "against"


def _measured(logs: FloatArray, rows: IntArray, rounds: IntArray) -> _Measured:
    values = np.exp(logs[:, rows][:, :, rounds])
    return _Measured(values[0], values[1:])


def _log_mean(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the logarithmic mean, (a - b) / log(a / b), which is a where the two are equal."""
    logs = np.log(one / other)
    with np.errstate(invalid="ignore"):
        means = (one - other) / logs
    return np.where(np.abs(logs) < 1e-9, one, means)


def _factors(view: View, whole: FloatArray, effects: dict[str, pd.DataFrame]) -> list[Facts]:
    total = float(whole.mean())
    direction = 1.0 if total >= 0.0 else -1.0
    means = {name: float(effect.to_numpy().mean()) for name, effect in effects.items()}
    return [
        {
            "name": name,
            "ratio": _ratio(view, (-effects[name] if name == "cost" else effects[name]).to_numpy()),
            "effect": _ratio(view, effects[name].to_numpy()),
            "share": means[name] / total if total else None,
        }
        | cell_counts(view, effects[name])
        for name in sorted(effects, key=lambda name: -direction * means[name])
    ]


def _ratio(view: View, logs: FloatArray) -> Facts:
    """Return the ratio over the cells together, of logarithms by cell and round."""
    return ratio_facts(paired_ratio(logs.mean(axis=0), view.settings.confidence))
