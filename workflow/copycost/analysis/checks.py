"""The ratios that expectations are tested on."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.decomposition import cpus_in_use
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
from copycost.config.capabilities import split_implementation
from copycost.config.conditions import COLD, HOT
from copycost.stats.ratios import Ratio, paired_ratio
from copycost.stats.settings import FloatArray


@dataclass(frozen=True, slots=True)
class Check:
    """One ratio that an expectation is tested on.

    Attributes
    ----------
    ratio
        The ratio over the rounds.
    where
        What it compares, for the text: keys among implementation, baseline, msg_bytes,
        n_threads, hot (the condition it is compared with), and from_/to_ pairs of sizes or thread
        counts.
    logs
        Its logarithm by round, shape (n_rounds,).
    """

    ratio: Ratio
    where: dict[str, str | int]
    logs: FloatArray


Checks: TypeAlias = Iterator[Check]

PAYS_FROM_BYTES = 10240
"""From about here on zero-copy is said to pay (kernel document networking/msg_zerocopy.rst)."""
# The share of the CPUs at hand up to which some are idle, and from which on none is worth mention.
_IDLE = 0.90
_FULL = 0.95


def _check(view: View, logs: FloatArray, where: dict[str, str | int]) -> Check:
    return Check(paired_ratio(logs, view.settings.confidence), where, logs)


def _cells(view: View, logs: pd.DataFrame, **where: str | int) -> Checks:
    for index, row in zip(logs.index, logs.to_numpy(dtype=np.float64), strict=True):
        at: dict[str, str | int] = {"msg_bytes": int(index[0]), "n_threads": int(index[1])}
        yield _check(view, row, at | where)


def against_baseline(
    view: View, metric: str, implementation: str, from_bytes: int = 0, baseline: str = BASELINE
) -> Checks:
    """Yield an implementation compared with another, in every cell from a size on."""
    if view.has(implementation, baseline) and _tells(view, metric):
        logs = view.logs(metric, implementation, baseline)
        logs = logs[logs.index.get_level_values("msg_bytes") >= from_bytes]
        yield from _cells(view, logs, implementation=implementation, baseline=baseline)


def _tells(view: View, metric: str) -> bool:
    """Tell whether something was counted that is not the throughput turned upside down."""
    return view.counted(metric) and not (metric == view.cost_column and view.cost_is_throughput)


def along_sizes(view: View, metric: str) -> Checks:
    """Yield each implementation at a size over the same at the next smaller one.

    Of messages that are sent again and again, those that the L2 cache holds together with their
    copy: larger ones come from further away, byte by byte.
    """
    within = view.caches.get("l2_bytes")
    if not _tells(view, metric):
        return
    if view.studied.condition.working_set == HOT and not within:
        return
    for name in view.implementations:
        for smaller, larger in pairwise(view.msg_bytes):
            if view.studied.condition.working_set == HOT and within and 2 * larger > within:
                continue
            logs = view.size_logs(metric, name, larger, smaller)
            for n_threads, row in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                where: dict[str, str | int] = {"implementation": name, "n_threads": int(n_threads)}
                yield _check(view, row, where | {"from_bytes": smaller, "to_bytes": larger})


def along_threads(view: View, metric: str, *, full: bool) -> Checks:
    """Yield each implementation over the same with fewer threads.

    Only steps that begin with (nearly) all CPUs in use, or only ones that begin with some idle, as
    measured: counting threads does not tell, since a thread may wait for its peer.
    """
    cpus = placement_of(view)
    if cpus is None:
        return
    for name in view.implementations:
        in_use = cpus_in_use(view, name) / cpus.n_cpus
        for fewer, more in pairwise(view.n_threads):
            logs = view.thread_logs(metric, name, more, fewer)
            for size, row in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                share = float(in_use.get((size, fewer), np.nan))
                if share >= _FULL if full else share <= _IDLE:
                    where: dict[str, str | int] = {"implementation": name, "msg_bytes": int(size)}
                    yield _check(view, row, where | {"from_threads": fewer, "to_threads": more})


def zero_gains_with_size(view: View) -> Checks:
    """Yield zero_copy over two_copy at the largest size, over the same at the smallest."""
    smallest, largest = view.msg_bytes[0], view.msg_bytes[-1]
    if view.has(ZERO, BASELINE) and smallest != largest and really_not_copied(view.of(ZERO)):
        logs = view.logs(THROUGHPUT, ZERO, BASELINE)
        rows = dict(zip(logs.index, logs.to_numpy(dtype=np.float64), strict=True))
        for n_threads in view.n_threads:
            if (smallest, n_threads) in rows and (largest, n_threads) in rows:
                difference = rows[largest, n_threads] - rows[smallest, n_threads]
                yield _check(
                    view,
                    difference,
                    {
                        "implementation": ZERO,
                        "baseline": BASELINE,
                        "n_threads": n_threads,
                        "from_bytes": smallest,
                        "to_bytes": largest,
                    },
                )


def zero_where_not_copied(view: View, metric: str) -> Checks:
    """Yield zero_copy compared with two_copy from where it is said to pay, if not copied."""
    if really_not_copied(view.of(ZERO)):
        yield from against_baseline(view, metric, ZERO, PAYS_FROM_BYTES)


def zero_where_copied(view: View, metric: str) -> Checks:
    """Yield zero_copy compared with one_copy where the kernel copied (nearly) everything."""
    share = copied_share(view.of(ZERO))
    if share is not None and share >= COPIED_SHARE:
        yield from against_baseline(view, metric, ZERO, baseline=ONE)


def _not_copied(view: View) -> bool:
    """Tell whether the kernel really did not copy for zero_copy, here and where it is hot."""
    return all(one is not None and really_not_copied(one.of(ZERO)) for one in (view, view.hot))


def _beside_hot(view: View, here: pd.DataFrame, hot: pd.DataFrame, **where: str | int) -> Checks:
    """Yield, in cells that both have, the one over the other, round by round."""
    both = here.sub(hot).dropna(how="all")
    slug = view.hot.name if view.hot is not None else ""
    yield from _cells(view, both, hot=slug, **where)


def cold_gains(view: View) -> Checks:
    """Yield zero_copy over two_copy, over the same where one message is sent again and again."""
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
        if batch > 1 and view.has(name, strategy) and _tells(view, view.cost_column):
            logs = view.logs(view.cost_column, name, strategy)
            yield from _cells(view, logs, implementation=name, baseline=strategy)


def uring_beside_msg_zerocopy(view: View) -> Checks:
    """Yield io_uring's zero-copy compared with MSG_ZEROCOPY."""
    logs = view.logs(THROUGHPUT, URING_ZERO, ZERO)
    yield from _cells(view, logs, implementation=URING_ZERO, baseline=ZERO)
