"""Question 3: what more threads change."""

import re
from itertools import combinations

import pandas as pd

from tools.recompute import estimates
from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT, halves
from tools.recompute.told import Expected, Slot, Told, says, says_opposed


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
    if sends := re.search("|".join(_SENDS), told.sentence.text):
        metric = _SENDS[sends[0]]
    if "That is over the implementations together" in told.sentence.text:
        grown = rf"{'|'.join(_GROWTH)}|misses of the [\w-]+(?: data)? cache per byte"
        found = re.findall(grown, told.sentence.before)
        metric = _GROWTH.get(found[-1]) or told.run.metric(told.condition, found[-1])
    one = told.run.pooled(told.run.threads(told.condition, name, metric))
    return [one.value, None, one]


_SENDS = {
    "the median send": "service_median_ns",
    "the 99th percentile of sends": "service_p99_ns",
}
_GROWTH = {"context switches per message": "context_switches_per_message"}


def _growth_of(told: Told, what: str) -> Estimate:
    return told.run.pooled(_growth_logs(told, what))


@says_opposed(
    "From the fewest threads to the most, <grown> grew",
    less="fell",
    of="in <n> of <n> comparisons",
)
def _growth_logs(told: Told, what: str) -> pd.DataFrame:
    run = told.run
    metric = _GROWTH.get(what) or run.metric(told.condition, what)
    names = run.implementations(told.condition)
    return pd.concat([run.threads(told.condition, name, metric) for name in names])


@says("From the fewest threads to the most, <grown> did not grow but came to <x> times <i>")
@says("From the fewest threads to the most, <grown> grew to <x> times <i>")
def _growth(told: Told, what: str, *_: Slot) -> Expected:
    one = _growth_of(told, what)
    return [None, one.value, one]


@says("No difference in <grown> was seen between the fewest threads and the most <i>")
def _no_growth(told: Told, what: str, _i: str) -> Expected:
    return [None, _growth_of(told, what)]


@says("For <impl>, throughput rose from <threads> to <n> over <sizes>, and fell over <sizes>")
def _by_size(told: Told, name: str, *_: Slot) -> Expected:
    counts = sorted(set(told.run.measured(told.condition)["n_threads"]))
    up, down = _parted(told)[name]
    return [None, (counts[0],), counts[-1], up, down]


def _parted(told: Told) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return, by implementation, the sizes that are shown to rise and those to fall, if both are.

    Single sizes, or else the smaller together and the larger; all implementations tested at once.
    """
    run = told.run
    names = run.implementations(told.condition)
    wholes = {name: run.threads(told.condition, name, THROUGHPUT) for name in names}
    found: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for parts_of in (halves, _single):
        parts = [(name, part) for name, logs in wholes.items() for part in parts_of(logs)]
        rounds = [estimates.block(part).mean().to_numpy(float) for _, part in parts]
        signs = estimates.settled(rounds, run.settings.confidence)
        for name in names:
            ways: dict[int, list[int]] = {1: [], -1: [], 0: []}
            for (whose, part), sign in zip(parts, signs, strict=True):
                if whose == name:
                    ways[sign].extend(int(size) for size in part.index)
            if ways[1] and ways[-1]:
                found[name] = tuple(sorted(ways[1])), tuple(sorted(ways[-1]))
    return found


def _single(logs: pd.DataFrame) -> list[pd.DataFrame]:
    return [logs.iloc[[row]] for row in range(len(logs))]


def _whole_way(told: Told, sign: int) -> Expected:
    """Return the thread counts between which the named ones change, if each stands by Holm."""
    run, condition = told.run, told.condition
    pairs = _thread_pairs(told)
    rounds = [estimates.block(logs).mean().to_numpy(float) for _, logs in pairs]
    signs = dict(
        zip(
            (key for key, _ in pairs),
            estimates.settled(rounds, run.settings.confidence),
            strict=True,
        )
    )
    counts = sorted(set(run.measured(condition)["n_threads"]))
    course = told.sentence.text.partition(", throughput")[0]
    for name in re.findall(r"`(\w+)`", course):
        assert signs[name, counts[0], counts[-1]] == sign, f"not with {name}"
        assert name not in _parted(told), f"not at all sizes with {name}"
    return [(counts[0],), counts[-1]]


def _thread_pairs(told: Told) -> list[tuple[tuple[str, int, int], pd.DataFrame]]:
    """Return the log ratios of all pairs of thread counts, a row per size."""
    found = []
    for name in told.run.implementations(told.condition):
        logs = told.run.of(told.condition, name, THROUGHPUT)
        counts = sorted({int(n) for _, n in logs.index})
        logs = logs.swaplevel()
        for fewer, more in combinations(counts, 2):
            one, other = (logs.loc[[n]].droplevel("n_threads") for n in (fewer, more))
            found.append(((name, fewer, more), (other - one).dropna(how="all")))
    return found


@says("throughput rose from <threads> to <n>.")
def _rises(told: Told, *_: Slot) -> Expected:
    return _whole_way(told, 1)


@says("throughput fell from <threads> to <n>.")
def _falls(told: Told, *_: Slot) -> Expected:
    return _whole_way(told, -1)


@says(
    "Sending and receiving threads share <n> CPUs: with <threads> at each side they take turns, "
    "<n> on the most crowded CPU",
)
def _turns(told: Told, *_: Slot) -> Expected:
    rows = told.run.measured(told.condition)
    most, n_cpus = int(rows["n_threads"].max()), int(rows["n_cpus"].max())
    return [n_cpus, (most,), -(-2 * most // n_cpus)]


@says(
    "was tested for <n> pairs of thread counts over the sizes together, round by round (<n> rounds)"
)
def _tested(told: Told, *_: Slot) -> Expected:
    pairs = _thread_pairs(told)
    return [len(pairs), min(estimates.block(logs).shape[1] for _, logs in pairs)]


@says("took this many times as long with <threads> as with <n>")
def _sends_along_threads(told: Told, *_: Slot) -> Expected:
    counts = sorted(set(told.run.measured(told.condition)["n_threads"]))
    return [(counts[-1],), counts[0]]
