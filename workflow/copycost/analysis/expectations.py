"""What one would expect of copies, sizes and threads, as data that can be tested.

An expectation says on which side of 1 a ratio should not lie. "No difference seen" violates
nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.evidence import (
    COPIED_SHARE,
    ONE,
    URING_ZERO,
    ZERO,
    copied_share,
    really_not_copied,
)
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.placement import n_cpus_of
from copycost.analysis.ratio_facts import places
from copycost.analysis.stats.settings import FloatArray
from copycost.analysis.throughput_factors import cpus_in_use
from copycost.config.conditions import COLD, HOT
from copycost.config.strategy_capabilities import split_implementation
from copycost.config.testbeds import is_wire

PAYS_FROM_BYTES = 10240
"""From about here on zero-copy is said to pay (kernel document networking/msg_zerocopy.rst)."""
ONE_COPY_PAYS_FROM_BYTES = 16384
"""A copy within the caches takes 5 to 20 ns per KiB, the handling of eight pieces some 10 ns each.

So from a page or so on the copy should cost more, and from four times that surely.
"""
# The share of the CPUs at hand up to which some are idle, and from which on none is worth mention.
_IDLE = 0.90
_FULL = 0.95


@dataclass(frozen=True, slots=True)
class Check:
    """One ratio that an expectation is tested on, and what it compares."""

    logs: FloatArray
    """Logarithm of the ratio by round, shape (n_rounds,)."""
    implementation: str
    baseline: str
    hot: str
    """The condition that it is compared with, if it is another one."""
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    """The one of the cell, like the size above; two where one is compared with another."""


Checks: TypeAlias = Iterator[Check]


def _checks(
    logs: pd.DataFrame,
    implementation: str,
    baseline: str = "",
    hot: str = "",
    **ends: tuple[int, int],
) -> Checks:
    """Yield each row of a table of log ratios that has any, whose index says where it is."""
    for place, rounds in places(logs):
        at = ends | place
        if np.isfinite(rounds).any():
            yield Check(rounds, implementation, baseline, hot, at["msg_bytes"], at["n_threads"])


def _tells(view: View, metric: str) -> bool:
    """Tell whether something was counted that is not the throughput turned upside down.

    Where nobody receives and no link has to carry what is sent, the sender has nobody to wait for:
    all its threads are busy all the time, and the cost of a byte says no more than the throughput.
    """
    busy = view.sender_only and not is_wire(view.condition.testbed)
    return view.counted(metric) and not (metric == view.cost_column and busy)


def against_baseline(
    view: View, metric: str, implementation: str, from_bytes: int = 0, baseline: str = BASELINE
) -> Checks:
    """Yield an implementation compared with another, in every cell from a size on."""
    if view.has(implementation, baseline) and _tells(view, metric):
        logs = view.cube.pair(metric, implementation, baseline)
        logs = logs[logs.index.get_level_values("msg_bytes") >= from_bytes]
        yield from _checks(logs, implementation, baseline)


def along_sizes(view: View, metric: str) -> Checks:
    """Yield each implementation at a size over the same at the next smaller one.

    Of messages that are sent again and again, those that the L2 cache holds together with their
    copy: larger ones come from further away, byte by byte.
    """
    hot = view.condition.working_set == HOT
    within = view.caches.get("l2_bytes")
    if not _tells(view, metric) or (hot and not within):
        return
    for name in view.implementations:
        for smaller, larger in pairwise(view.msg_bytes):
            if not hot or (within and 2 * larger <= within):
                logs = view.cube.sizes(metric, name, larger, smaller)
                yield from _checks(logs, name, msg_bytes=(smaller, larger))


def along_threads(view: View, metric: str, *, full: bool) -> Checks:
    """Yield each implementation over the same with fewer threads.

    Only steps that begin with (nearly) all CPUs in use, or only ones that begin with some idle, as
    measured: counting threads does not tell, since a thread may wait for its peer.
    """
    n_cpus = n_cpus_of(view)
    if n_cpus is None:
        return
    for name in view.implementations:
        in_use = cpus_in_use(view, name) / n_cpus
        for fewer, more in pairwise(view.n_threads):
            logs = view.cube.threads(metric, name, more, fewer)
            shares = np.array([in_use.get((size, fewer), np.nan) for size in logs.index])
            begun = logs[shares >= _FULL if full else shares <= _IDLE]
            yield from _checks(begun, name, n_threads=(fewer, more))


def zero_gains_with_size(view: View) -> Checks:
    """Yield zero_copy over two_copy at the largest size, over the same at the smallest."""
    smallest, largest = view.msg_bytes[0], view.msg_bytes[-1]
    if view.has(ZERO, BASELINE) and smallest != largest and really_not_copied(view.of(ZERO)):
        logs = view.cube.pair(THROUGHPUT, ZERO, BASELINE)
        sizes = logs.index.get_level_values("msg_bytes")
        ends = [logs[sizes == size].droplevel("msg_bytes") for size in (largest, smallest)]
        both = (ends[0] - ends[1]).dropna(how="all")
        yield from _checks(both, ZERO, BASELINE, msg_bytes=(smallest, largest))


def zero_where_not_copied(view: View, metric: str) -> Checks:
    """Yield zero_copy compared with two_copy from where it is said to pay, if not copied."""
    if really_not_copied(view.of(ZERO)):
        yield from against_baseline(view, metric, ZERO, PAYS_FROM_BYTES)


def zero_where_copied(view: View, metric: str) -> Checks:
    """Yield zero_copy compared with one_copy where the kernel copied (nearly) everything."""
    share = copied_share(view.of(ZERO))
    if share is not None and share >= COPIED_SHARE:
        yield from against_baseline(view, metric, ZERO, baseline=ONE)


def cold_gains(view: View) -> Checks:
    """Yield zero_copy over two_copy, over the same where one message is sent again and again."""
    hot = view.hot
    if hot and view.has(BASELINE) and all(really_not_copied(one.of(ZERO)) for one in (view, hot)):
        here, there = (one.cube.pair(THROUGHPUT, ZERO, BASELINE) for one in (view, hot))
        both = here.sub(there).dropna(how="all")
        yield from _checks(both, ZERO, BASELINE, hot.name)


def cold_beside_hot(view: View) -> Checks:
    """Yield each implementation's throughput cold over hot."""
    if view.hot is None or view.condition.working_set != COLD:
        return
    for name in view.implementations:
        if view.has(name) and view.hot.has(name):
            here, hot = (one.cube.values(THROUGHPUT, name) for one in (view, view.hot))
            yield from _checks(here.sub(hot).dropna(how="all"), name, hot=view.hot.name)


