"""Every way, ranked by cost."""

import re

from tools.recompute.report_tables import floor
from tools.recompute.told import Expected, Slot, Told, says


@says("At <size> with <threads>, <impl> has the lowest median, <x> ns per byte")
def _cheapest(told: Told, size: int, threads: Slot, *_: Slot) -> Expected:
    cost, name = min(
        (told.run.median(told.condition, name, (size, threads[0]), told.cpu_time).value, name)
        for name in told.run.implementations(told.condition)
    )
    assert f"`{name}` has the lowest" in told.sentence.text, f"it is {name}"
    return [None, None, None, cost]


@says("That is <x> times a plain copy in <cache> (working set of <size>)")
def _over_floor(told: Told, *_: Slot) -> Expected:
    ranked = r"At ([\d.,]+ \w+) with (\d+) threads?, `(\w+)` has"
    size, threads, name = re.findall(ranked, told.sentence.before)[-1]
    cell = (told.run.size(size), int(threads))
    cost, works_on = floor(told.run, told.condition, cell[0])
    median = told.run.median(told.condition, name, cell, told.cpu_time).value
    return [median / cost, None, works_on]
