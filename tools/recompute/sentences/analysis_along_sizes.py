"""From which size on, by throughput and by cost."""

import re

from tools.recompute.told import COSTS, Cells, Expected, Slot, Told, says, threads_alike, with_sign


@says(
    "<impl> was faster than <impl> in <n> of <n> cells and slower in <n>",
)
def _both_ways(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(with_sign(cells, 1)), len(cells), len(with_sign(cells, -1))]


@says(
    "At no size was <impl> seen to be faster than <impl>: it was slower in <n> of <n> cells",
    "<impl> was slower than <impl> in <n> of <n> cells",
)
def _only_slower(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(with_sign(cells, -1)) if not with_sign(cells, 1) else -1, len(cells)]


@says(
    "At no size was <impl> seen to be slower than <impl>: it was faster in <n> of <n> cells",
    "At no size was <impl> seen to be slower than <impl>: it was faster in <n> of <n> cell",
)
def _only_faster(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(with_sign(cells, 1)) if not with_sign(cells, -1) else -1, len(cells)]


@says("In the other <n>, no difference was seen")
def _others_even(told: Told, *_: Slot) -> Expected:
    return [len(with_sign(told.cells, 0))]


@says(
    "No difference between <impl> and <impl> was seen in any of the <n> cells compared",
    "No difference between <impl> and <impl> was seen in the <n> cells compared",
)
def _all_even(told: Told, a: str, b: str, *_: Slot) -> Expected:
    cells = told.run.cells(told.condition, a, b)
    return [None, None, len(cells) if not with_sign(cells, 1) + with_sign(cells, -1) else -1]


@says("<threads>, <impl> was faster than <impl> <at> and slower <at>")
def _turns(told: Told, threads: Slot, a: str, b: str, *_: Slot) -> Expected:
    better, worse, _even, every = threads_alike(told, threads, (a, b), "")
    return [None, None, None, (better, every), (worse, every)]


@says("<threads>, <impl> was faster than <impl> <at>")
def _wins(told: Told, threads: Slot, a: str, b: str, *_: Slot) -> Expected:
    better, _worse, _even, every = threads_alike(told, threads, (a, b), "")
    return [None, None, None, (better, every)]


@says("<threads>, <impl> was slower than <impl> <at>")
def _loses(told: Told, threads: Slot, a: str, b: str, *_: Slot) -> Expected:
    _better, worse, _even, every = threads_alike(told, threads, (a, b), "")
    return [None, None, None, (worse, every)]


@says(
    "<impl> was faster than <impl> <at> and slower <at>, <threads>",
)
def common_turn(told: Told, a: str, b: str, *_: Slot) -> Expected:
    """Return the sizes at which one was faster and slower, with every number of threads."""
    cells = told.run.cells(told.condition, a, b)
    better, worse = _common(cells, 1), _common(cells, -1)
    every = sorted({size for size, _ in cells})
    return [None, None, (better, every), (worse, every), None]


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
    """Return the sizes with that sign with every number of threads.

    A size that was added for some thread counts is none of them.
    """
    every = {threads for _, threads in cells}
    signs: dict[int, dict[int, int]] = {}
    for (size, threads), one in cells.items():
        signs.setdefault(size, {})[threads] = one.seen
    return [
        size for size, here in signs.items() if set(here) == every and set(here.values()) == {sign}
    ]


@says("The two change places between <span>", "They change places between <span>")
def _bracket(told: Told, ends: tuple[int, int]) -> Expected:
    said = re.findall(r"With ([\d, and]+) threads?, `", told.sentence.before)
    threads = [int(n) for n in re.findall(r"\d+", "".join(said[-1:]))]
    brackets = []
    for n_threads in threads or sorted({threads for _, threads in told.cells}):
        here = {size: one.seen for (size, n), one in told.cells.items() if n == n_threads}
        found = [[size for size, seen in here.items() if seen == sign] for sign in (1, -1)]
        gains = min(found[0]) > min(found[1])
        low, high = (found[1], found[0]) if gains else (found[0], found[1])
        brackets.append((max(low), min(high)))
    return [(min(low for low, _ in brackets), max(high for _, high in brackets))]


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
    even = threads_alike(told, numbers, told.pair, "")[2]
    return [even if isinstance(said, tuple) else even[0]]


@says("<threads>, no difference between <impl> and <impl> was seen at any size")
def _even_everywhere(told: Told, threads: Slot, a: str, b: str) -> Expected:
    better, worse, _even, _every = threads_alike(told, threads, (a, b), "")
    assert not better + worse, "some differ"
    return [None, None, None]


@says("<threads> and by <cost> per byte, it was cheaper <at> and more expensive <at>")
def _cost_turns(told: Told, threads: Slot, cost: str, *_: Slot) -> Expected:
    better, worse, _even, every = threads_alike(told, threads, told.pair, cost)
    return [None, None, (better, every), (worse, every)]


@says("<threads> and by <cost> per byte, it was cheaper <at>")
def _cost_wins(told: Told, threads: Slot, cost: str, *_: Slot) -> Expected:
    better, _worse, _even, every = threads_alike(told, threads, told.pair, cost)
    return [None, None, (better, every)]


@says("<threads> and by <cost> per byte, it was more expensive <at>")
def _cost_loses(told: Told, threads: Slot, cost: str, *_: Slot) -> Expected:
    _better, worse, _even, every = threads_alike(told, threads, told.pair, cost)
    return [None, None, (worse, every)]


def _cost_signs(told: Told) -> Slot:
    said = rf"With ([\d, and]+) threads? and by ({COSTS})"
    threads, cost = re.findall(said, told.sentence.before)[-1]
    numbers = tuple(int(n) for n in re.findall(r"\d+", threads))
    return threads_alike(told, numbers, told.pair, cost)


@says(
    "At <sizes>, no difference in cost was seen",
    "At <size>, no difference in cost was seen",
)
def _even_costs(told: Told, said: Slot) -> Expected:
    even = _cost_signs(told)[2]
    return [even if isinstance(said, tuple) else even[0]]


@says("per byte, no difference was seen at <sizes>", "per byte, no difference was seen at <size>")
def _all_costs_even(told: Told, said: Slot) -> Expected:
    found = re.findall(rf"With ([\d, and]+) threads? and by ({COSTS})", told.sentence.text)
    threads, cost = found[-1]
    numbers = tuple(int(n) for n in re.findall(r"\d+", threads))
    even = threads_alike(told, numbers, told.pair, cost)[2]
    return [even if isinstance(said, tuple) else even[0]]
