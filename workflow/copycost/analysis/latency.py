"""Latency: how long a send takes, over the sampled ones, and what more threads do to it."""

import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.together import together

PERCENTILES = {"median": "service_median_ns", "p99": "service_p99_ns"}
"""What is told of the durations of sampled sends, by the columns of the cells table."""

_CELL = ["implementation", "msg_bytes", "n_threads"]
_TIMES = ["service_mean_ns", "service_p99_ns", "service_sampled_mean_ns", "service_max_ns"]


def latency_facts(view: View) -> Facts:
    """Return how long a send takes: how that changes with the threads, and where p99 is short.

    Keys
    ----
    fewest, most
        Thread counts.
    median, p99
        Per implementation measured with both: implementation, and that percentile with the most
        threads over that with the fewest, over the sizes together; see `together`.
    n_cells
        Cells with sampled sends.
    below
        Those whose p99 is below the time per message, None without any; see `_below`.
    """
    cells = view.measured.groupby(_CELL)[_TIMES].median().dropna(subset="service_p99_ns")
    return {
        "fewest": view.n_threads[0],
        "most": view.n_threads[-1],
        "n_cells": len(cells),
        "below": _below(cells),
    } | {name: _growth(view, column) for name, column in PERCENTILES.items()}


def _below(cells: pd.DataFrame) -> Facts | None:
    """Return of the cells whose p99 is below the time per message, medians over the repetitions.

    Keys
    ----
    n_cells, n_threads
        How many there are, and their thread counts.
    n_within
        Of them, those where the mean of the sampled sends itself is above the p99: what is missing
        lies within sends, fewer than one in a hundred, and not between them.
    longest_low_ns, longest_high_ns
        The longest sampled send of such a cell, from the cell with the lowest to that with the
        highest.
    """
    below = cells[cells["service_p99_ns"] < cells["service_mean_ns"]]
    if below.empty:
        return None
    return {
        "n_cells": len(below),
        "n_threads": sorted({int(n) for n in below.index.get_level_values("n_threads")}),
        "n_within": int((below["service_sampled_mean_ns"] > below["service_p99_ns"]).sum()),
        "longest_low_ns": float(below["service_max_ns"].min()),
        "longest_high_ns": float(below["service_max_ns"].max()),
    }


def _growth(view: View, column: str) -> list[Facts]:
    few, many = view.n_threads[0], view.n_threads[-1]
    if few == many:
        return []
    found = {
        name: together(view, view.thread_logs(column, name, many, few))
        for name in view.implementations
        if view.has(name)
    }
    return [{"implementation": name} | growth for name, growth in found.items() if growth]
