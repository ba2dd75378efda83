"""What a difference consists of."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT
from tools.recompute.slots import read
from tools.recompute.told import Expected, NotRecomputedError, Slot, Told, says


@says(
    "In the <n> cells where it was slower than <impl>, its throughput was <x> times as high <i>",
    "In the <n> cells where it was faster than <impl>, its throughput was <x> times as high <i>",
    "In the <n> cell where it was slower than <impl>, its throughput was <x> times as high <i>",
    "In the <n> cell where it was faster than <impl>, its throughput was <x> times as high <i>",
)
def _difference(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    return [len(told.differing()[0]), None, parts.throughput.value, parts.throughput]


@dataclass(frozen=True)
class Parts:
    """What a ratio of throughputs consists of: CPUs in use over CPU time per byte."""

    throughput: Estimate
    cost: Estimate
    use: Estimate
    cpus: float
    cpus_before: float

    def share(self, part: Estimate) -> float:
        """Return the part's share of the logarithm of the difference."""
        return abs(float(np.log(part.value) / np.log(self.throughput.value)))


def _parts(told: Told) -> Parts:
    """Return the parts of the difference that was told last, of cells that have every round."""
    run, condition = told.run, told.condition
    by_threads = re.findall(
        r"With `(\w+)`,(?: over ([^`]*),)? throughput with (\d+) threads? was [\d.]+ times that "
        r"with (\d+)",
        f"{told.sentence.before} {told.sentence.text}",
    )
    if by_threads and told.sentence.section.endswith("q3"):
        name, over, most, fewest = by_threads[-1]
        first, second = (name, int(most)), (name, int(fewest))
        sizes = read("sizes", over, run.all_sizes) if over else run.all_sizes
        cells = [((size, first[1]), (size, second[1])) for size in sizes]
    else:
        found, a, b = told.differing()
        first, second = (a, 0), (b, 0)
        cells = [(cell, cell) for cell in found]

    def logs(metric: str) -> list[pd.DataFrame]:
        return [
            run.of(condition, who, metric)
            .reindex([cell[which] for cell in cells])
            .reset_index(drop=True)
            for which, (who, _) in enumerate((first, second))
        ]

    throughput, cost = logs(THROUGHPUT), logs(f"{run.side(condition)}_cpu_ns_per_byte")
    use = [t + c - np.log(8e9) for t, c in zip(throughput, cost, strict=True)]
    whole = estimates.block(use[0] - use[1])

    def ratio(pair: list[pd.DataFrame]) -> Estimate:
        return run.pooled((pair[0] - pair[1]).loc[whole.index, whole.columns])

    here = [each.loc[whole.index, whole.columns] for each in use]
    cpus = [float(np.exp(each.to_numpy(float)).mean()) for each in here]
    return Parts(ratio(throughput), ratio(cost), ratio(use), *cpus)


