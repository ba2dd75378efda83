"""The other ways to send, compared with two_copy and with what differs in one thing only."""

from collections.abc import Sequence

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.missing import why_lost
from copycost.analysis.quantities import (
    NOT_COPIED_SHARE,
    URING_ZERO,
    ZERO,
    copied_share,
    notifications_per_send,
)
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.together import together
from copycost.grid.capabilities import split_implementation

_SYSTEM_CALLS = "sender_syscalls_per_message"
# What the literature on io_uring's zero-copy looks at, where the grid has it [bytes].
_USUAL_BYTES = 4096


def other_ways_facts(view: View, names: Sequence[str]) -> Facts:
    """Return what there is to say of the implementations other than those of the questions.

    Keys
    ----
    ways
        Per implementation that was measured: implementation, crossover (key of `crossovers`),
        cost and system_calls (ratios to two_copy over the cells together, see
        `copycost.analysis.together`; None where not measured), copied_share (None unless zero-copy
        was requested).
    lost
        Those that were not measured at all: implementation, reason, remedy.
    uring
        uring_zero_copy compared with zero_copy (`_pair`), with the notifications per send and the
        copied shares of both, and whether the kernel copied alike (``alike``, ``differ``, or
        ``unknown`` where it did not tell); None unless both were measured.
    batches
        Many messages per system call compared with one: `_pair`, and the batch.
    """
    found = [name for name in names if view.has(name)]
    return {
        "ways": [_way(view, name) for name in found],
        "lost": [
            {"implementation": name} | why_lost(view.rows[view.rows["implementation"] == name])
            for name in names
            if name not in found
        ],
        "uring": _uring(view),
        "batches": [
            _pair(view, name, strategy) | {"batch": batch}
            for name in found
            for strategy, batch in [split_implementation(name)]
            if batch > 1 and view.has(strategy)
        ],
    }


def _way(view: View, name: str) -> Facts:
    return {
        "implementation": name,
        "crossover": f"{name}_vs_{BASELINE}",
        "cost": _ratio(view, view.cost_column, name, BASELINE),
        "system_calls": _ratio(view, _SYSTEM_CALLS, name, BASELINE),
        "copied_share": copied_share(view.of(name)),
    }


def _uring(view: View) -> Facts | None:
    if not view.has(URING_ZERO, ZERO):
        return None
    both = {"uring": URING_ZERO, "msg_zerocopy": ZERO}
    shares = {key: copied_share(view.of(name)) for key, name in both.items()}
    return _pair(view, URING_ZERO, ZERO) | {
        "notifications_per_send": {
            key: notifications_per_send(view.of(name)) for key, name in both.items()
        },
        "copied_share": shares,
        "copies": _copies(list(shares.values())),
    }


def _copies(shares: Sequence[float | None]) -> str:
    if None in shares:
        return "unknown"
    copied = {share is not None and share > NOT_COPIED_SHARE for share in shares}
    return "alike" if len(copied) == 1 else "differ"


def _pair(view: View, name: str, baseline: str) -> Facts:
    """Return how one implementation compares with another.

    Keys
    ----
    implementation, baseline
        Their names.
    throughput, cost, system_calls
        Ratios over the cells together; None where not measured.
    at
        The throughput at one size (4 KiB where the grid has it, else the smallest) with the fewest
        threads: msg_bytes, n_threads and the ratio; None where not measured there.
    """
    return {
        "implementation": name,
        "baseline": baseline,
        "throughput": _ratio(view, THROUGHPUT, name, baseline),
        "cost": _ratio(view, view.cost_column, name, baseline),
        "system_calls": _ratio(view, _SYSTEM_CALLS, name, baseline),
        "at": _at(view, name, baseline),
    }


def _at(view: View, name: str, baseline: str) -> Facts | None:
    logs = view.logs(THROUGHPUT, name, baseline)
    size = _USUAL_BYTES if _USUAL_BYTES in view.msg_bytes else view.msg_bytes[0]
    n_threads = view.n_threads[0]
    if (size, n_threads) not in logs.index:
        return None
    found = view.pooled(logs.loc[[(size, n_threads)]])
    return {"msg_bytes": size, "n_threads": n_threads} | ratio_facts(found)


def _ratio(view: View, metric: str, name: str, baseline: str) -> Facts | None:
    """Return a ratio over the cells together, and whether these contradict each other."""
    if not view.has(name, baseline) or not view.counted(metric):
        return None
    return together(view, view.logs(metric, name, baseline))
