"""A pair over the cells together, and the price of a message."""

import re
from itertools import pairwise

import pandas as pd

from tools.recompute.estimates import Estimate
from tools.recompute.told import Expected, Slot, Told, says, standing


@says("Over the cells together, it was <x> <i>")
def pooled_throughput(told: Told, *_: Slot) -> Expected:
    """Return the ratio of throughputs over the cells together."""
    one = told.run.pooled(told.run.pair(told.condition, *_question_pair(told)))
    return [one.value, one]


@says("Over the cells together, no difference was seen <i>")
def _pooled_even(told: Told, *_: Slot) -> Expected:
    return [told.run.pooled(told.run.pair(told.condition, *_question_pair(told)))]


def _question_pair(told: Told) -> tuple[str, str]:
    """Return the pair whose throughputs were compared last."""
    found = re.findall(
        r"As a multiple of that of `(\w+)`, the throughput of `(\w+)`", told.sentence.before
    )
    return (str(found[-1][1]), str(found[-1][0])) if found else told.pair


@says(
    "Over the cells where its lead stands, no difference in <cost> per byte was seen (ratio about "
    "<x>)"
)
def _cost_where_faster_even(told: Told, cost: str, *_: Slot) -> Expected:
    return [None, _cost_where_faster(told, cost).value]


@says(
    "over those cells, <impl> took about <x> times the <cost> per byte of `two_copy`",
    "over the cells where its lead stands, <impl> took about <x> times the <cost> per byte of "
    "`two_copy`",
)
def _cheaper_where_faster(told: Told, _a: str, _x: str, cost: str, *_: Slot) -> Expected:
    return [None, _cost_where_faster(told, cost).value, None]


def _cost_where_faster(told: Told, cost: str) -> Estimate:
    faster = standing(told.cells, 1, told.run.settings.confidence)
    logs = told.run.pair(told.condition, *told.pair, told.run.metric(told.condition, cost))
    return told.run.pooled(logs[[cell in faster for cell in logs.index]])


@says("a byte of <size> messages took <x> times the <cost> of one in <size> messages <i>")
def _small_messages(told: Told, small: int, _x: str, cost: str, large: int, _i: str) -> Expected:
    run, metric = told.run, told.run.metric(told.condition, cost)
    values = [run.of(told.condition, name, metric) for name in ("two_copy", "one_copy")]
    sizes = run.sizes(told.condition)
    logs = [
        each.xs(sizes[0], level="msg_bytes") - each.xs(sizes[-1], level="msg_bytes")
        for each in values
    ]
    one = run.pooled(pd.concat(logs))
    return [sizes[0], one.value, None, sizes[-1], one]


@says(
    "from <size> to <size> <threads>, its <cost> compared with that of `two_copy` rose to <x> "
    "times <i>"
)
def _rise(told: Told, _small: int, _large: int, threads: Slot, cost: str, *_: Slot) -> Expected:
    run = told.run
    logs = run.pair(told.condition, "one_copy", "two_copy", run.metric(told.condition, cost))
    steps = [
        (small, large, int(n), rows.loc[large] - rows.loc[small])
        for n in sorted(set(logs.index.get_level_values("n_threads")))
        for rows in [logs.xs(n, level="n_threads").sort_index()]
        for small, large in pairwise(rows.index)
    ]
    found = [(run.ratio(change, len(steps)), *where) for *where, change in steps]
    rises = [each for each in found if each[0].sign == 1]
    one, small, large, n = max(rises, key=lambda each: each[0].value)
    return [small, large, (n,), None, one.value, one]
