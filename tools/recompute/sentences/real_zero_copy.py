"""Where zero-copy is real: whether bytes from memory move the size at which it gets ahead."""

import re

from tools.recompute.told import COSTS, Expected, Slot, Told, says

Bracket = tuple[int, int]


def _bracket(told: Told, condition: str, name: str, threads: int, cost: str) -> Bracket:
    """Return the largest size at which it is behind two_copy and the smallest from which on not."""
    metric = told.run.metric(condition, cost) if cost else "throughput_bits_per_s"
    cells = told.run.cells(condition, name, "two_copy", metric)
    ahead = -1 if cost else 1
    signs = {size: one.seen * ahead for (size, n), one in sorted(cells.items()) if n == threads}
    behind = [size for size, sign in signs.items() if sign == -1]
    better = [size for size, sign in signs.items() if sign == 1]
    assert behind, f"it was nowhere behind on {condition}"
    assert better, f"it was nowhere ahead on {condition}"
    assert max(behind) < min(better), f"it changes places more than once on {condition}"
    return max(behind), min(better)


def _brackets(told: Told, text: str) -> tuple[Bracket, Bracket]:
    """Return the brackets under the two conditions that a sentence names."""
    found = re.findall(
        rf"[Ww]ith (\d+) threads? and by (throughput|{COSTS}), `(\w+)` gets ahead .* size on "
        r"`([\w-]+)` than on `([\w-]+)`",
        text,
    )
    threads, by, name, here, hot = found[-1]
    cost = "" if by == "throughput" else by
    first, second = (_bracket(told, one, name, int(threads), cost) for one in (here, hot))
    return first, second


@says(
    "<threads> and by throughput, <impl> gets ahead of `two_copy` at a smaller size on <impl> than "
    "on <impl>: between <span>, not between <span>",
    "<threads> and by <cost>, <impl> gets ahead of `two_copy` at a smaller size on <impl> than on "
    "<impl>: between <span>, not between <span>",
)
def _sooner(told: Told, *said: Slot) -> Expected:
    here, hot = _brackets(told, told.sentence.text)
    assert here[1] <= hot[0], "they overlap"
    return [*[None] * (len(said) - 2), here, hot]


@says(
    "<threads> and by throughput, <impl> gets ahead of `two_copy` at a larger size on <impl> than "
    "on <impl>: between <span>, not between <span>",
    "<threads> and by <cost>, <impl> gets ahead of `two_copy` at a larger size on <impl> than on "
    "<impl>: between <span>, not between <span>",
)
def _later(told: Told, *said: Slot) -> Expected:
    here, hot = _brackets(told, told.sentence.text)
    assert hot[1] <= here[0], "they overlap"
    return [*[None] * (len(said) - 2), here, hot]


@says("The one size is <x> to <x> times the other")
def _times(told: Told, *_: Slot) -> Expected:
    last = re.split(r"(?<=\.) (?=With )", told.sentence.before)[-1]
    here, hot = _brackets(told, last)
    return [here[0] / hot[1], here[1] / hot[0]]


@says("<threads> and by <cost> per byte, it was cheaper where it was faster, and more expensive")
def _alike(told: Told, threads: Slot, cost: str) -> Expected:
    metric = told.run.metric(told.condition, cost)
    costs = told.run.cells(told.condition, *told.pair, metric)
    for cell, one in told.cells.items():
        if cell[1] in threads:
            assert costs[cell].seen == -one.seen, f"not at {cell}"
    return [None, None]
