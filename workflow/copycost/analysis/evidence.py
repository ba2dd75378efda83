"""Named predicates over measured quantities. An explanation needs its predicate to hold.

Thresholds are data, not code: to argue with one, change its line and render again.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Literal

from copycost.analysis.json_values import Facts
from copycost.analysis.quantities import Disagreement, Quantity
from copycost.stats.ratios import Direction, Ratio


class Weight(StrEnum):
    """What a predicate says about an explanation."""

    SHOWN = "shown"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    CELLS_DISAGREE = "cells_disagree"
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on one measured quantity.

    Attributes
    ----------
    id
        Name, as `facts.json` and the templates use it.
    quantity
        Key in the quantities of a condition; see `copycost.analysis.quantities`.
    holds
        ``at_least`` or ``at_most`` the threshold.
    threshold
        In the unit of the quantity.
    because
        Why this threshold.
    """

    id: str
    quantity: str
    holds: Literal["at_least", "at_most"]
    threshold: float
    because: str


PREDICATES = (
    Predicate(
        "all_copied", "copied_share", "at_least", 0.999,
        "a rest of one in a thousand cannot carry a gain",
    ),
    Predicate(
        "threads_above_cpus", "threads_per_cpu", "at_least", 2.0,
        "a second thread, sending or receiving, on some CPU",
    ),
    Predicate(
        "switches_grow_with_threads", "switches_growth_threads", "at_least", 1.1,
        "a tenth more context switches per message",
    ),
    Predicate(
        "l1d_misses_grow_with_threads", "l1d_growth_threads", "at_least", 1.05,
        "5 % more misses per byte, if its interval says so",
    ),
    Predicate(
        "llc_misses_grow_with_threads", "llc_growth_threads", "at_least", 1.05,
        "5 % more misses per byte, if its interval says so",
    ),
    Predicate(
        "message_cost_dominates", "small_message_cost_ratio", "at_least", 2.0,
        "a byte of the smallest message costs at least twice one of the largest",
    ),
    Predicate(
        "l1d_fall_follows_cache_size", "l1d_fall_beyond_cache", "at_most", 0.95,
        "misses fall by 5 % more where the message and its copy exceed the L1 cache",
    ),
)  # fmt: skip


def weigh(quantities: Mapping[str, Quantity]) -> Facts:
    """Return, per predicate, its weight with the value and the threshold behind it.

    A quantity that is a ratio with an interval decides only if the interval lies on one side
    of 1; otherwise the predicate is undecided. Cells that contradict each other have a weight of
    their own, with their numbers: n_cells, n_above, n_below, halves.
    """
    return {predicate.id: _weigh_one(predicate, quantities) for predicate in PREDICATES}


def _weigh_one(predicate: Predicate, quantities: Mapping[str, Quantity]) -> Facts:
    found = quantities.get(predicate.quantity)
    if isinstance(found, Disagreement):
        weight = {"weight": Weight.CELLS_DISAGREE.value, "because": predicate.because}
        nothing = {"value": None, "low": None, "high": None, "threshold": predicate.threshold}
        return weight | nothing | asdict(found)
    low = high = None
    value: float | None
    open_interval = False
    if isinstance(found, Ratio):
        value = None if found.direction is Direction.NOT_MEASURED else found.value
        low, high = found.low, found.high
        open_interval = found.direction is Direction.NO_DIFFERENCE
    else:
        value = found
    return {
        "weight": _weight(predicate, value, open_interval=open_interval).value,
        "value": value,
        "low": low,
        "high": high,
        "threshold": predicate.threshold,
        "because": predicate.because,
    }


def _weight(predicate: Predicate, value: float | None, *, open_interval: bool) -> Weight:
    if value is None:
        return Weight.NOT_MEASURED
    if open_interval:
        return Weight.UNDECIDED
    at_least = predicate.holds == "at_least"
    holds = value >= predicate.threshold if at_least else value <= predicate.threshold
    return Weight.SHOWN if holds else Weight.CONTRADICTED