@says(
    "<p> of that is CPU time per byte, <x> times as much <i>; the other <p> is CPUs in use, <x> "
    "compared with <x>, <x> times as many <i>"
)
def _mostly_cost(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    cost, use = parts.cost, parts.use
    shares = parts.share(cost), parts.share(use)
    before = parts.cpus, parts.cpus_before
    return [shares[0], cost.value, cost, shares[1], *before, use.value, use]


@says(
    "<p> of that is CPUs in use, <x> compared with <x>, <x> times as many <i>; the other <p> is "
    "CPU time per byte, <x> times as much <i>"
)
def _mostly_use(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    cost, use = parts.cost, parts.use
    shares = parts.share(use), parts.share(cost)
    return [shares[0], parts.cpus, parts.cpus_before, use.value, use, shares[1], cost.value, cost]


@says(
    "This run does not settle whether that is CPU time per byte, <x> times as much <i>, or CPUs in "
    "use, <x> times as many <i>"
)
def _either(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    return [parts.cost.value, parts.cost, parts.use.value, parts.use]


@says(
    "This run does not settle whether that is CPUs in use, <x> times as many <i>, or CPU time per "
    "byte, <x> times as much <i>"
)
def _either_way(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    return [parts.use.value, parts.use, parts.cost.value, parts.cost]


@says(
    "That is a matter of CPU time per byte, <x> times as much <i>; no difference in CPUs in use "
    "was seen, <x> compared with <x>"
)
def _cost_alone(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    return [parts.cost.value, parts.cost, parts.cpus, parts.cpus_before]


@says(
    "That is a matter of CPUs in use, <x> compared with <x>, <x> times as many <i>; no difference"
)
def _use_alone(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    return [parts.cpus, parts.cpus_before, parts.use.value, parts.use]


@says(
    "CPU time per byte was <x> times as much <i>, which alone would make the throughput <x> times "
    "as high"
)
def _cost_against(told: Told, *_: Slot) -> Expected:
    cost = _parts(told).cost
    return [cost.value, cost, 1 / cost.value]


@says(
    "CPUs in use were <x> compared with <x>, <x> times as many <i>, which alone would make the "
    "throughput <x> times as high"
)
def _use_against(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    return [parts.cpus, parts.cpus_before, parts.use.value, parts.use, parts.use.value]


@says("CPUs in use made up for a part of it, <x> compared with <x>, <x> times as many <i>")
def _use_makes_up(told: Told, *_: Slot) -> Expected:
    return _use_alone(told)


@says("CPU time per byte made up for a part of it, <x> times as much <i>")
def _cost_makes_up(told: Told, *_: Slot) -> Expected:
    cost = _parts(told).cost
    return [cost.value, cost]


def _where_different(told: Told, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the logarithms of both sides of the difference that is explained, cell by cell."""
    cells, a, b = told.differing()
    sides = [told.run.of(told.condition, name, metric).reindex(cells) for name in (a, b)]
    whole = estimates.block(sides[0] - sides[1])
    here, there = (side.loc[whole.index, whole.columns] for side in sides)
    return here, there


def _rate(told: Told, metric: str) -> Expected:
    here, there = _where_different(told, metric)
    one = told.run.pooled(here - there)
    means = (float(np.exp(side.to_numpy(float).mean())) for side in (here, there))
    return [*means, one.value, one]


@says("It made <x> system calls per message, compared with <x>: <x> times as many <i>")
def _calls(told: Told, *_: Slot) -> Expected:
    return _rate(told, "sender_syscalls_per_message")


@says("It had <x> context switches per message, compared with <x>: <x> times as many <i>")
def _switches(told: Told, *_: Slot) -> Expected:
    return _rate(told, "context_switches_per_message")


@says(
    "A byte took <x> times as many instructions <i>, and an instruction <x> times as much CPU "
    "time <i>"
)
def _instructions(told: Told, *_: Slot) -> Expected:
    if not told.sentence.section.endswith("q1"):
        raise NotRecomputedError("it is of other cells")
    side = told.run.side(told.condition)
    counts = _where_different(told, f"{side}_instructions_per_byte")
    times = _where_different(told, f"{side}_cpu_ns_per_byte")
    many = told.run.pooled(counts[0] - counts[1])
    slow = told.run.pooled((times[0] - counts[0]) - (times[1] - counts[1]))
    return [many.value, many, slow.value, slow]


def _side_effects(told: Told) -> list[float]:
    """Return what each side's CPU time by itself makes of the throughput.

    A side's part of the change of a sum's logarithm is its own change over the logarithmic mean.
    """
    if not told.sentence.section.endswith("q1"):
        raise NotRecomputedError("it is of other cells")
    _cells, a, b = told.differing()
    logs = _where_different(told, told.cpu_time)
    here, there = (np.exp(one.to_numpy(float)) for one in logs)
    mean = (here - there) / np.log(here / there)
    effects = []
    for side in ("sender", "receiver"):
        metric = f"{side}_cpu_ns_per_byte"
        of_side = [
            np.exp(told.run.of(told.condition, name, metric).reindex_like(logs[0]).to_numpy(float))
            for name in (a, b)
        ]
        effects.append(float(np.exp(-((of_side[0] - of_side[1]) / mean).mean())))
    return effects


@says("makes the throughput <x> times as high at the sender, and <x> times as high at the receiver")
def _by_side(told: Told, *_: Slot) -> Expected:
    return _side_effects(told)
