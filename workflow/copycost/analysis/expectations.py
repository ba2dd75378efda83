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

from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.placement import placement_of
from copycost.analysis.quantities import ONE, ZERO
from copycost.analysis.view import View
from copycost.stats.settings import FloatArray

PAYS_FROM_BYTES = 10240
"""From about here on zero-copy is said to pay (kernel document networking/msg_zerocopy.rst)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One ratio that an expectation is tested on.

    Attributes
    ----------
    log_ratios
        Its logarithm in each round, shape (n_rounds,).
    where
        What it compares, for the text: keys among implementation, baseline, msg_bytes,
        n_threads, and from_/to_ pairs of sizes or thread counts.
    """

    log_ratios: FloatArray
    where: dict[str, str | int]


Checks: TypeAlias = Iterator[Check]


@dataclass(frozen=True, slots=True)
class Expectation:
    """A belief about copies, with what would go against it.

    Attributes
    ----------
    id
        Name in `facts.json`.
    statement, because
        The belief, and why one holds it; parts of a sentence.
    quantity
        What the ratios are of: ``throughput``, ``cost``, ``service time``, ``misses``.
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


def _cells(logs: pd.DataFrame, **where: str | int) -> Checks:
    for index, row in zip(logs.index, logs.to_numpy(dtype=np.float64), strict=True):
        yield Check(row, {"msg_bytes": int(index[0]), "n_threads": int(index[1]), **where})


def _against_baseline(view: View, metric: str, implementation: str, from_bytes: int = 0) -> Checks:
    if view.has(implementation, BASELINE) and view.counted(metric):
        logs = view.logs(metric, implementation, BASELINE)
        logs = logs[logs.index.get_level_values("msg_bytes") >= from_bytes]
        yield from _cells(logs, implementation=implementation, baseline=BASELINE)


def _along_sizes(view: View, metric: str) -> Checks:
    for name in view.implementations:
        for smaller, larger in pairwise(view.msg_bytes):
            logs = view.size_logs(metric, name, larger, smaller)
            for n_threads, row in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                yield Check(
                    row,
                    {
                        "implementation": name,
                        "n_threads": int(n_threads),
                        "from_bytes": smaller,
                        "to_bytes": larger,
                    },
                )


def _along_threads(view: View, metric: str, *, beyond_cpus: bool) -> Checks:
    cpus = placement_of(view)
    if cpus is None:
        return
    for name in view.implementations:
        for fewer, more in pairwise(view.n_threads):
            if cpus.is_full(fewer) if beyond_cpus else cpus.threads_per_cpu(more) == 1:
                logs = view.thread_logs(metric, name, more, fewer)
                for size, row in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                    yield Check(
                        row,
                        {
                            "implementation": name,
                            "msg_bytes": int(size),
                            "from_threads": fewer,
                            "to_threads": more,
                        },
                    )


def _zero_gains_with_size(view: View) -> Checks:
    smallest, largest = view.msg_bytes[0], view.msg_bytes[-1]
    if view.has(ZERO, BASELINE) and smallest != largest:
        logs = view.logs(THROUGHPUT, ZERO, BASELINE)
        rows = dict(zip(logs.index, logs.to_numpy(dtype=np.float64), strict=True))
        for n_threads in view.n_threads:
            if (smallest, n_threads) in rows and (largest, n_threads) in rows:
                yield Check(
                    rows[largest, n_threads] - rows[smallest, n_threads],
                    {
                        "implementation": ZERO,
                        "baseline": BASELINE,
                        "n_threads": n_threads,
                        "from_bytes": smallest,
                        "to_bytes": largest,
                    },
                )


EXPECTATIONS = (
    Expectation(
        "one_copy_cheaper",
        "a byte costs no more CPU with one copy than with two",
        "a copy that is not made costs nothing",
        "cost",
        "above",
        lambda view: _against_baseline(view, view.cost_column, ONE),
    ),
    Expectation(
        "zero_copy_cheaper",
        "a byte costs no more CPU with zero-copy than with two copies, from 10 KiB up",
        "from about there the kernel's documentation expects pinning pages to be cheaper "
        "than copying them",
        "cost",
        "above",
        lambda view: _against_baseline(view, view.cost_column, ZERO, PAYS_FROM_BYTES),
    ),
    Expectation(
        "zero_copy_pays",
        "zero-copy has no less throughput than two copies, from 10 KiB up",
        "the kernel's documentation names about that size as the one from which it pays",
        "throughput",
        "below",
        lambda view: _against_baseline(view, THROUGHPUT, ZERO, PAYS_FROM_BYTES),
    ),
    Expectation(
        "zero_copy_gains_with_size",
        "zero-copy does better against two copies the larger the message",
        "its price is per message, its gain per byte",
        "throughput",
        "below",
        _zero_gains_with_size,
    ),
    Expectation(
        "larger_no_slower",
        "larger messages have no less throughput",
        "the price of a system call is shared by more bytes",
        "throughput",
        "below",
        lambda view: _along_sizes(view, THROUGHPUT),
    ),
    Expectation(
        "larger_no_dearer",
        "a byte of a larger message costs no more CPU",
        "the price of a system call is shared by more bytes",
        "cost",
        "above",
        lambda view: _along_sizes(view, view.cost_column),
    ),
    Expectation(
        "threads_up_to_cpus_gain",
        "more threads have no less throughput while each, sending or receiving, has a CPU "
        "of its own",
        "they work side by side",
        "throughput",
        "below",
        lambda view: _along_threads(view, THROUGHPUT, beyond_cpus=False),
    ),
    Expectation(
        "threads_beyond_cpus_gain_nothing",
        "more threads gain nothing once every CPU has one, sending or receiving",
        "they take turns",
        "throughput",
        "above",
        lambda view: _along_threads(view, THROUGHPUT, beyond_cpus=True),
    ),
    Expectation(
        "service_time_rises",
        "the time per message rises with the threads once every CPU has one",
        "a message waits while other threads have the CPU",
        "service time",
        "below",
        lambda view: _along_threads(view, "service_mean_ns", beyond_cpus=True),
    ),
    Expectation(
        "one_copy_misses_less",
        "one copy misses the L1 data cache no more often per byte than two",
        "the second copy reads and writes every byte once more",
        "L1 data cache misses",
        "above",
        lambda view: _against_baseline(view, view.per_byte("l1d_load_misses"), ONE),
    ),
    Expectation(
        "zero_copy_misses_less",
        "zero-copy misses the L1 data cache no more often per byte than two copies",
        "bytes that are not copied are not read",
        "L1 data cache misses",
        "above",
        lambda view: _against_baseline(view, view.per_byte("l1d_load_misses"), ZERO),
    ),
)
