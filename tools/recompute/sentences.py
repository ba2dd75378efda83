"""The sentences of a report that tell numbers, each with what the records give for them.

A handler gets what the slots of its sentence say and where it stands, and returns what each slot
should say; None for one that only names what the others are about.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from tools.recompute import estimates
from tools.recompute.document import Sentence
from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT, Cell, Run
from tools.recompute.slots import compiled, read

Slot: TypeAlias = Any
Cells: TypeAlias = dict[Cell, Estimate]
Expected: TypeAlias = list[Any]
_LABELS = r"(?:sender )?CPU (?:cycles|time)"
_PAIRS = {"q1": "zero_copy", "q4": "one_copy", "q5": "zero_copy"}


class NotRecomputedError(Exception):
    """Raised where a sentence stands in a place whose numbers nothing here recomputes."""


@dataclass(frozen=True)
class Told:
    """Where a sentence stands: its condition, and what was said before it."""

    run: Run
    condition: str
    sentence: Sentence

    @property
    def pair(self) -> tuple[str, str]:
        """Who is compared with whom: as named last, else as the question has it."""
        compared = r"`(\w+)`(?: seen)?(?: was| to be)? (?:faster|slower) than `(\w+)`"
        named = re.findall(rf"{compared}|between `(\w+)` and `(\w+)`", self.sentence.before)
        if named:
            a, b = [name for name in named[-1] if name]
            return a, b
        return _PAIRS[self.sentence.section.rpartition("-")[2]], "two_copy"

    @property
    def cells(self) -> Cells:
        """The throughput ratio of each cell of that pair."""
        return self.run.cells(self.condition, *self.pair)

    def differing(self) -> tuple[list[Any], str, str]:
        """Return the cells of the difference that is explained, and who is compared there."""
        found = re.findall(
            r"In the [\w,]+ cells? where it was (slower|faster) than `(\w+)`",
            f"{self.sentence.before} {self.sentence.text}",
        )
        if not found or self.sentence.section.endswith("q6"):
            raise NotRecomputedError("it is of the cases of an expectation")
        way, rival = found[-1]
        cells = self.run.cells(self.condition, "zero_copy", rival)
        sign = {"faster": 1, "slower": -1}[way]
        return [cell for cell, one in cells.items() if one.seen == sign], "zero_copy", rival


Handler = Callable[..., Expected]
SENTENCES: list[tuple[re.Pattern[str], list[str], Handler]] = []


def says(*patterns: str) -> Callable[[Handler], Handler]:
    """Name the sentences that a handler recomputes."""

    def add(handler: Handler) -> Handler:
        SENTENCES.extend((*compiled(pattern), handler) for pattern in patterns)
        return handler

    return add


def _signs(cells: Cells, sign: int) -> list[Any]:
    return [cell for cell, one in cells.items() if one.seen == sign]


def _threads_alike(told: Told, threads: tuple[int, ...], pair: tuple[str, str], cost: str) -> Slot:
    """Return the sizes that are better and worse with each of these threads, and all compared."""
    metric = told.run.metric(told.condition, cost) if cost else THROUGHPUT
    cells = told.run.cells(told.condition, *pair, metric)
    less = -1 if cost else 1
    found = set()
    for n in threads or sorted({n for _, n in cells}):
        here = {size: one.seen * less for (size, each), one in cells.items() if each == n}
        sizes = [tuple(s for s in here if here[s] == sign) for sign in (1, -1, 0)]
        found.add((*sizes, tuple(here)))
    assert len(found) == 1, "these thread counts differ"
    return found.pop()


# What was measured, and the summary


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


@says("messages of <span> were sent over TCP", "UDP datagrams of <span> were sent")
def _scene_in_short(told: Told, *_: Slot) -> Expected:
    sizes = told.run.sizes(told.condition)
    return [(sizes[0], sizes[-1])]


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
    cell = (read("size", size), int(threads))
    found = _cost_of(told, name, cell, unit)
    metric = told.run.metric(told.condition, unit)
    ratios = told.run.cells(told.condition, name, "two_copy", metric)
    return [None, found.value, None, *([ratios[cell].value, ratios[cell]] if _ else [])]


# From which size on


@says(
    "<impl> was faster than <impl> in <n> of <n> cells and slower in <n>",
)
def _both_ways(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(_signs(cells, 1)), len(cells), len(_signs(cells, -1))]


@says(
    "At no size was <impl> seen to be faster than <impl>: it was slower in <n> of <n> cells",
    "<impl> was slower than <impl> in <n> of <n> cells",
)
def _only_slower(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(_signs(cells, -1)) if not _signs(cells, 1) else -1, len(cells)]


@says(
    "At no size was <impl> seen to be slower than <impl>: it was faster in <n> of <n> cells",
    "At no size was <impl> seen to be slower than <impl>: it was faster in <n> of <n> cell",
)
def _only_faster(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(_signs(cells, 1)) if not _signs(cells, -1) else -1, len(cells)]


@says("In the other <n>, no difference was seen")
def _others_even(told: Told, *_: Slot) -> Expected:
    return [len(_signs(told.cells, 0))]


@says(
    "No difference between <impl> and <impl> was seen in any of the <n> cells compared",
    "No difference between <impl> and <impl> was seen in the <n> cells compared",
)
def _all_even(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(cells) if not _signs(cells, 1) + _signs(cells, -1) else -1]


@says("No such difference stands after correction for the number of cells")
def _none_stands(told: Told) -> Expected:
    assert told.run.corrected(told.cells) == 0, "some do"
    return []


@says(
    "<n> of <n> such differences stand after correction",
    "<n> of <n> such differences stands after correction",
    "<n> of <n> such difference stands after correction",
)
def _some_stand(told: Told, *_: Slot) -> Expected:
    cells = told.cells
    return [told.run.corrected(cells), len(cells) - len(_signs(cells, 0))]


@says("<threads>, <impl> was faster than <impl> <at> and slower <at>")
def _turns(told: Told, threads: Slot, a: str, b: str, *_: Slot) -> Expected:
    better, worse, _even, every = _threads_alike(told, threads, (a, b), "")
    return [None, None, None, (better, every), (worse, every)]


@says("<threads>, <impl> was faster than <impl> <at>")
def _wins(told: Told, threads: Slot, a: str, b: str, *_: Slot) -> Expected:
    better, _worse, _even, every = _threads_alike(told, threads, (a, b), "")
    return [None, None, None, (better, every)]


@says("<threads>, <impl> was slower than <impl> <at>")
def _loses(told: Told, threads: Slot, a: str, b: str, *_: Slot) -> Expected:
    _better, worse, _even, every = _threads_alike(told, threads, (a, b), "")
    return [None, None, None, (worse, every)]


@says(
    "<impl> was faster than <impl> <at> and slower <at>, <threads>",
)
def _common_turn(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    better, worse = _common(cells, 1), _common(cells, -1)
    every = sorted({size for size, _ in cells})
    return [None, None, (better, every), (worse, every), None]


@says("<impl> was faster than <impl> **<at>** and slower <at>")
def _common_turn_in_short(told: Told, a: str, b: str, *_: Slot) -> Expected:
    return _common_turn(told, a, b)[:-1]


@says(
    "<impl> was faster than <impl> <at>, <threads>", "<impl> was faster than <impl> <at> <threads>"
)
def _always(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, (_common(cells, 1), sorted({size for size, _ in cells})), None]


@says("<impl> was slower than <impl> <at> <threads>")
def _never(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, (_common(cells, -1), sorted({size for size, _ in cells})), None]


def _common(cells: Cells, sign: int) -> list[int]:
    """Return the sizes with that sign with every number of threads."""
    signs: dict[int, set[int]] = {}
    for (size, _), one in cells.items():
        signs.setdefault(size, set()).add(one.seen)
    return [size for size, here in signs.items() if here == {sign}]


@says("The two change places between <span>", "They change places between <span>")
def _bracket(told: Told, ends: tuple[int, int]) -> Expected:
    threads = [int(n) for n in re.findall(r"With (\d+) threads?, `", told.sentence.before)[-1:]]
    cells = told.cells
    cells = {cell: one for cell, one in cells.items() if not threads or cell[1] in threads}
    found = [[s for (s, _), one in cells.items() if one.seen == sign] for sign in (1, -1)]
    gains = min(found[0]) > min(found[1])
    low, high = (found[1], found[0]) if gains else (found[0], found[1])
    return [(max(low), min(high))]


@says("Which of them is cheaper changes between <span>")
def _cost_bracket(told: Told, ends: tuple[int, int]) -> Expected:
    better, worse, _even, _every = _cost_signs(told)
    low, high = sorted((better, worse), key=min)
    return [(max(low), min(high))]


@says("At <sizes>, no difference was seen", "At <size>, no difference was seen")
def _even_sizes(told: Told, said: Slot) -> Expected:
    text = told.sentence.before
    threads = re.findall(r"with (every number of|[\d, and]+) threads?, `", text, re.IGNORECASE)
    numbers = tuple(int(n) for n in re.findall(r"\d+", "".join(threads[-1:])))
    even = _threads_alike(told, numbers, told.pair, "")[2]
    return [even if isinstance(said, tuple) else even[0]]


@says("<threads>, no difference between <impl> and <impl> was seen at any size")
def _even_everywhere(told: Told, threads: Slot, a: str, b: str) -> Expected:
    better, worse, _even, _every = _threads_alike(told, threads, (a, b), "")
    assert not better + worse, "some differ"
    return [None, None, None]


@says("<threads> and by <cost> per byte, it was cheaper <at> and more expensive <at>")
def _cost_turns(told: Told, threads: Slot, cost: str, *_: Slot) -> Expected:
    better, worse, _even, every = _threads_alike(told, threads, told.pair, cost)
    return [None, None, (better, every), (worse, every)]


@says("<threads> and by <cost> per byte, it was cheaper <at>")
def _cost_wins(told: Told, threads: Slot, cost: str, *_: Slot) -> Expected:
    better, _worse, _even, every = _threads_alike(told, threads, told.pair, cost)
    return [None, None, (better, every)]


@says("<threads> and by <cost> per byte, it was more expensive <at>")
def _cost_loses(told: Told, threads: Slot, cost: str, *_: Slot) -> Expected:
    _better, worse, _even, every = _threads_alike(told, threads, told.pair, cost)
    return [None, None, (worse, every)]


def _cost_signs(told: Told) -> Slot:
    said = rf"With ([\d, and]+) threads? and by ({_LABELS})"
    threads, cost = re.findall(said, told.sentence.before)[-1]
    numbers = tuple(int(n) for n in re.findall(r"\d+", threads))
    return _threads_alike(told, numbers, told.pair, cost)


@says(
    "At <sizes>, no difference in cost was seen",
    "At <size>, no difference in cost was seen",
)
def _even_costs(told: Told, said: Slot) -> Expected:
    even = _cost_signs(told)[2]
    return [even if isinstance(said, tuple) else even[0]]


@says("per byte, no difference was seen at <sizes>", "per byte, no difference was seen at <size>")
def _all_costs_even(told: Told, said: Slot) -> Expected:
    found = re.findall(rf"With ([\d, and]+) threads? and by ({_LABELS})", told.sentence.text)
    threads, cost = found[-1]
    numbers = tuple(int(n) for n in re.findall(r"\d+", threads))
    even = _threads_alike(told, numbers, told.pair, cost)[2]
    return [even if isinstance(said, tuple) else even[0]]


# How sure


@says(
    "<n> comparisons with <impl>, each over <n> rounds paired",
    "<n> comparisons with <impl>, each over <n> to <n> rounds paired",
    "<n> comparison with <impl>, over <n> rounds paired",
)
def _how_sure(told: Told, _n: int, b: str, *rounds: int) -> Expected:
    cells = told.run.cells(told.condition, told.pair[0], b)
    n = sorted({one.n for one in cells.values()})
    return [len(cells), None, *([n[0], n[-1]] if len(rounds) == 2 else n)]


@says("If nothing differed, about <n> of them would still show a difference by chance")
def _by_chance(told: Told, *_: Slot) -> Expected:
    return [round(len(told.cells) * (1 - told.run.settings.confidence))]


@says(
    "After Holm's correction for their number, <n> differences stand",
    "After Holm's correction for their number, <n> difference stands",
)
def _after_holm(told: Told, *_: Slot) -> Expected:
    return [told.run.corrected(told.cells)]


@says("Both were picked as the extremes of <n> cells")
def _extremes_of(told: Told, *_: Slot) -> Expected:
    return [len(told.cells)]


# The extremes, and the cells together


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


@says(
    "Over the cells together, it had <x> times the throughput <i>",
    "Over the cells together, it was <x> <i>",
)
def _pooled_throughput(told: Told, *_: Slot) -> Expected:
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


@says("Over the cells where it was faster, no difference in <cost> per byte was seen <i>")
def _cost_where_faster_even(told: Told, cost: str, *_: Slot) -> Expected:
    return [None, _cost_where_faster(told, cost)]


@says(
    "over those cells, <impl> took <x> times the <cost> per byte of `two_copy` <i>",
    "over the cells where it was faster, <impl> took <x> times the <cost> per byte of `two_copy` "
    "<i>",
)
def _cheaper_where_faster(told: Told, _a: str, _x: str, cost: str, *_: Slot) -> Expected:
    one = _cost_where_faster(told, cost)
    return [None, one.value, None, one]


def _cost_where_faster(told: Told, cost: str) -> Estimate:
    faster = _signs(told.cells, 1)
    logs = told.run.pair(told.condition, *told.pair, told.run.metric(told.condition, cost))
    return told.run.pooled(logs[[cell in faster for cell in logs.index]])


@says("One by one, it was more expensive in <n> of <n> cells and cheaper in <n>")
def _one_by_one(told: Told, *_: Slot) -> Expected:
    cells = _costs_one_by_one(told)
    return [len(_signs(cells, 1)), len(cells), len(_signs(cells, -1))]


@says("One by one, it was cheaper in <n> of <n> cells and more expensive in none")
def _one_by_one_cheaper(told: Told, *_: Slot) -> Expected:
    cells = _costs_one_by_one(told)
    return [len(_signs(cells, -1)), len(cells)]


def _costs_one_by_one(told: Told) -> Cells:
    for words in ("CPU cycles", "CPU time"):
        metric = told.run.metric(told.condition, words)
        if np.isfinite(told.run.values(told.condition, metric).to_numpy(float)).any():
            break
    return told.run.cells(told.condition, "zero_copy", "two_copy", metric)


# Why zero-copy is not always the fastest: won, lost, and what the difference consists of


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
        r"With `(\w+)`,.* throughput with (\d+) threads? was [\d.]+ times that with (\d+)",
        f"{told.sentence.before} {told.sentence.text}",
    )
    if by_threads and told.sentence.section.endswith("q3"):
        name, most, fewest = by_threads[-1]
        first, second = (name, int(most)), (name, int(fewest))
        sizes = sorted({size for size, _ in run.of(condition, name, THROUGHPUT).index})
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


# Cache misses, threads, the price of a message


@says("With <impl>, the <level> per byte were <x> times those with `two_copy` <i>")
def _misses(told: Told, name: str, level: str, *_: Slot) -> Expected:
    one = told.run.pooled(_miss_logs(told, name, level))
    return [None, None, one.value, one]


@says("With <impl>, no difference in <level> was seen <i>")
def _misses_even(told: Told, name: str, level: str, *_: Slot) -> Expected:
    return [None, None, told.run.pooled(_miss_logs(told, name, level))]


@says(
    "With <impl>, the <level> per byte were fewer than with `two_copy` in <n> of <n> cells and "
    "more in <n>"
)
def _misses_both_ways(told: Told, name: str, level: str, *_: Slot) -> Expected:
    metric = told.run.metric(told.condition, level)
    cells = told.run.cells(told.condition, name, "two_copy", metric)
    signs = [one.seen for one in cells.values()]
    return [None, None, signs.count(-1), len(signs), signs.count(1)]


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


@says(
    "Over the sizes together, throughput with <threads> as a multiple of that with <threads> was "
    "<x> for <impl> <i>"
)
def _along_threads(told: Told, most: Slot, fewest: Slot, _x: str, name: str, _i: str) -> Expected:
    one = told.run.pooled(told.run.threads(told.condition, name, THROUGHPUT))
    counts = sorted(set(told.run.measured(told.condition)["n_threads"]))
    return [(counts[-1],), (counts[0],), one.value, None, one]


@says("<x> for <impl> <i>")
def _along_threads_too(told: Told, _x: str, name: str, _i: str) -> Expected:
    metric = THROUGHPUT
    if "That is over the implementations together" in told.sentence.text:
        grown = rf"{'|'.join(_GROWTH)}|misses of the [\w-]+(?: data)? cache per byte"
        found = re.findall(grown, told.sentence.before)
        metric = _GROWTH.get(found[-1]) or told.run.metric(told.condition, found[-1])
    one = told.run.pooled(told.run.threads(told.condition, name, metric))
    return [one.value, None, one]


_GROWTH = {"context switches per message": "context_switches_per_message"}


def _growth_of(told: Told, what: str) -> Estimate:
    run = told.run
    metric = _GROWTH.get(what) or run.metric(told.condition, what)
    names = run.implementations(told.condition)
    return run.pooled(pd.concat([run.threads(told.condition, name, metric) for name in names]))


@says("From the fewest threads to the most, <grown> did not grow but came to <x> times <i>")
@says("From the fewest threads to the most, <grown> grew to <x> times <i>")
def _growth(told: Told, what: str, *_: Slot) -> Expected:
    one = _growth_of(told, what)
    return [None, one.value, one]


@says("No difference in <grown> was seen between the fewest threads and the most <i>")
def _no_growth(told: Told, what: str, _i: str) -> Expected:
    return [None, _growth_of(told, what)]


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


# The kernel's word on zero-copy sends


@says(
    "marked <p> of the completions as copied", "marked <p> of the zero-copy completions as copied"
)
@says("here <p> of the completions were copied", "*zero-copy requested, <p> copied*")
@says("The kernel copied <p> of what `zero_copy` sent")
def _copied(told: Told, _p: str) -> Expected:
    rows = told.run.measured(told.condition)
    return [rows["zc_copied"].sum() / rows["zc_completed"].sum()]
