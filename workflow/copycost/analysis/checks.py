"""The ratios that expectations are tested on."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.placement import placement_of
from copycost.analysis.quantities import (
    COPIED_SHARE,
    ONE,
    URING_ZERO,
    ZERO,
    copied_share,
    really_not_copied,
)
from copycost.grid.capabilities import split_implementation
from copycost.grid.conditions import COLD
from copycost.stats.ratios import Ratio, paired_ratio


@dataclass(frozen=True, slots=True)
class Check:
    """One ratio that an expectation is tested on.

    Attributes
    ----------
    ratio
        The ratio over the rounds.
    where
        What it compares, for the text: keys among implementation, baseline, msg_bytes,
        n_threads, hot (the condition beside which), and from_/to_ pairs of sizes or thread counts.
    """

    ratio: Ratio
    where: dict[str, str | int]


Checks: TypeAlias = Iterator[Check]


def _cells(view: View, logs: pd.DataFrame, **where: str | int) -> Checks:
    for index, row in zip(logs.index, logs.to_numpy(dtype=np.float64), strict=True):
        at: dict[str, str | int] = {"msg_bytes": int(index[0]), "n_threads": int(index[1])}
        yield Check(paired_ratio(row, view.settings.confidence), at | where)


def against_baseline(view: View, metric: str, implementation: str, from_bytes: int = 0) -> Checks:
    """Yield an implementation beside two_copy, in every cell from a size on."""
    if view.has(implementation, BASELINE) and view.counted(metric):
        logs = view.logs(metric, implementation, BASELINE)
        logs = logs[logs.index.get_level_values("msg_bytes") >= from_bytes]
        yield from _cells(view, logs, implementation=implementation, baseline=BASELINE)


def along_sizes(view: View, metric: str) -> Checks:
    """Yield each implementation at a size over the same at the next smaller one."""
    for name in view.implementations:
        for smaller, larger in pairwise(view.msg_bytes):
            logs = view.size_logs(metric, name, larger, smaller)
            for n_threads, row in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                yield Check(
                    paired_ratio(row, view.settings.confidence),
                    {
                        "implementation": name,
                        "n_threads": int(n_threads),
                        "from_bytes": smaller,
                        "to_bytes": larger,
                    },
                )


def along_threads(view: View, metric: str, *, beyond_cpus: bool) -> Checks:
    """Yield each implementation over the same with fewer threads.

    Only steps that begin with a thread on every CPU, or only ones that end with at most one.
    """
    cpus = placement_of(view)
    if cpus is None:
        return
    for name in view.implementations:
        for fewer, more in pairwise(view.n_threads):
            if cpus.is_full(fewer) if beyond_cpus else cpus.threads_per_cpu(more) == 1:
                logs = view.thread_logs(metric, name, more, fewer)
                for size, row in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                    yield Check(
                        paired_ratio(row, view.settings.confidence),
                        {
                            "implementation": name,
                            "msg_bytes": int(size),
                            "from_threads": fewer,
                            "to_threads": more,
                        },
                    )


def zero_gains_with_size(view: View) -> Checks:
    """Yield zero_copy beside two_copy at the largest size, over the same at the smallest."""
    smallest, largest = view.msg_bytes[0], view.msg_bytes[-1]
    if view.has(ZERO, BASELINE) and smallest != largest:
        logs = view.logs(THROUGHPUT, ZERO, BASELINE)
        rows = dict(zip(logs.index, logs.to_numpy(dtype=np.float64), strict=True))
        for n_threads in view.n_threads:
            if (smallest, n_threads) in rows and (largest, n_threads) in rows:
                difference = rows[largest, n_threads] - rows[smallest, n_threads]
                yield Check(
                    paired_ratio(difference, view.settings.confidence),
                    {
                        "implementation": ZERO,
                        "baseline": BASELINE,
                        "n_threads": n_threads,
                        "from_bytes": smallest,
                        "to_bytes": largest,
                    },
                )


def copied_beside_one_copy(view: View) -> Checks:
    """Yield zero_copy beside one_copy where the kernel copied (nearly) everything."""
    share = copied_share(view.of(ZERO))
    if share is not None and share >= COPIED_SHARE and view.has(ONE):
        logs = view.logs(THROUGHPUT, ZERO, ONE)
        yield from _cells(view, logs, implementation=ZERO, baseline=ONE)


def _not_copied(view: View) -> bool:
    """Tell whether the kernel really did not copy for zero_copy, here and where it is hot."""
    return all(one is not None and really_not_copied(one.of(ZERO)) for one in (view, view.hot))


def _beside_hot(view: View, here: pd.DataFrame, hot: pd.DataFrame, **where: str | int) -> Checks:
    """Yield, in cells that both have, the one over the other, round by round."""
    both = here.sub(hot).dropna(how="all")
    slug = view.hot.name if view.hot is not None else ""
    yield from _cells(view, both, hot=slug, **where)


def cold_gains(view: View) -> Checks:
    """Yield zero_copy beside two_copy, over the same where one message is sent again and again."""
    if view.hot is not None and _not_copied(view) and view.has(BASELINE):
        pair = (THROUGHPUT, ZERO, BASELINE)
        where = {"implementation": ZERO, "baseline": BASELINE}
        yield from _beside_hot(view, view.logs(*pair), view.hot.logs(*pair), **where)


def cold_beside_hot(view: View) -> Checks:
    """Yield each implementation's throughput cold over hot."""
    if view.hot is None or view.studied.condition.working_set != COLD:
        return
    for name in view.implementations:
        if view.has(name) and view.hot.has(name):
            here, hot = (one.values(THROUGHPUT, name) for one in (view, view.hot))
            yield from _beside_hot(view, here, hot, implementation=name)


def batched_beside_plain(view: View) -> Checks:
    """Yield the cost per byte with many messages per system call over that with one."""
    for name in view.implementations:
        strategy, batch = split_implementation(name)
        if batch > 1 and view.has(name, strategy) and view.counted(view.cost_column):
            logs = view.logs(view.cost_column, name, strategy)
            yield from _cells(view, logs, implementation=name, baseline=strategy)


def uring_beside_msg_zerocopy(view: View) -> Checks:
    """Yield io_uring's zero-copy beside MSG_ZEROCOPY."""
    logs = view.logs(THROUGHPUT, URING_ZERO, ZERO)
    yield from _cells(view, logs, implementation=URING_ZERO, baseline=ZERO)
