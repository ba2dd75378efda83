"""What one would expect of copies, sizes and threads, as data that can be tested.

An expectation says on which side of 1 a ratio should not lie. "No difference seen" violates
nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from copycost.analysis.checks import (
    Checks,
    against_baseline,
    along_sizes,
    along_threads,
    batched_beside_plain,
    cold_beside_hot,
    cold_gains,
    uring_beside_msg_zerocopy,
    zero_gains_with_size,
    zero_where_copied,
    zero_where_not_copied,
)
from copycost.analysis.condition_view import View
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.quantities import ONE

ONE_COPY_PAYS_FROM_BYTES = 16384
"""A copy within the caches takes 5 to 20 ns per KiB, the handling of eight pieces some 10 ns each.

So from a page or so on the copy should cost more, and from four times that surely.
"""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A belief about copies, with what would go against it.

    Attributes
    ----------
    id
        Name in `facts.json`.
    statement, because
        The belief, without a full stop since it also stands in a table, and why one holds it, a
        sentence. ``{whom}`` stands where the sender is named if the cost is its alone.
    quantity
        What the ratios are of.
    violated_by
        Side of 1 on which the ratio should not lie.
    checks
        The ratios, from a condition's cells; none where they were not measured.
    """

    id: str
    statement: str
    because: str
    quantity: Literal["throughput", "cost", "L1 data cache misses"]
    violated_by: Literal["above", "below"]
    checks: Callable[[View], Checks]


EXPECTATIONS = (
    Expectation(
        "one_copy_cheaper",
        "A byte costs {whom}no more CPU with one copy than with two, from 16 KiB up",
        "A copy of that size takes longer than handing over eight pieces.",
        "cost",
        "above",
        lambda view: against_baseline(view, view.cost_column, ONE, ONE_COPY_PAYS_FROM_BYTES),
    ),
    Expectation(
        "zero_copy_cheaper",
        "A byte costs {whom}no more CPU with zero-copy than with two copies, from 10 KiB up, where "
        "the kernel does not copy",
        "From about there the kernel's documentation expects pinning pages to be cheaper "
        "than copying them.",
        "cost",
        "above",
        lambda view: zero_where_not_copied(view, view.cost_column),
    ),
    Expectation(
        "zero_copy_pays",
        "Zero-copy has no less throughput than two copies, from 10 KiB up, where the kernel does "
        "not copy",
        "The kernel's documentation names about that size as the one from which it pays.",
        "throughput",
        "below",
        lambda view: zero_where_not_copied(view, THROUGHPUT),
    ),
    Expectation(
        "copied_costs_more",
        "A byte costs {whom}no less CPU with zero-copy than with one copy where the kernel copies "
        "after all",
        "The copy is the same, and pinning pages and notifications come on top of it.",
        "cost",
        "below",
        lambda view: zero_where_copied(view, view.cost_column),
    ),
    Expectation(
        "copied_gains_nothing",
        "Zero-copy has no more throughput than one copy where the kernel copies after all",
        "The copy is the same, and pinning pages and notifications come on top of it.",
        "throughput",
        "above",
        lambda view: zero_where_copied(view, THROUGHPUT),
    ),
    Expectation(
        "zero_copy_gains_with_size",
        "Zero-copy does better against two copies the larger the message, where the kernel does "
        "not copy",
        "Its price is in good part one per message, its gain is one per byte.",
        "throughput",
        "below",
        zero_gains_with_size,
    ),
    Expectation(
        "larger_no_slower",
        "Larger messages have no less throughput, as long as their bytes come from no further away",
        "The price of a system call is shared by more bytes.",
        "throughput",
        "below",
        lambda view: along_sizes(view, THROUGHPUT),
    ),
    Expectation(
        "larger_no_more_expensive",
        "A byte of a larger message costs {whom}no more CPU, as long as it comes from no further "
        "away",
        "The price of a system call is shared by more bytes.",
        "cost",
        "above",
        lambda view: along_sizes(view, view.cost_column),
    ),
    Expectation(
        "threads_gain_while_idle",
        "More threads have no less throughput while CPUs are idle",
        "They find a CPU that nobody uses.",
        "throughput",
        "below",
        lambda view: along_threads(view, THROUGHPUT, full=False),
    ),
    Expectation(
        "threads_gain_nothing_when_full",
        "More threads gain nothing once the CPUs are all in use",
        "They can only take turns, unless a byte then takes less CPU time.",
        "throughput",
        "above",
        lambda view: along_threads(view, THROUGHPUT, full=True),
    ),
    Expectation(
        "one_copy_misses_less",
        "One copy misses the L1 data cache no more often per byte than two, from 16 KiB up",
        "The second copy reads and writes every byte once more.",
        "L1 data cache misses",
        "above",
        lambda view: against_baseline(
            view, view.per_byte("l1d_load_misses"), ONE, ONE_COPY_PAYS_FROM_BYTES
        ),
    ),
    Expectation(
        "zero_copy_misses_less",
        "Zero-copy misses the L1 data cache no more often per byte than two copies, from 10 KiB "
        "up, where the kernel does not copy",
        "Bytes that are not copied are not read.",
        "L1 data cache misses",
        "above",
        lambda view: zero_where_not_copied(view, view.per_byte("l1d_load_misses")),
    ),
    Expectation(
        "cold_gains_more",
        "Zero-copy does no worse against two copies where the bytes come from memory",
        "What it saves is more expensive there.",
        "throughput",
        "below",
        cold_gains,
    ),
    Expectation(
        "cold_no_faster",
        "Sending from memory has no more throughput than sending what a cache holds",
        "Memory is slower than any cache.",
        "throughput",
        "above",
        cold_beside_hot,
    ),
    Expectation(
        "batch_no_more_expensive",
        "A byte costs {whom}no more CPU with many messages per system call than with one",
        "Many messages share the price of the call.",
        "cost",
        "above",
        batched_beside_plain,
    ),
    Expectation(
        "uring_no_slower",
        "Zero-copy through io_uring has no less throughput than with `MSG_ZEROCOPY`",
        "Its notifications come without a system call of their own.",
        "throughput",
        "below",
        uring_beside_msg_zerocopy,
    ),
)
