"""What a difference consists of."""

import re

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.estimates import Estimate
from tools.recompute.explained import Parts, explained
from tools.recompute.run import End
from tools.recompute.sentences.analysis_unexpected import named_first
from tools.recompute.slots import read
from tools.recompute.told import Expected, Handler, Slot, Told, says, says_opposed


@says(
    "That it was slower than <impl> stands in <n> cells; there its throughput was about <x>",
    "That it was faster than <impl> stands in <n> cells; there its throughput was about <x>",
    "That it was slower than <impl> stands in <n> cell; there its throughput was about <x>",
    "That it was faster than <impl> stands in <n> cell; there its throughput was about <x>",
)
def _difference(told: Told, *_: Slot) -> Expected:
    return [None, len(told.differing()[0]), _parts(told).throughput.value]


@says(
    "That it was slower than <impl> stands in <n> cells; CPU time was not measured there",
    "That it was faster than <impl> stands in <n> cells; CPU time was not measured there",
    "That it was slower than <impl> stands in <n> cell; CPU time was not measured there",
    "That it was faster than <impl> stands in <n> cell; CPU time was not measured there",
)
def _unexplained(told: Told, *_: Slot) -> Expected:
    return [None, len(told.differing()[0])]


def _parts(told: Told) -> Parts:
    """Return the parts of the difference that was told last."""
    return explained(told.run, _ends(told))


def _ends(told: Told) -> list[tuple[End, End]]:
    """Return what is compared in the difference that was told last."""
    run, condition = told.run, told.condition
    text = f"{told.sentence.before} {told.sentence.text}"
    if "Over the cases that stand" in text:
        against = named_first(told).against
        return [ends for case, _ in against if case.n > 1 and (ends := case.ends)]
    by_threads = re.findall(
        r"With `(\w+)`,(?: over ([^`]*),)? throughput with (\d+) threads? was [\d.]+ times that "
        r"with (\d+)",
        text,
    )
    if by_threads:
        name, over, most, fewest = by_threads[-1]
        sizes = read("sizes", over, run.all_sizes) if over else run.all_sizes
        return [
            ((condition, name, size, int(most)), (condition, name, size, int(fewest)))
            for size in sizes
        ]
    cells, a, b = told.differing()
    return [((condition, a, *cell), (condition, b, *cell)) for cell in cells]


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


def _says_about(handler: Handler, *patterns: str) -> None:
    """Name the sentences that say the same of cells that were picked: without intervals."""

    @says(*patterns)
    def _about(told: Told, *said: Slot) -> Expected:
        return [one for one in handler(told, *said) if not isinstance(one, Estimate)]


_says_about(
    _mostly_cost,
    "About <p> of that is CPU time per byte, <x> times as much; the other <p> is CPUs in use, <x> "
    "compared with <x>, <x> times as many",
)
_says_about(
    _mostly_use,
    "About <p> of that is CPUs in use, <x> compared with <x>, <x> times as many; the other <p> is "
    "CPU time per byte, <x> times as much",
)
_says_about(
    _either,
    "This run does not settle whether that is CPU time per byte, about <x> times as much, or CPUs "
    "in use, about <x> times as many",
)
_says_about(
    _either_way,
    "This run does not settle whether that is CPUs in use, about <x> times as many, or CPU time "
    "per byte, about <x> times as much",
)
_says_about(
    _cost_alone,
    "That is a matter of CPU time per byte, about <x> times as much; no difference in CPUs in use "
    "was seen, <x> compared with <x>",
)
_says_about(
    _use_alone,
    "That is a matter of CPUs in use, <x> compared with <x>, about <x> times as many; no "
    "difference",
    "CPUs in use made up for a part of it, <x> compared with <x>, about <x> times as many",
)
_says_about(
    _cost_against,
    "CPU time per byte was about <x> times as much, which alone would make the throughput <x> "
    "times as high",
)
_says_about(
    _use_against,
    "CPUs in use were <x> compared with <x>, about <x> times as many, which alone would make the "
    "throughput <x> times as high",
)
_says_about(
    _cost_makes_up,
    "CPU time per byte made up for a part of it, about <x> times as much",
)


