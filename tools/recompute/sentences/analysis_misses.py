"""Question 2: cache misses."""

import re

import pandas as pd

from tools.recompute.estimates import Estimate
from tools.recompute.told import Expected, Slot, Told, says, says_opposed


@says("With <impl>, the <level> per byte were <x> times those with `two_copy` <i>")
def _misses(told: Told, name: str, level: str, *_: Slot) -> Expected:
    one = told.run.pooled(_miss_logs(told, name, level))
    return [None, None, one.value, one]


@says("With <impl>, no difference in <level> was seen <i>")
def _misses_even(told: Told, name: str, level: str, *_: Slot) -> Expected:
    return [None, None, told.run.pooled(_miss_logs(told, name, level))]


@says_opposed("With <impl>, the <level> per byte were more than with `two_copy`", less="fewer")
@says_opposed("With <impl>, a byte took more <cost> than with `two_copy`", less="less")
def _opposed(told: Told, name: str, what: str) -> pd.DataFrame:
    return told.run.pair(told.condition, name, "two_copy", told.run.metric(told.condition, what))


@says("With <impl>, they were <p> fewer per byte than with `two_copy`")
def _deepest_fall(told: Told, name: str, *_: Slot) -> Expected:
    level = re.findall(r"misses of the (?:L1 data|last-level) cache", told.sentence.before)[-1]
    return [None, 1 - told.run.pooled(_miss_logs(told, name, level)).value]


def _miss_logs(told: Told, name: str, level: str) -> pd.DataFrame:
    return told.run.pair(told.condition, name, "two_copy", told.run.metric(told.condition, level))


@says(
    "Over the cells together, <impl> took <x> times the <cost> per byte of `two_copy` <i>",
)
def _cost_together(told: Told, name: str, _x: str, cost: str, _i: str) -> Expected:
    metric = told.run.metric(told.condition, cost)
    one = told.run.pooled(told.run.pair(told.condition, name, "two_copy", metric))
    return [None, one.value, None, one]


@says("Over the cells together, <impl> showed no difference in <cost> per byte from `two_copy` <i>")
def _cost_together_even(told: Told, name: str, cost: str, _i: str) -> Expected:
    metric = told.run.metric(told.condition, cost)
    return [None, None, told.run.pooled(told.run.pair(told.condition, name, "two_copy", metric))]


@says("<level> were fewest in a single cell with <impl>: about <x> times, at <size> with <threads>")
def _fewest_misses(told: Told, level: str, name: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, name, "two_copy", told.run.metric(told.condition, level))
    size, threads = min(cells, key=lambda cell: cells[cell].value)
    return [None, None, cells[size, threads].value, size, (threads,)]


@says("relative to `two_copy` were <x> times what they were where both fit <i>")
@says("relative to `two_copy` were <x> times what they were below it <i>")
def _beyond_cache(told: Told, *_: Slot) -> Expected:
    one = _beyond(told)
    return [one.value, one]


@says("together exceed the L1 data cache is left open <i>")
def _beyond_cache_open(told: Told, _i: str) -> Expected:
    return [_beyond(told)]


def _beyond(told: Told) -> Estimate:
    metric = told.run.metric(told.condition, "misses of the L1 data cache")
    logs = told.run.pair(told.condition, "one_copy", "two_copy", metric).dropna()
    cache = told.run.host["cpu"]["caches"]["l1d_bytes"]
    beyond = 2 * logs.index.get_level_values("msg_bytes") > cache
    return told.run.ratio(logs[beyond].mean() - logs[~beyond].mean())
