"""Ratios as facts: one ratio, one over many cells, and whether these contradict each other."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pandas as pd

from copycost.analysis.finding import Finding
from copycost.analysis.json_values import Facts
from copycost.analysis.stats.ratios import (
    Direction,
    Ratio,
    family_ratios,
    simultaneous_ratio,
)
from copycost.analysis.stats.settings import FloatArray, IntArray
from copycost.analysis.stats.trend_tests import settled_signs

_AXES = ("msg_bytes", "n_threads")
_Key = TypeVar("_Key", bound=Hashable)


def ratio_facts(found: Ratio) -> Facts:
    """Return a ratio for the templates; its sign is None where it was not measured."""
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


def places(logs: pd.DataFrame) -> Iterator[tuple[Facts, FloatArray]]:
    """Yield where each row of a table of log ratios is, as fields of a finding, and its rounds."""
    for index, rounds in zip(logs.index, logs.to_numpy(dtype=np.float64), strict=True):
        levels = index if isinstance(index, tuple) else (index,)
        at = zip(logs.index.names, levels, strict=True)
        yield {str(name): (int(level),) for name, level in at}, rounds


def extremes(about: Finding, logs: pd.DataFrame, of: str, confidence: float) -> Iterator[Finding]:
    """Yield where a throughput's ratio is lowest and highest, with intervals that allow for that.

    Of a table with a row per cell or size, whose index says where it is.
    """
    found = [(at, simultaneous_ratio(rounds, len(logs), confidence)) for at, rounds in places(logs)]
    for which, pick in (("worst", min), ("best", max)):
        at, ratio = pick(found, key=lambda one: one[1].value)
        yield replace(
            about,
            quantity=f"{about.quantity} ({which})",
            correction=f"picked from {len(found)} {of}",
            **at,
            **estimate_of(ratio),
        )


def over_cells(found: Facts, more: str, less: str, *, more_is_better: bool = False) -> Facts:
    """Return `together` as fields of a finding, without an estimate where cells disagree."""
    better, worse = ("n_above", "n_below") if more_is_better else ("n_below", "n_above")
    disagree = found["contradict"]
    told = {1: more, -1: less}.get(found["sign"], "no difference seen")
    estimate = {"estimate": found["value"]} | {name: found[name] for name in ("low", "high", "n")}
    return {
        "verdict": "cells disagree" if disagree else told,
        "n_cells": found["n_cells"],
        "n_better": found[better],
        "n_worse": found[worse],
        **(dict.fromkeys(estimate) if disagree else estimate),
    }


def complete_block(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return which rows and columns, without NaN, together hold most values.

    Columns are left out in the order of how much they miss, which is the best choice where whole
    rounds are missing, and close to it elsewhere.
    """
    known = ~np.isnan(values)
    order = np.argsort(-known.sum(axis=0), kind="stable")
    rows = columns = np.empty(0, dtype=np.int64)
    for n_columns in range(len(order), 0, -1):
        kept = np.sort(order[:n_columns])
        complete = np.flatnonzero(known[:, kept].all(axis=1))
        if complete.size * n_columns > rows.size * columns.size:
            rows, columns = complete, kept
    return rows, columns


def pooled_rounds(logs: pd.DataFrame) -> FloatArray:
    """Return the mean over many cells of each round, shape (n_rounds,).

    Cells of the same round share the state of the machine, so they are not independent; rounds
    are. All rounds have to be of the same cells to be comparable, so where some are missing, the
    rounds and cells are taken that leave most values.
    """
    values = logs.to_numpy(dtype=np.float64)
    complete = values[np.ix_(*complete_block(values))]
    means: FloatArray = complete.mean(axis=0) if complete.size else np.empty(0)
    return means


def together(logs: pd.DataFrame, confidence: float) -> Facts | None:
    """Return one ratio over cells for the templates; None where no cell has one.

    Of log ratios with a row per cell and a column per round: `ratio_facts` of the pooled ratio, and
    `cell_counts`.
    """
    return judged_together({"": logs}, confidence).get("")


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
    """Return how many cells are shown to lie above and below 1, and whether these contradict.

    They do where some cells are shown to lie above 1 and others below (Holm). A mean over such
    cells says only which of them the grid has most of, so a text may not tell it. Since few rounds
    show little of a single cell, the smaller sizes together are compared with the larger ones, too,
    and the fewer threads with the more: `halves` has the axes along which these lie on different
    sides, with sign 1 where the larger half lies above 1.
    """
    signs = [cell.sign for cell in family_ratios(logs.to_numpy(dtype=np.float64), confidence)]
    parts = list(halves_of(logs))
    rows = [pooled_rounds(half) for _, low, high in parts for half in (low, high)]
    sides = settled_signs(rows, confidence)
    halves = [
        {"axis": axis, "sign": high}
        for (axis, _, _), low, high in zip(parts, sides[::2], sides[1::2], strict=True)
        if low * high < 0
    ]
    return {
        "n_cells": len(signs),
        "n_above": signs.count(1),
        "n_below": signs.count(-1),
        "contradict": {1, -1} <= set(signs) or bool(halves),
        "halves": halves,
    }


def halves_of(logs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield, by axis, the cells of the smaller and of the larger sizes, or thread counts."""
    for axis in _AXES:
        if axis not in logs.index.names:
            continue
        values = logs.index.get_level_values(axis)
        points = sorted(set(values))
        if len(points) > 1:
            smaller = values < points[len(points) // 2]
            yield axis, logs[smaller], logs[~smaller]
