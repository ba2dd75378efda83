"""Results: where a percentile of sampled sends is below the time per message."""

import pandas as pd

from tools.recompute.told import Expected, Slot, Told, says, says_opposed

_CELL = ["implementation", "msg_bytes", "n_threads"]


def _cells(told: Told) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the medians of each cell's times, and those of the cells whose p99 is too short."""
    rows = told.run.measured(told.condition)
    times = [f"service_{name}_ns" for name in ("mean", "sampled_mean", "p99", "max")]
    cells = rows.groupby(_CELL)[times].median().dropna()
    return cells, cells[cells["service_p99_ns"] < cells["service_mean_ns"]]


@says("In <n> of <n> cells (<threads>), the 99th percentile lies below the time per message")
def _below(told: Told, *_: Slot) -> Expected:
    cells, below = _cells(told)
    return [len(below), len(cells), tuple(sorted(set(below.index.get_level_values("n_threads"))))]


@says("In <n> of these, it lies below the mean of the sampled sends themselves")
def _within(told: Told, _n: int) -> Expected:
    below = _cells(told)[1]
    return [int((below["service_sampled_mean_ns"] > below["service_p99_ns"]).sum())]


@says("The longest took <time> to <time>, by cell")
def _longest(told: Told, *_: Slot) -> Expected:
    longest = _cells(told)[1]["service_max_ns"] / 1e9
    return [longest.min(), longest.max()]


@says_opposed("took longer", less="less time", of="at <n> of <n> sizes")
def _both_ways(told: Told) -> pd.DataFrame:
    name = told.sentence.text.split("`")[1]
    metric = "service_median_ns" if "the median send" in told.sentence.text else "service_p99_ns"
    return told.run.threads(told.condition, name, metric)
