"""Measured quantities that explain something, if they lie within the bounds that are stated here.

To argue with a bound, change its line and render again.
"""

import math
from typing import Literal

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.finding import COPIED_SHARE as COPIED_SHARE
from copycost.analysis.finding import NOT_COPIED_SHARE as NOT_COPIED_SHARE
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE
from copycost.analysis.ratio_facts import cell_counts
from copycost.analysis.stats.ratios import Direction, Ratio, paired_ratio

ONE = "one_copy"
ZERO = "zero_copy"
URING_ZERO = "uring_zero_copy"

SWITCHES_GROWN = 1.1
MISSES_GROWN = 1.05
"""From these ratios of the most threads to the fewest on, something grows with them."""
DOMINATING = 2.0
"""From this ratio of a byte of the smallest messages to one of the largest on, its message costs
more than it does."""
FALLEN = 0.95
"""Up to this ratio, misses fall by more where a message and its copy do not both fit."""

Quantity = Ratio | float | Literal["cells_disagree"] | None
"""Shares are 0 to 1; a `Ratio` says "times as much", taken round by round and pooled over the cells
that have every round, unless these contradict each other; None is not measured."""


def copied_share(rows: pd.DataFrame) -> float | None:
    """Return the share of completed zero-copy sends that the kernel marked as copied.

    Of sums, so that long cells weigh as much as they carried.
    """
    if not {"zc_copied", "zc_completed"} <= set(rows):
        return None
    known = rows[["zc_copied", "zc_completed"]].dropna()
    total = float(known["zc_completed"].sum())
    return float(known["zc_copied"].sum()) / total if total > 0.0 else None


def really_not_copied(rows: pd.DataFrame) -> bool:
    """Tell whether the kernel said of zero-copy sends, and of hardly any, that it copied."""
    share = copied_share(rows)
    return share is not None and share <= NOT_COPIED_SHARE


def ring_bytes(view: View) -> float | None:
    """Return the size of the ring of messages, of all threads [bytes]; None where it is hot."""
    if "ring_bytes" not in view.measured:
        return None
    sizes = view.measured["ring_bytes"].dropna()
    return float(sizes.median()) if len(sizes) and sizes.median() > 0 else None


def growth_over_threads(view: View, metric: str) -> Quantity:
    """Return how many times as much the largest thread count has as the smallest."""
    few, many = view.n_threads[0], view.n_threads[-1]
    if few == many or not view.counted(metric):
        return None
    tables = {name: view.cube.threads(metric, name, many, few) for name in view.implementations}
    logs = pd.concat(tables, names=["implementation"])
    if cell_counts(logs, view.settings.confidence)["contradict"]:
        return "cells_disagree"
    return view.pooled(logs)


def small_message_cost(view: View) -> Quantity:
    """Return how many times as much a byte of the smallest message costs as of the largest.

    Of the two that copy, which question 4 compares: what zero-copy pays for each message is another
    story.
    """
    small, large = view.msg_bytes[0], view.msg_bytes[-1]
    if small == large or not view.counted(view.cost_column):
        return None
    tables = [view.cube.sizes(view.cost_column, name, small, large) for name in (BASELINE, ONE)]
    tables = [table for table in tables if len(table)]
    return view.pooled(pd.concat(tables, ignore_index=True)) if tables else None


def fall_beyond_cache(view: View) -> Quantity:
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


def weigh(found: Quantity, *, at_least: float = -math.inf, at_most: float = math.inf) -> Facts:
    """Return whether a quantity lies within bounds, as `Finding` has it: verdict and estimate.

    The verdict is ``shown``, ``contradicted``, ``cells_disagree``, ``not_measured``, or
    ``undecided``: a ratio with an interval decides only if that lies on one side of 1.
    """
    if found is None or (isinstance(found, Ratio) and not found.n_pairs):
        return {"verdict": "not_measured", "estimate": None}
    if found == "cells_disagree":
        return {"verdict": found, "estimate": None}
    value, ends = (
        (found.value, {"low": found.low, "high": found.high})
        if isinstance(found, Ratio)
        else (float(found), {})
    )
    verdict = "shown" if at_least <= value <= at_most else "contradicted"
    if isinstance(found, Ratio) and found.direction is Direction.NO_DIFFERENCE:
        verdict = "undecided"
    return {"verdict": verdict, "estimate": value, **ends}