def batched_beside_plain(view: View) -> Checks:
    """Yield the cost per byte with many messages per system call over that with one."""
    for name in view.implementations:
        strategy, batch = split_implementation(name)
        if batch > 1:
            yield from against_baseline(view, view.cost_column, name, baseline=strategy)


@dataclass(frozen=True, slots=True)
class Expectation:
    """A belief about copies, with what would go against it."""

    id: str
    statement: str
    """Without a full stop since it also stands in a table. ``{whom}`` stands where the sender is
    named if the cost is its alone.
    """
    quantity: Literal["throughput", "cost", "L1 data cache misses"]
    """What the ratios are of."""
    violated_by: Literal["above", "below"]
    """Side of 1 on which the ratio should not lie."""
    checks: Callable[[View], Checks]
    """The ratios, from a condition's cells; none where they were not measured."""


EXPECTATIONS = (
    Expectation(
        # A copy of that size takes longer than handing over eight pieces.
        "one_copy_cheaper",
        "A byte costs {whom}no more CPU with one copy than with two, from 16 KiB up",
        "cost", "above",
        lambda view: against_baseline(view, view.cost_column, ONE, ONE_COPY_PAYS_FROM_BYTES),
    ),
    Expectation(
        # From about there the kernel's documentation expects pinning pages to be cheaper than
        # copying them.
        "zero_copy_cheaper",
        "A byte costs {whom}no more CPU with zero-copy than with two copies, from 10 KiB up, where "
        "the kernel does not copy",
        "cost", "above", lambda view: zero_where_not_copied(view, view.cost_column),
    ),
    Expectation(
        # The kernel's documentation names about that size as the one from which it pays.
        "zero_copy_pays",
        "Zero-copy has no less throughput than two copies, from 10 KiB up, where the kernel does "
        "not copy",
        "throughput", "below", lambda view: zero_where_not_copied(view, THROUGHPUT),
    ),
    Expectation(
        # The copy is the same, and pinning pages and notifications come on top of it.
        "copied_costs_more",
        "A byte costs {whom}no less CPU with zero-copy than with one copy where the kernel copies "
        "after all",
        "cost", "below", lambda view: zero_where_copied(view, view.cost_column),
    ),
    Expectation(
        # The copy is the same, and pinning pages and notifications come on top of it.
        "copied_gains_nothing",
        "Zero-copy has no more throughput than one copy where the kernel copies after all",
        "throughput", "above", lambda view: zero_where_copied(view, THROUGHPUT),
    ),
    Expectation(
        # Its price is in good part one per message, its gain is one per byte.
        "zero_copy_gains_with_size",
        "Zero-copy does better against two copies the larger the message, where the kernel does "
        "not copy",
        "throughput", "below", zero_gains_with_size,
    ),
    Expectation(
        # The price of a system call is shared by more bytes.
        "larger_no_slower",
        "Larger messages have no less throughput, as long as their bytes come from no further away",
        "throughput", "below", lambda view: along_sizes(view, THROUGHPUT),
    ),
    Expectation(
        # The price of a system call is shared by more bytes.
        "larger_no_more_expensive",
        "A byte of a larger message costs {whom}no more CPU, as long as it comes from no further "
        "away",
        "cost", "above", lambda view: along_sizes(view, view.cost_column),
    ),
    Expectation(
        # They find a CPU that nobody uses.
        "threads_gain_while_idle",
        "More threads have no less throughput while CPUs are idle",
        "throughput", "below", lambda view: along_threads(view, THROUGHPUT, full=False),
    ),
    Expectation(
        # They can only take turns, unless a byte then takes less CPU time.
        "threads_gain_nothing_when_full",
        "More threads gain nothing once the CPUs are all in use",
        "throughput", "above", lambda view: along_threads(view, THROUGHPUT, full=True),
    ),
    Expectation(
        # The second copy reads and writes every byte once more.
        "one_copy_misses_less",
        "One copy misses the L1 data cache no more often per byte than two, from 16 KiB up",
        "L1 data cache misses", "above",
        lambda view: against_baseline(
            view, view.per_byte("l1d_load_misses"), ONE, ONE_COPY_PAYS_FROM_BYTES
        ),
    ),
    Expectation(
        # Bytes that are not copied are not read.
        "zero_copy_misses_less",
        "Zero-copy misses the L1 data cache no more often per byte than two copies, from 10 KiB "
        "up, where the kernel does not copy",
        "L1 data cache misses", "above",
        lambda view: zero_where_not_copied(view, view.per_byte("l1d_load_misses")),
    ),
    Expectation(
        # What it saves is more expensive there.
        "cold_gains_more",
        "Zero-copy does no worse against two copies where the bytes come from memory",
        "throughput", "below", cold_gains,
    ),
    Expectation(
        # Memory is slower than any cache.
        "cold_no_faster",
        "Sending from memory has no more throughput than sending what a cache holds",
        "throughput", "above", cold_beside_hot,
    ),
    Expectation(
        # Many messages share the price of the call.
        "batch_no_more_expensive",
        "A byte costs {whom}no more CPU with many messages per system call than with one",
        "cost", "above", batched_beside_plain,
    ),
    Expectation(
        # Its notifications come without a system call of their own.
        "uring_no_slower",
        "Zero-copy through io_uring has no less throughput than with `MSG_ZEROCOPY`",
        "throughput", "below",
        lambda view: against_baseline(view, THROUGHPUT, URING_ZERO, baseline=ZERO),
    ),
)  # fmt: skip
