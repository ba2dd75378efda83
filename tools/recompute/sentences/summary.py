"""The summary: what was measured, the highest throughput, what a byte costs."""

import re

from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT
from tools.recompute.told import Expected, Slot, Told, says


@says(
    "<n> repetitions of <time> were measured, over messages of <span> and <threads>",
    "<n> repetition of <time> was measured, over messages of <span> and <threads>",
)
def _scene(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    sizes = told.run.sizes(told.condition)
    threads = tuple(sorted(set(rows["n_threads"])))
    duration = told.run.config["measure"]["duration_s"]
    return [len(rows), duration, (sizes[0], sizes[-1]), threads]


def _fastest(told: Told) -> tuple[Estimate, str, tuple[int, int]]:
    rows = told.run.measured(told.condition)
    medians = rows.groupby(["implementation", "msg_bytes", "n_threads"])[THROUGHPUT].median()
    implementation, size, threads = medians.index[int(medians.argmax())]
    return Estimate(medians.max()), implementation, (size, threads)


@says("highest median throughput was about <rate>, by <impl> with <size> messages and <threads>")
def _highest(told: Told, *_: Slot) -> Expected:
    found, implementation, (size, threads) = _fastest(told)
    return [found.value, implementation, size, (threads,)]


@says("A byte took <x> <unit> there")
def _cost_there(told: Told, _x: str, unit: str) -> Expected:
    _, implementation, cell = _fastest(told)
    metric = told.run.metric(told.condition, unit)
    return [told.run.median(told.condition, implementation, cell, metric).value, None]


def _cost_of(told: Told, implementation: str, cell: Slot, unit: str) -> Estimate:
    return told.run.median(
        told.condition, implementation, cell, told.run.metric(told.condition, unit)
    )


@says(
    "At <size> with <threads>, a byte took <x> <unit> with <impl>",
    "At <size> with <threads>, a byte took <x> <unit> of <cost> with <impl>",
)
def _cost_at(told: Told, size: int, threads: Slot, _x: str, unit: str, *names: str) -> Expected:
    found = _cost_of(told, names[-1], (size, threads[0]), unit)
    return [None, None, found.value, *[None] * (1 + len(names))]


@says(
    "With <impl> it took <x> <unit>, <x> times as much <i>",
    "With <impl> it took <x> <unit>",
)
def _cost_with(told: Told, name: str, _x: str, unit: str, *_: Slot) -> Expected:
    where = r"At ([\d.,]+ \w+) with (\d+) threads?, a byte"
    size, threads = re.findall(where, told.sentence.before)[-1]
    cell = (told.run.size(size), int(threads))
    found = _cost_of(told, name, cell, unit)
    metric = told.run.metric(told.condition, unit)
    ratios = told.run.cells(told.condition, name, "two_copy", metric)
    return [None, found.value, None, *([ratios[cell].value, ratios[cell]] if _ else [])]
