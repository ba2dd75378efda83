"""What one would expect, by the sentence that says it, and the comparisons that test it."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import stats

from tools.recompute import estimates
from tools.recompute.estimates import Estimate
from tools.recompute.run import THROUGHPUT, End, Run

_ZERO, _ONE, _TWO = "zero_copy", "one_copy", "two_copy"
_ONE_PAYS_FROM, _ZERO_PAYS_FROM = 16 << 10, 10 << 10
# shares of the completions up to and from which the kernel copied as good as none, or all
_NONE_COPIED, _ALL_COPIED = 0.001, 0.999
# shares of the CPUs at hand up to which some are idle, and from which on all are in use
_IDLE, _FULL = 0.90, 0.95


@dataclass(frozen=True)
class Case:
    """A comparison: its logarithms by round, shape (n_rounds,), and how a text names it.

    `ends` are what is compared; None where that is a ratio of ratios.
    """

    logs: np.ndarray
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    threads: tuple[int, ...]
    ends: tuple[End, End] | None

    @property
    def n(self) -> int:
        """How many rounds it has."""
        return int(np.isfinite(self.logs).sum())


Cases = Iterator[Case]


@dataclass(frozen=True)
class Fared:
    """How an expectation fared, by Holm; the cases against it with the interval that says so."""

    cases: list[Case]
    held: int
    open: int
    against: list[tuple[Case, Estimate]]
    bad: int

    @property
    def strongest(self) -> tuple[Case, Estimate]:
        """The case that is surely furthest on the wrong side, with its corrected interval."""

        def certain(one: tuple[Case, Estimate]) -> tuple[float, float]:
            end = one[1].low if self.bad > 0 else one[1].high
            bound = self.bad * math.log(end) if 0 < end < math.inf else -math.inf
            return bound, self.bad * math.log(one[1].value)

        return max(self.against, key=certain)

    @property
    def mean(self) -> float:
        """By how much it is violated, as a mean of logarithms over all comparisons."""
        logs = [abs(np.nanmean(case.logs)) for case, _ in self.against]
        return float(sum(logs)) / len(self.cases)


def _cases(run: Run, condition: str, words: str) -> list[Case]:
    cases_of = next(cases for statement, _, cases in _EXPECTATIONS if statement == words)
    return [one for one in cases_of(run, condition) if np.isfinite(one.logs).any()]


def _least_error(cases: list[Case]) -> float:
    """Return the median of their standard errors: none is taken to be surer than half of them."""
    found = [stats.sem(one.logs[np.isfinite(one.logs)]) for one in cases if one.n > 1]
    return float(np.median(found)) if found else 0.0


@cache
def _all_p_values(run: Run) -> np.ndarray:
    """Return those of all comparisons of all expectations and conditions, ascending."""
    every = [_cases(run, at, words) for at in run.conditions for words, _, _ in _EXPECTATIONS]
    found = [
        estimates.ratio(one.logs, run.settings.confidence, 1, _least_error(cases)).p_value
        for cases in every
        for one in cases
    ]
    return np.sort([one for one in found if np.isfinite(one)])


def _judged(run: Run, condition: str, words: str) -> Iterator[tuple[Case, int, Estimate]]:
    """Yield each comparison with its sign, by Holm, and with its corrected interval."""
    known = _all_p_values(run)
    confidence = run.settings.confidence
    falls = np.flatnonzero(known * np.arange(len(known), 0, -1) >= 1 - confidence)
    most = known[falls[0]] if len(falls) else math.inf
    cases = _cases(run, condition, words)
    least = _least_error(cases)
    for case in cases:
        found = estimates.ratio(case.logs, confidence, 1, least)
        n = max(len(known) - int(np.searchsorted(known, found.p_value)), 1)
        sign = found.seen if found.p_value < most or found.n == 1 else 0
        yield case, sign, estimates.ratio(case.logs, confidence, n, least)


@cache
def fared(run: Run, condition: str, statement: str) -> Fared:
    """Return how the comparisons came out that test a statement under a condition."""
    plain = statement.replace("costs the sender ", "costs ")
    bad = next(bad for words, bad, _ in _EXPECTATIONS if words == plain)
    found = list(_judged(run, condition, plain))
    signs = [sign for _, sign, _ in found]
    against = [(case, picked) for case, sign, picked in found if sign == bad]
    cases = [case for case, _, _ in found]
    return Fared(cases, signs.count(-bad), signs.count(0), against, bad)


@cache
def ranked(run: Run, condition: str) -> list[str]:
    """Return the expectations that are violated, the most violated first."""
    found = {}
    for words, _, _ in _EXPECTATIONS:
        one = fared(run, condition, words)
        if one.against:
            once = one.strongest[1].n == 1
            found[words] = once, -one.mean, -len(one.against) / len(one.cases)
    return sorted(found, key=lambda words: found[words])


def numbers_tested(run: Run, condition: str) -> list[int]:
    """Return of how many comparisons each expectation is, 0 where nothing was measured for it."""
    return [len(fared(run, condition, words).cases) for words, _, _ in _EXPECTATIONS]


def _pair(run: Run, condition: str, metric: str, a: str, b: str, from_bytes: int = 0) -> Cases:
    """Yield one implementation compared with another, cell by cell from a size on."""
    if not {a, b} <= set(run.implementations(condition)):
        return
    for size, threads, logs in _rows(run.pair(condition, a, b, metric)):
        if size >= from_bytes:
            ends = (condition, a, size, threads), (condition, b, size, threads)
            yield Case(logs, (a, b), (size,), (threads,), ends)


def _rows(logs: pd.DataFrame) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield size, threads and logarithms by round of each cell that has any."""
    known = logs.dropna(how="all")
    for (size, threads), row in zip(known.index, known.to_numpy(float), strict=True):
        yield int(size), int(threads), row


