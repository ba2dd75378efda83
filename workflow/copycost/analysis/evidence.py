"""Named predicates over measured quantities. An explanation needs its predicate to hold.

Thresholds are data, not code: to argue with one, change its line and render again.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.analysis.placement import placement_of
from copycost.analysis.ratio_facts import cell_counts
from copycost.stats.ratios import Direction, Ratio, paired_ratio


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Cells that contradict each other, so that no ratio over them together may be told.

    Counted are all of them, and those whose own interval lies above and below 1.
    """

    n_cells: int
    n_above: int
    n_below: int
    halves: list[Facts]
    """See `copycost.analysis.ratio_facts.opposed_halves`."""


Quantity = Ratio | Disagreement | float | None

ONE = "one_copy"
ZERO = "zero_copy"
URING_ZERO = "uring_zero_copy"

COPIED_SHARE = 0.999
"""From this share of completions marked as copied on, the rest cannot carry a gain."""
NOT_COPIED_SHARE = 0.001
"""Up to this share, the copies cannot explain anything."""


def quantities(view: View) -> dict[str, Quantity]:
    """Return every quantity, None where this run did not measure it.

    Shares are 0 to 1; a `Ratio` says "times as much", taken
    round by round and pooled over the cells that have every round; a `Disagreement` that these
    cells contradict each other. ``small_message_cost_ratio`` is of two_copy and one_copy.
    """
    cost = view.cost_column
    return {
        "copied_share": copied_share(view.of(ZERO)),
        "ring_bytes": ring_bytes(view),
        "ring_per_llc": _ring_per_llc(view),
        "threads_per_cpu": _threads_per_cpu(view),
        "switches_growth_threads": growth_over_threads(view, "context_switches_per_message"),
        "l1d_growth_threads": growth_over_threads(view, view.per_byte("l1d_load_misses")),
        "llc_growth_threads": growth_over_threads(view, view.per_byte("llc_load_misses")),
        "small_message_cost_ratio": _small_message_cost(view, cost),
        "l1d_fall_beyond_cache": _fall_beyond_cache(view),
    }


def copied_share(rows: pd.DataFrame) -> float | None:
    """Return the share of completed zero-copy sends that the kernel marked as copied."""
    return _quotient(rows, "zc_copied", "zc_completed")


def really_not_copied(rows: pd.DataFrame) -> bool:
    """Tell whether the kernel said of zero-copy sends, and of hardly any, that it copied."""
    share = copied_share(rows)
    return share is not None and share <= NOT_COPIED_SHARE


def first_rival(view: View) -> str:
    """Return what zero_copy is compared with: two_copy, or one_copy where that is missing."""
    return BASELINE if view.has(BASELINE) else ONE


def ring_bytes(view: View) -> float | None:
    """Return the size of the ring of messages, of all threads [bytes]; None where it is hot."""
    if "ring_bytes" not in view.measured:
        return None
    sizes = view.measured["ring_bytes"].dropna()
    return float(sizes.median()) if len(sizes) and sizes.median() > 0 else None


def _ring_per_llc(view: View) -> float | None:
    ring, cache = ring_bytes(view), view.caches.get("llc_bytes")
    return ring / cache if ring and cache else None


def _threads_per_cpu(view: View) -> float | None:
    """Return how many threads, of both sides, share the most crowded CPU at most."""
    placement = placement_of(view)
    if placement is None:
        return None
    return float(placement.threads_per_cpu(int(view.measured["n_threads"].max())))


def _pooled(
    view: View, names: Iterable[str], logs_of: Callable[[str], pd.DataFrame]
) -> Ratio | None:
    """Return one ratio over all cells of some implementations; None where no cell has one."""
    tables = [logs_of(name) for name in names if view.has(name)]
    tables = [table for table in tables if len(table)]
    if not tables:
        return None
    found = view.pooled(pd.concat(tables, ignore_index=True))
    return found if found.n_pairs else None


def _quotient(rows: pd.DataFrame, over: str, under: str) -> float | None:
    """Return a quotient of sums, so that long cells weigh as much as they carried."""
    if over not in rows or under not in rows:
        return None
    known = rows[rows[over].notna() & rows[under].notna()]
    total = float(known[under].sum())
    return float(known[over].sum()) / total if total > 0.0 else None


def growth_over_threads(view: View, metric: str) -> Ratio | Disagreement | None:
    """Return how many times as much the largest thread count has as the smallest."""
    few, many = view.n_threads[0], view.n_threads[-1]
    if few == many or not view.counted(metric):
        return None
    tables = {name: view.cube.threads(metric, name, many, few) for name in view.implementations}
    logs = pd.concat(tables, names=["implementation"])
    counts = cell_counts(view, logs)
    if counts.pop("contradict"):
        return Disagreement(**counts)
    found = view.pooled(logs)
    return found if found.n_pairs else None


def _small_message_cost(view: View, cost: str) -> Ratio | None:
    """Return how many times as much a byte of the smallest message costs as of the largest.

    Of the two that copy, which question 4 compares: what zero-copy pays for each message is another
    story.
    """
    small, large = view.msg_bytes[0], view.msg_bytes[-1]
    if small == large or not view.counted(cost):
        return None
    return _pooled(view, (BASELINE, ONE), lambda name: view.cube.sizes(cost, name, small, large))


def _fall_beyond_cache(view: View) -> Ratio | None:
    """Return the misses ratio to two_copy where two messages exceed L1d, over that where not.

    Below 1: misses fall by more where the message and its copy do not both fit.
    """
    l1d = view.caches.get("l1d_bytes")
    column = view.per_byte("l1d_load_misses")
    if l1d is None or not view.counted(column) or not view.has(ONE, BASELINE):
        return None
    logs = view.cube.pair(column, ONE, BASELINE).dropna()
    beyond = logs.index.get_level_values("msg_bytes").to_numpy() * 2 > l1d
    if beyond.all() or not beyond.any():
        return None
    values = logs.to_numpy(dtype=np.float64)
    differences = values[beyond].mean(axis=0) - values[~beyond].mean(axis=0)
    return paired_ratio(differences, view.settings.confidence)


class Weight(StrEnum):
    """What a predicate says about an explanation."""

    SHOWN = "shown"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    CELLS_DISAGREE = "cells_disagree"
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on one measured quantity."""

    id: str
    """Name, as `facts.json` and the templates use it."""
    quantity: str
    """Key of `quantities`."""
    holds: Literal["at_least", "at_most"]
    threshold: float
    """In the unit of the quantity."""
    because: str
    """Why this threshold."""


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
