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
        "partly_copied", "copied_share", "at_least", 0.01,
        "below one in a hundred the copies do not show in the cost",
    ),
    Predicate(
        "memory_limit_met", "enobufs_per_message", "at_least", 1e-4,
        "one send in ten thousand had to wait for completions",
    ),
    Predicate(
        "slots_waited_for", "slot_waits_per_message", "at_least", 0.01,
        "one message in a hundred found every other still in the kernel's hands",
    ),
    Predicate(
        "datagrams_lost", "lost_datagrams_share", "at_least", 0.001,
        "below one in a thousand, what was paid for datagrams that were lost does not show",
    ),
    Predicate(
        "exceeds_l1d", "working_set_per_l1d", "at_least", 1.0,
        "a message and its copy that are larger than the cache displace each other",
    ),
    Predicate(
        "exceeds_l2", "working_set_per_l2", "at_least", 1.0,
        "the same, one level on",
    ),
    Predicate(
        "exceeds_llc", "working_set_per_llc", "at_least", 1.0,
        "the same for all threads together, which share this level",
    ),
    Predicate(
        "segmented_by_cpu", "offloaded_share", "at_most", 0.999,
        "without TSO and GSO the CPU cuts every message into segments of the path's MTU",
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
        "one_copy_cheaper_where_faster", "one_cost_ratio_where_faster", "at_most", 1.0,
        "any lower cost per byte, if its interval says so",
    ),
    Predicate(
        "zero_copy_cheaper_where_faster", "zero_cost_ratio_where_faster", "at_most", 1.0,
        "any lower cost per byte, if its interval says so",
    ),
    Predicate(
        "l1d_fall_follows_cache_size", "l1d_fall_beyond_cache", "at_most", 0.95,
        "misses fall by 5 % more where the message and its copy exceed the L1 cache",
    ),
    Predicate(
        "segments_lost", "retransmits_per_gigabyte", "at_least", 1.0,
        "one segment sent again per gigabyte; virtual devices should lose none",
    ),
)  # fmt: skip


def weigh(quantities: Mapping[str, Quantity]) -> Facts:
    """Return, per predicate, its weight with the value and the threshold behind it.

    A quantity that is a ratio with an interval decides only if the interval lies on one side
    of 1; otherwise the predicate is undecided. Cells that contradict each other have a weight of
    their own, with their numbers: n_cells, n_above, n_below, halves.
    """
    return {predicate.id: _weigh_one(predicate, quantities) for predicate in PREDICATES}


def contention_verdict(evidence: Mapping[str, Facts]) -> str:
    """Return what the growth of cache misses with the threads says of contention for the caches.

    ``shown`` by some level, ``contradicted`` by both, ``contradicted_in_l1d`` or
    ``contradicted_in_llc`` by the only one measured, ``undecided`` or ``not_measured``.
    """
    weights = {
        level: evidence[f"{level}_misses_grow_with_threads"]["weight"] for level in ("l1d", "llc")
    }
    if Weight.SHOWN in weights.values():
        return "shown"
    measured = [level for level, weight in weights.items() if weight != Weight.NOT_MEASURED]
    if not measured:
        return "not_measured"
    if {Weight.UNDECIDED, Weight.CELLS_DISAGREE} & set(weights.values()):
        return "undecided"
    return "contradicted" if len(measured) == 2 else f"contradicted_in_{measured[0]}"


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
