"""Question 1: extremes, and in how many cells zero-copy won or lost."""

import re
from typing import Any

import numpy as np

from tools.recompute.told import Expected, Slot, Told, says


@says(
    "As a multiple of that of <impl>, the throughput of <impl> ranged from <x> <i>, at <size> with "
    "<threads>, to <x> <i>, at <size> with <threads>"
)
def _extremes(told: Told, b: str, a: str, *_: Slot) -> Expected:
    logs = told.run.pair(told.condition, a, b)
    found = [told.run.ratio(row, len(logs)) for _, row in logs.iterrows()]
    values = [one.value for one in found]
    told_of: list[Any] = []
    for place in (int(np.argmin(values)), int(np.argmax(values))):
        size, threads = logs.index[place]
        told_of += [found[place].value, found[place], size, (threads,)]
    return [None, None, *told_of]


@says(
    "As a multiple of that of <impl>, the throughput of <impl> was <x> <i>, at <size> with "
    "<threads>"
)
def _only_cell(told: Told, b: str, a: str, _x: str, _i: str, size: int, threads: Slot) -> Expected:
    one = told.run.cells(told.condition, a, b)[size, threads[0]]
    return [None, None, one.value, one, None, None]


def _won_and_lost(told: Told, rivals: list[str]) -> tuple[int, int, int]:
    """Return the cells in which zero_copy beat all rivals, lost to one, and all compared."""
    ratios = [told.run.cells(told.condition, "zero_copy", rival) for rival in rivals]
    common = set.intersection(*map(set, ratios))
    signs = [[of[cell].seen for of in ratios] for cell in common]
    won, lost = sum(min(each) == 1 for each in signs), sum(min(each) == -1 for each in signs)
    return won, lost, len(common)


def _rivals(told: Told) -> list[str]:
    text = f"{told.sentence.before} {told.sentence.text}"
    found = re.findall(r"(?:was|be) faster than `(\w+)`(?: and `(\w+)`)?", text)
    return [name for name in found[-1] if name]


@says("It was slower than <impl> or <impl> in <n> of <n> cells")
def _lost(told: Told, a: str, b: str, *_: Slot) -> Expected:
    _won, lost, all_cells = _won_and_lost(told, [a, b])
    return [None, None, lost, all_cells]


@says("`zero_copy` was faster than <impl> and <impl> in <n> of <n> cells")
def _won(told: Told, a: str, b: str, *_: Slot) -> Expected:
    won, _lost, all_cells = _won_and_lost(told, [a, b])
    return [None, None, won, all_cells]


@says("In <n> it was slower than <impl> or <impl>")
def _lost_too(told: Told, _n: int, a: str, b: str) -> Expected:
    return [_won_and_lost(told, [a, b])[1], None, None]


@says("<n> cells are left open", "<n> cell is left open")
def _left_open(told: Told, *_: Slot) -> Expected:
    won, lost, all_cells = _won_and_lost(told, _rivals(told))
    return [all_cells - won - lost]


@says("It was slower than <impl> in <n> of <n> cells")
def _slower_than_one(told: Told, b: str, *_: Slot) -> Expected:
    signs = [one.seen for one in told.run.cells(told.condition, "zero_copy", b).values()]
    return [None, signs.count(-1), len(signs)]


@says("<impl> was faster than <impl> in <n> of <n> cells (<sizes>, <threads>)")
@says("<impl> was faster than <impl> in <n> of <n> cells (<size>, <threads>)")
def _won_somewhere(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    won = [cell for cell, one in cells.items() if one.seen == 1]
    sizes, threads = (tuple(sorted(set(values))) for values in zip(*won, strict=True))
    said = sizes if isinstance(_[2], tuple) else sizes[0]
    return [None, None, len(won), len(cells), said, threads]


@says("`zero_copy` was nowhere the fastest: in each of the <n> cells it was slower than")
def _nowhere(told: Told, _n: int) -> Expected:
    _, lost, all_cells = _won_and_lost(told, ["two_copy", "one_copy"])
    return [lost if lost == all_cells else -1]


@says(
    "`zero_copy` was faster than <impl> and <impl> in <n> of <n> cells (<sizes>, <threads>)",
    "`zero_copy` was faster than <impl> and <impl> in <n> of <n> cells (<size>, <threads>)",
)
def _won_at(told: Told, a: str, b: str, *said: Slot) -> Expected:
    ratios = [told.run.cells(told.condition, "zero_copy", rival) for rival in (a, b)]
    common = set.intersection(*map(set, ratios))
    won = [cell for cell in common if all(of[cell].seen == 1 for of in ratios)]
    sizes, threads = (tuple(sorted(set(values))) for values in zip(*won, strict=True))
    at = sizes if isinstance(said[2], tuple) else sizes[0]
    return [None, None, len(won), len(common), at, threads]
