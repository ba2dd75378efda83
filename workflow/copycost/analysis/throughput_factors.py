"""What a difference in throughput consists of: measured factors whose product it is.

Throughput is CPUs in use over CPU time per byte, in every repetition, by definition of the three.
So the ratio of two throughputs is, exactly and in every repetition, one ratio of these over
another, and their logarithms add up to its logarithm.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import complete_block
from copycost.analysis.stats.ratios import Ratio, paired_ratio

_BITS = 8.0
_NS = 1e9
_SIGNS = {"cpu_ns_per_byte": -1.0, "cpus_in_use": 1.0}
"""Whether a factor's effect on throughput is the factor, or the other way round."""

Both = Callable[[str], tuple[pd.DataFrame, pd.DataFrame]]
"""The logarithms of a column, of the one and of the other: a row per cell, a column per round."""


@dataclass(frozen=True, slots=True)
class Explained:
    """What a ratio of throughputs consists of."""

    ratios: Mapping[str, Ratio]
    """By quantity: of the throughputs; then of its factors, CPU time per byte and CPUs in use, the
    one with the larger effect in the direction of the difference first."""
    relation: str
    """What the second factor does: ``both`` (the same way as the first), ``alone`` (no difference
    shown), ``against``; ``unsettled`` where the first is not shown to have an effect."""


def explain_pair(
    view: View, implementation: str, baseline: str, cells: Sequence[tuple[int, int]]
) -> Explained | None:
    """Return what one implementation's throughput over another's consists of, in some cells.

    These, by size [bytes] and thread count, are those in which the difference holds.
    """

    def both(metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        above, below = view.cube.levels(metric, implementation, baseline)
        return above.reindex([*cells]), below.reindex([*cells])

    return _explain(view, both)


def explain_threads(
    view: View, implementation: str, more: int, fewer: int, sizes: Sequence[int]
) -> Explained | None:
    """Return the same of one implementation with more threads over itself with fewer."""

    def both(metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        logs = view.cube.values(metric, implementation)
        above, below = (logs.reindex([(size, n) for size in sizes]) for n in (more, fewer))
        return above, below

    return _explain(view, both) if sizes else None


def cpus_in_use(view: View, implementation: str) -> pd.Series:
    """Return the number of CPUs in use, mean over the rounds, by size and thread count."""
    rate = view.cube.values(THROUGHPUT, implementation)
    cost = view.cube.values(view.per_byte("cpu_ns"), implementation)
    found: pd.Series = (np.exp(rate + cost) / _BITS / _NS).mean(axis=1)
    return found


def _explain(view: View, both: Both) -> Explained | None:
    """Return the factors of a ratio of throughputs; None where CPU time was not measured.

    Of those of the cells that have every round.
    """
    sides = ("sender",) if view.sender_only else ("sender", "receiver")
    columns = [THROUGHPUT, *(f"{side}_cpu_ns_per_byte" for side in sides)]
    tables = np.array([[one.to_numpy(np.float64) for one in both(column)] for column in columns])
    # shape (columns, 2, cells, rounds), the one above the other
    rows, rounds = complete_block(tables.sum(axis=(0, 1)))
    if not rows.size:
        return None
    values = np.exp(tables[:, :, rows][..., rounds])
    rates, costs = values[0], values[1:].sum(axis=0)
    cpus = rates / _BITS * costs / _NS
    whole = np.log(rates[0] / rates[1])
    factors = {
        "cpu_ns_per_byte": np.log(costs[0] / costs[1]), "cpus_in_use": np.log(cpus[0] / cpus[1])
    }  # fmt: skip
    direction = 1.0 if float(whole.mean()) >= 0.0 else -1.0
    names = sorted(factors, key=lambda name: -direction * _SIGNS[name] * factors[name].mean())
    ratios = {
        name: paired_ratio(logs.mean(axis=0), view.settings.confidence)
        for name, logs in ({THROUGHPUT: whole} | {name: factors[name] for name in names}).items()
    }
    first, second = (_SIGNS[name] * ratios[name].sign for name in names)
    if not first:
        return Explained(ratios, "unsettled")
    if not second:
        return Explained(ratios, "alone")
    return Explained(ratios, "both" if first == second else "against")
