"""Ratios as facts: one ratio, one over many cells, and whether these contradict each other."""

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeVar

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, pooled_ratio, pooled_rounds
from copycost.analysis.json_values import Facts
from copycost.stats.ratios import Direction, Ratio, family_ratios
from copycost.stats.trend_tests import settled_signs


def ratio_facts(found: Ratio) -> Facts:
    """Return a ratio for the templates: n (rounds), value, low, high, sign, once.

    The sign is None where it was not measured.
    """
    return {
        "n": found.n_pairs,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "sign": found.sign if found.n_pairs else None,
        "once": found.direction is Direction.OBSERVED_ONCE,
    }


def estimate_of(found: Ratio | None) -> Facts:
    """Return a ratio as the fields of a finding; none of them where it was not measured."""
    if found is None or not found.n_pairs:
        return {}
    return {"estimate": found.value, "low": found.low, "high": found.high, "n": found.n_pairs}


_AXES = ("msg_bytes", "n_threads")
_Key = TypeVar("_Key", bound=Hashable)


def together(view: View, logs: pd.DataFrame) -> Facts | None:
    """Return one ratio over cells for the templates; None where no cell has one.

    Of log ratios with a row per cell and a column per round: the keys of `ratio_facts`, of the mean
    over the cells, round by round, and those of `cell_counts`.
    """
    found = view.pooled(logs)
    if not found.n_pairs:
        return None
    return ratio_facts(found) | cell_counts(logs, view.settings.confidence)


def judged_together(tables: Mapping[_Key, pd.DataFrame], confidence: float) -> dict[_Key, Facts]:
    """Return `together` of each of several comparisons; nothing of those that no cell has.

    With Holm's correction for all of them: the chance that any of the signs is wrong is at most
    1 - `confidence`, whichever is picked. Each has the interval that its sign rests on.
    """
    rounds = {key: pooled_rounds(logs) for key, logs in tables.items()}
    known = [key for key, values in rounds.items() if values.size]
    ratios = family_ratios([rounds[key] for key in known], confidence)
    return {
        key: ratio_facts(ratio) | cell_counts(tables[key], confidence)
        for key, ratio in zip(known, ratios, strict=True)
    }


def cell_counts(logs: pd.DataFrame, confidence: float) -> Facts:
    """Return how many cells there are, and whether they contradict each other.

    Keys
    ----
    n_cells, n_above, n_below: Cells, and those that are shown to lie above and below 1, with Holm's
        correction for their number.
    contradict: Whether some cells are shown to lie above 1 and others below. A mean over such cells
        says only which of them the grid has most of, so a text may not tell it. Single cells are
        looked at; and, since few rounds show little of a single cell, the smaller sizes together
        and the larger ones, and the fewer threads together and the more.
    halves: Along what the halves are shown to lie on different sides: ``axis``, msg_bytes or
        n_threads, and ``sign``, 1 where the larger sizes, or the more threads, lie above 1, else
        -1.
    """
    cells = family_ratios(logs.to_numpy(dtype=np.float64), confidence)
    signs = [cell.sign for cell in cells]
    parts = list(halves_of(logs))
    ratios = [pooled_ratio(half, confidence) for _, low, high in parts for half in (low, high)]
    sides = settled_signs(ratios, confidence)
    halves = [
        {"axis": axis, "sign": high}
        for (axis, _, _), low, high in zip(parts, sides[::2], sides[1::2], strict=True)
        if low * high < 0
    ]
    return {
        "n_cells": len(cells),
        "n_above": signs.count(1),
        "n_below": signs.count(-1),
        "contradict": {1, -1} <= set(signs) or bool(halves),
        "halves": halves,
    }


def halves_of(logs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield the cells of the smaller and of the larger sizes, and of the thread counts.

    Along what the index has of these, where it has two values at least; its name comes first.
    """
    for level in _AXES:
        if level not in logs.index.names:
            continue
        values = logs.index.get_level_values(level)
        points = sorted(set(values))
        if len(points) > 1:
            smaller = values < points[len(points) // 2]
            yield level, logs[smaller], logs[~smaller]
