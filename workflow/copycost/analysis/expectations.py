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
    copied_beside_one_copy,
    uring_beside_msg_zerocopy,
    zero_gains_with_size,
)
from copycost.analysis.condition_view import View
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.quantities import ONE, ZERO

PAYS_FROM_BYTES = 10240
"""From about here on zero-copy is said to pay (kernel document networking/msg_zerocopy.rst)."""


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
    quantity: Literal["throughput", "cost", "service time", "L1 data cache misses"]
    violated_by: Literal["above", "below"]
    checks: Callable[[View], Checks]


EXPECTATIONS = (
    Expectation(
        "one_copy_cheaper",
        "A byte costs {whom}no more CPU with one copy than with two",
        "A copy that is not made costs nothing.",
        "cost",
        "above",
        lambda view: against_baseline(view, view.cost_column, ONE),
    ),
    Expectation(
        "zero_copy_cheaper",
        "A byte costs {whom}no more CPU with zero-copy than with two copies, from 10 KiB up",
        "From about there the kernel's documentation expects pinning pages to be cheaper "
        "than copying them.",
        "cost",
        "above",
        lambda view: against_baseline(view, view.cost_column, ZERO, PAYS_FROM_BYTES),
    ),
    Expectation(
        "zero_copy_pays",
        "Zero-copy has no less throughput than two copies, from 10 KiB up",
        "The kernel's documentation names about that size as the one from which it pays.",
        "throughput",
        "below",
        lambda view: against_baseline(view, THROUGHPUT, ZERO, PAYS_FROM_BYTES),
    ),
    Expectation(
        "zero_copy_gains_with_size",
        "Zero-copy does better against two copies the larger the message",
        "Its price is per message, its gain per byte.",
        "throughput",
        "below",
        zero_gains_with_size,
    ),
    Expectation(
        "larger_no_slower",
        "Larger messages have no less throughput",
        "The price of a system call is shared by more bytes.",
        "throughput",
        "below",
        lambda view: along_sizes(view, THROUGHPUT),
    ),
    Expectation(
        "larger_no_dearer",
        "A byte of a larger message costs {whom}no more CPU",
        "The price of a system call is shared by more bytes.",
        "cost",
        "above",
        lambda view: along_sizes(view, view.cost_column),
    ),
    Expectation(
        "threads_up_to_cpus_gain",
        "More threads have no less throughput while each, sending or receiving, has a CPU "
        "of its own",
        "Each works on its own.",
        "throughput",
        "below",
        lambda view: along_threads(view, THROUGHPUT, beyond_cpus=False),
    ),
    Expectation(
        "threads_beyond_cpus_gain_nothing",
        "More threads gain nothing once every CPU has one, sending or receiving",
        "Threads that share a CPU take turns.",
        "throughput",
        "above",
        lambda view: along_threads(view, THROUGHPUT, beyond_cpus=True),
    ),
    Expectation(
        "service_time_rises",
        "The time per message rises with the threads once every CPU has one",
        "A message waits while other threads have the CPU.",
        "service time",
        "below",
        lambda view: along_threads(view, "service_mean_ns", beyond_cpus=True),
    ),
    Expectation(
        "one_copy_misses_less",
        "One copy misses the L1 data cache no more often per byte than two",
        "The second copy reads and writes every byte once more.",
        "L1 data cache misses",
        "above",
        lambda view: against_baseline(view, view.per_byte("l1d_load_misses"), ONE),
    ),
    Expectation(
        "zero_copy_misses_less",
        "Zero-copy misses the L1 data cache no more often per byte than two copies",
        "Bytes that are not copied are not read.",
        "L1 data cache misses",
        "above",
        lambda view: against_baseline(view, view.per_byte("l1d_load_misses"), ZERO),
    ),
    Expectation(
        "copied_gains_nothing",
        "Zero-copy has no more throughput than one copy where the kernel copies after all",
        "A send that is copied after all pins pages and notifies on top of the same copy.",
        "throughput",
        "above",
        copied_beside_one_copy,
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
        "batch_no_dearer",
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