def _cost_pair(run: Run, condition: str, a: str, b: str, from_bytes: int = 0) -> Cases:
    if not _busy(run, condition):
        yield from _pair(run, condition, run.cost(condition), a, b, from_bytes)


def _busy(run: Run, condition: str) -> bool:
    """Tell whether nobody receives, nor a link carries, so that costs are throughputs inverted."""
    return run.side(condition) == "sender" and not condition.startswith("wire")


def copied(run: Run, condition: str) -> float:
    """Return which share of zero-copy sends the kernel copied; NaN without any."""
    rows = run.measured(condition)
    rows = rows[rows["implementation"] == _ZERO]
    if rows.empty:
        return math.nan
    return float(rows["zc_copied"].sum() / rows["zc_completed"].sum())


def _zero_pays(metric: str, run: Run, condition: str) -> Cases:
    if copied(run, condition) <= _NONE_COPIED:
        yield from _pair(run, condition, metric, _ZERO, _TWO, _ZERO_PAYS_FROM)


def _zero_cheaper(run: Run, condition: str) -> Cases:
    if not _busy(run, condition):
        yield from _zero_pays(run.cost(condition), run, condition)


def _copied_gains(run: Run, condition: str) -> Cases:
    if copied(run, condition) >= _ALL_COPIED:
        yield from _pair(run, condition, THROUGHPUT, _ZERO, _ONE)


def _copied_costs(run: Run, condition: str) -> Cases:
    if copied(run, condition) >= _ALL_COPIED:
        yield from _cost_pair(run, condition, _ZERO, _ONE)


def _gains_with_size(run: Run, condition: str) -> Cases:
    if not copied(run, condition) <= _NONE_COPIED:
        return
    logs = run.pair(condition, _ZERO, _TWO)
    sizes = run.sizes(condition)
    ends = sizes[0], sizes[-1]
    for threads in sorted(set(logs.index.get_level_values("n_threads"))):
        if all((size, threads) in logs.index for size in ends):
            change = logs.loc[ends[1], threads] - logs.loc[ends[0], threads]
            yield Case(change.to_numpy(float), (_ZERO, _TWO), ends, (threads,), None)


def _along_sizes(metric: str, run: Run, condition: str) -> Cases:
    """Yield a size compared with the next smaller one, as long as the L2 cache holds both copies.

    That is of messages which are sent again and again.
    """
    within = run.host["cpu"]["caches"]["l2_bytes"]
    hot = "_cold" not in condition
    for name in run.implementations(condition):
        logs = run.of(condition, name, metric)
        for smaller, larger in pairwise(run.sizes(condition)):
            if hot and (not within or 2 * larger > within):
                continue
            for threads in sorted(set(logs.index.get_level_values("n_threads"))):
                if (larger, threads) in logs.index and (smaller, threads) in logs.index:
                    change = logs.loc[larger, threads] - logs.loc[smaller, threads]
                    ends = (condition, name, larger, threads), (condition, name, smaller, threads)
                    sizes = smaller, larger
                    yield Case(change.to_numpy(float), (name,), sizes, (threads,), ends)


def _costs_along_sizes(run: Run, condition: str) -> Cases:
    if not _busy(run, condition):
        yield from _along_sizes(run.cost(condition), run, condition)