def _where_different(told: Told, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the logarithms of both sides of the difference that is explained, cell by cell."""
    cells, a, b = told.differing()
    sides = [one.reindex(cells) for one in told.run.levels(told.condition, a, b, metric)]
    whole = estimates.block(sides[0] - sides[1])
    here, there = (side.loc[whole.index, whole.columns] for side in sides)
    return here, there


def _rate(told: Told, metric: str) -> Expected:
    here, there = _where_different(told, metric)
    means = (float(np.exp(side.to_numpy(float).mean())) for side in (here, there))
    return [*means, told.run.pooled(here - there).value]


@says("It made <x> system calls per message, compared with <x>: about <x> times as many")
def _calls(told: Told, *_: Slot) -> Expected:
    return _rate(told, "sender_syscalls_per_message")


@says("It had <x> context switches per message, compared with <x>: about <x> times as many")
def _switches(told: Told, *_: Slot) -> Expected:
    return _rate(told, "context_switches_per_message")


@says(
    "A byte took <x> times as many instructions <i>, and an instruction <x> times as much CPU "
    "time <i>"
)
def _instructions(told: Told, *_: Slot) -> Expected:
    parts = _parts(told)
    many, slow = parts.instructions, parts.pace
    return [many.value, many, slow.value, slow]


_says_about(
    _instructions,
    "A byte took about <x> times as many instructions, and an instruction about <x> times as much "
    "CPU time",
)


@says("makes the throughput <x> times as high at the sender, and <x> times as high at the receiver")
def _by_side(told: Told, *_: Slot) -> Expected:
    return [one.value for one in _parts(told).sides.values()]


@says(
    "the change at the sender alone makes CPU time per byte about <x> times as much, and that at "
    "the receiver about <x> times"
)
def _cost_by_side(told: Told, *_: Slot) -> Expected:
    return [1 / one.value for one in _parts(told).sides.values()]


@says("Over the cases that stand, throughput was about <x> times as high")
def _over_the_cases(told: Told, _x: str) -> Expected:
    return [_parts(told).throughput.value]


@says("With <impl>, throughput with <threads> was <x> times that with <n>")
def _threads_apart(told: Told, _a: str, most: Slot, _x: str, _n: int) -> Expected:
    counts = set(told.run.measured(told.condition)["n_threads"])
    return [None, (max(counts),), _parts(told).throughput.value, min(counts)]


@says("With <impl>, over <sizes>, throughput with <threads> was <x> times that with <n> <i>")
def _threads_apart_over(told: Told, _a: str, sizes: Slot, most: Slot, *_: Slot) -> Expected:
    counts = set(told.run.measured(told.condition)["n_threads"])
    found = _parts(told).throughput
    return [None, None, (max(counts),), found.value, min(counts), found]


@says_opposed("It made more system calls per message", less="fewer")
def _calls_both_ways(told: Told) -> pd.DataFrame:
    return _pair_logs(told, "sender_syscalls_per_message")


@says_opposed("It had more context switches per message", less="fewer")
def _switches_both_ways(told: Told) -> pd.DataFrame:
    return _pair_logs(told, "context_switches_per_message")


def _pair_logs(told: Told, metric: str) -> pd.DataFrame:
    cells, a, b = told.differing()
    return told.run.pair(told.condition, a, b, metric).reindex(cells).dropna(how="all")


@says_opposed("CPU time per byte was lower", less="higher")
def _cost_contradicts(told: Told) -> pd.DataFrame:
    return -_parts(told).costs


@says_opposed("more CPUs were in use", less="fewer")
def _use_contradicts(told: Told) -> pd.DataFrame:
    return _parts(told).uses


@says("Of its segments, <x> per gigabyte were sent again, compared with <x>")
def _resent(told: Told, *_: Slot) -> Expected:
    return _per_gigabyte(told, "tcp_retransmits")


@says(
    "Of its segments, <x> per gigabyte were sent again, compared with <x>; that is at most <p> of "
    "the bytes"
)
def _resent_share(told: Told, *_: Slot) -> Expected:
    rows = _rows_of(told, 0)
    most = float((rows["tcp_retransmits"] * rows["mss_bytes"]).sum() / rows["received_bytes"].sum())
    return [*_per_gigabyte(told, "tcp_retransmits"), most]


@says("It had <x> page faults per gigabyte, compared with <x>")
def _faults(told: Told, *_: Slot) -> Expected:
    return _per_gigabyte(told, "sender_page_faults", "receiver_page_faults")


def _rows_of(told: Told, which: int) -> pd.DataFrame:
    """Return the repetitions of the cells of a difference, of the first or the second."""
    cells, *names = told.differing()
    rows = told.run.measured(told.condition)
    here = pd.MultiIndex.from_frame(rows[["msg_bytes", "n_threads"]]).isin(cells)
    return rows[(rows["implementation"] == names[which]) & here]


def _per_gigabyte(told: Told, *columns: str) -> list[float]:
    """Return how often something happened, all cells together, in rounds that both have."""
    totals = []
    for which in (0, 1):
        rows = _rows_of(told, which)
        known = [column for column in columns if column in rows and rows[column].notna().any()]
        counts = rows[known].astype(float).sum(axis=1, min_count=len(known))
        table = pd.DataFrame({"n": counts, "bytes": rows["received_bytes"], "rep": rows["rep"]})
        totals.append(table.dropna()[["n", "bytes"]].sum())
    return [float(one["n"] / one["bytes"] * 1e9) for one in totals]


@says(
    "That it was slower than <impl> stands in <n> cells, where more was compared",
    "That it was faster than <impl> stands in <n> cells, where more was compared",
    "That it was slower than <impl> stands in <n> cell, where more was compared",
    "That it was faster than <impl> stands in <n> cell, where more was compared",
)
def _more_compared(told: Told, *_: Slot) -> Expected:
    return [None, len(told.differing()[0])]
