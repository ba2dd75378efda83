"""Every way, ranked by cost."""

import math
import re

from tools.recompute.report_tables import floor
from tools.recompute.told import Expected, Slot, Told, says


@says("At <size> with <threads>, <impl> has the lowest median, <x> ns per byte")
def _cheapest(told: Told, size: int, threads: Slot, *_: Slot) -> Expected:
    known = _known(told, (size, threads[0]))
    cost, name = min(known)
    assert f"`{name}` has the lowest" in told.sentence.text, f"it is {name}"
    assert len(known) > 1, "no other's is known"
    return [None, None, None, cost]


@says("At <size> with <threads>, the cost is known of <impl> alone, <x> ns per byte")
def _alone(told: Told, size: int, threads: Slot, *_: Slot) -> Expected:
    ((cost, name),) = _known(told, (size, threads[0]))
    assert f"of `{name}` alone" in told.sentence.text, f"it is {name}"
    return [None, None, None, cost]


def _known(told: Told, cell: tuple[int, int]) -> list[tuple[float, str]]:
    """Return the median costs that any repetition tells, and whose they are."""
    every = told.run.implementations(told.condition)
    costs = [
        (told.run.median(told.condition, name, cell, told.cpu_time).value, name) for name in every
    ]
    return [(cost, name) for cost, name in costs if not math.isnan(cost)]


@says("That is <x> times a plain copy in <cache> (working set of <size>)")
def _over_floor(told: Told, *_: Slot) -> Expected:
    ranked = r"At ([\d.,]+ \w+) with (\d+) threads?,(?: the cost is known of)? `(\w+)`"
    size, threads, name = re.findall(ranked, told.sentence.before)[-1]
    cell = (told.run.size(size), int(threads))
    cost, works_on = floor(told.run, told.condition, cell[0])
    median = told.run.median(told.condition, name, cell, told.cpu_time).value
    return [median / cost, None, works_on]