def _along_threads(full: bool, run: Run, condition: str) -> Cases:
    """Yield more threads compared with fewer, where with these all CPUs were in use, or not."""
    n_cpus = set(run.measured(condition)["n_cpus"])
    if len(n_cpus) != 1:
        return
    counts = sorted(set(run.measured(condition)["n_threads"]))
    for name in run.implementations(condition):
        logs = run.of(condition, name, THROUGHPUT)
        cost = run.of(condition, name, f"{run.side(condition)}_cpu_ns_per_byte")
        in_use = (np.exp(logs + cost) / 8e9).mean(axis=1) / n_cpus.copy().pop()
        for fewer, more in pairwise(counts):
            for size in sorted(set(logs.index.get_level_values("msg_bytes"))):
                if not {(size, fewer), (size, more)} <= set(logs.index):
                    continue
                share = in_use[size, fewer]
                if share >= _FULL if full else share <= _IDLE:
                    change = logs.loc[size, more] - logs.loc[size, fewer]
                    ends = (condition, name, size, more), (condition, name, size, fewer)
                    yield Case(change.to_numpy(float), (name,), (size,), (fewer, more), ends)


def _hot(run: Run, condition: str) -> str:
    """Return the condition that differs in nothing but where the bytes lie."""
    hot = condition.replace("_cold", "")
    return hot if hot != condition and hot in run.conditions else ""


def _cold_gains(run: Run, condition: str) -> Cases:
    hot = _hot(run, condition)
    if not hot or not max(copied(run, condition), copied(run, hot)) <= _NONE_COPIED:
        return
    both = run.pair(condition, _ZERO, _TWO) - run.pair(hot, _ZERO, _TWO)
    for size, threads, logs in _rows(both):
        yield Case(logs, (_ZERO, _TWO, hot), (size,), (threads,), None)


def _cold_faster(run: Run, condition: str) -> Cases:
    hot = _hot(run, condition)
    if not hot:
        return
    for name in sorted({*run.implementations(condition)} & {*run.implementations(hot)}):
        both = run.of(condition, name, THROUGHPUT) - run.of(hot, name, THROUGHPUT)
        for size, threads, logs in _rows(both):
            ends = (condition, name, size, threads), (hot, name, size, threads)
            yield Case(logs, (name, hot), (size,), (threads,), ends)


def _batched(run: Run, condition: str) -> Cases:
    names = run.implementations(condition)
    for name in names:
        plain = re.sub(r"_x\d+$", "", name)
        if plain != name and plain in names:
            yield from _cost_pair(run, condition, name, plain)


def _misses(run: Run, condition: str) -> str:
    return run.metric(condition, "misses of the L1 data cache")


_EXPECTATIONS: list[tuple[str, int, Callable[[Run, str], Cases]]] = [
    (
        "A byte costs no more CPU with one copy than with two, from 16 KiB up",
        1,
        lambda run, at: _cost_pair(run, at, _ONE, _TWO, _ONE_PAYS_FROM),
    ),
    (
        "A byte costs no more CPU with zero-copy than with two copies, from 10 KiB "
        "up, where the kernel does not copy",
        1,
        _zero_cheaper,
    ),
    (
        "Zero-copy has no less throughput than two copies, from 10 KiB up, where the kernel does "
        "not copy",
        -1,
        lambda run, at: _zero_pays(THROUGHPUT, run, at),
    ),
    (
        "A byte costs no less CPU with zero-copy than with one copy where the kernel "
        "copies after all",
        -1,
        _copied_costs,
    ),
    (
        "Zero-copy has no more throughput than one copy where the kernel copies after all",
        1,
        _copied_gains,
    ),
    (
        "Zero-copy does better against two copies the larger the message, where the kernel does "
        "not copy",
        -1,
        _gains_with_size,
    ),
    (
        "Larger messages have no less throughput, as long as their bytes come from no further away",
        -1,
        lambda run, at: _along_sizes(THROUGHPUT, run, at),
    ),
    (
        "A byte of a larger message costs no more CPU, as long as it comes from no further away",
        1,
        _costs_along_sizes,
    ),
    (
        "More threads have no less throughput while CPUs are idle",
        -1,
        lambda run, at: _along_threads(False, run, at),
    ),
    (
        "More threads gain nothing once the CPUs are all in use",
        1,
        lambda run, at: _along_threads(True, run, at),
    ),
    (
        "One copy misses the L1 data cache no more often per byte than two, from 16 KiB up",
        1,
        lambda run, at: _pair(run, at, _misses(run, at), _ONE, _TWO, _ONE_PAYS_FROM),
    ),
    (
        "Zero-copy misses the L1 data cache no more often per byte than two copies, from 10 KiB "
        "up, where the kernel does not copy",
        1,
        lambda run, at: _zero_pays(_misses(run, at), run, at),
    ),
    (
        "Zero-copy does no worse against two copies where the bytes come from memory",
        -1,
        _cold_gains,
    ),
    (
        "Sending from memory has no more throughput than sending what a cache holds",
        1,
        _cold_faster,
    ),
    (
        "A byte costs no more CPU with many messages per system call than with one",
        1,
        _batched,
    ),
    (
        "Zero-copy through io_uring has no less throughput than with `MSG_ZEROCOPY`",
        -1,
        lambda run, at: _pair(run, at, THROUGHPUT, "uring_zero_copy", _ZERO),
    ),
]
