"""Runs with a known truth, one per branch of the answers; see verdicts.txt."""

import math
from collections.abc import Callable

from synthetic import IMPLEMENTATIONS, Run, Truth, Udp

SMALL = {"msg_bytes": (1024, 4096, 16384, 65536), "n_threads": (1, 2)}


ONE_SIZE = {"msg_bytes": (65536,), "n_threads": (1,)}
TWELVE = (
    *IMPLEMENTATIONS, "write_v", "sendfile", "splice", "splice_gift", "sendmmsg", "sendmmsg_x16",
    "uring_send", "uring_sendmsg", "uring_zero_copy",
)  # fmt: skip

Curve = Callable[[float, int], float]


def _one_and_zero(one: Curve, zero: Curve) -> Truth:
    def log_ratio(implementation: str, msg_bytes: int, n_threads: int) -> float:
        if implementation == "one_copy":
            return one(math.log2(msg_bytes), n_threads)
        return zero(math.log2(msg_bytes), n_threads) if implementation == "zero_copy" else 0.0

    return log_ratio


def _even(log2_size: float, n_threads: int) -> float:
    return 0.0


def _loses(log2_size: float, n_threads: int) -> float:
    return -0.4


def _wins(log2_size: float, n_threads: int) -> float:
    return 0.3


def _zigzag(log2_size: float, n_threads: int) -> float:
    return 0.3 if 12 <= log2_size < 16 else -0.3


def _lone(log2_size: float, n_threads: int) -> float:
    return 0.3 if log2_size == 14 else -0.3


def _crossings_open(working_set: str, name: str, size: int) -> float:
    """Two crossovers that are not settled, though one is smaller; and one with a gap."""
    if name == "zero_copy" and working_set == "cold":
        return 0.3 if size >= 8192 else 0.0
    if name == "zero_copy":
        return 0.3 if size > 49152 else -0.3
    if name == "one_copy" and size != 32768:
        return 0.3 if size > 4096 else -0.3
    return 0.0


SCENARIOS: dict[str, Run] = {
    "found": Run(),
    "found_at_one_size_for_all_threads": Run(
        **SMALL, log_ratio=_one_and_zero(lambda x, n: 0.2 * (x - 11), _loses), noise=0.01
    ),
    "up_to": Run(**SMALL, log_ratio=_one_and_zero(lambda x, n: 0.2 * (13.2 - x), _loses)),
    "always_and_none_copied": Run(
        **SMALL,
        log_ratio=_one_and_zero(_wins, lambda x, n: 0.6),
        copied_share=lambda msg_bytes: 0.0,
    ),
    "never": Run(**SMALL, log_ratio=_one_and_zero(_loses, _loses)),
    "mixed": Run(
        msg_bytes=(256, 1024, 4096, 16384, 65536, 262144),
        n_threads=(2,),
        log_ratio=_one_and_zero(_zigzag, _zigzag),
    ),
    "lone_reversal": Run(**SMALL, log_ratio=_one_and_zero(_lone, _loses)),
    "undecided": Run(**SMALL, log_ratio=_one_and_zero(_even, _even), noise=0.15, seed=5),
    "depends_on_threads": Run(
        **SMALL,
        log_ratio=_one_and_zero(lambda x, n: 0.3 if n == 1 else -0.3, _loses),
    ),
    "observed_once": Run(**SMALL, repetitions=1),
    "counters": Run(**SMALL, counters=True),
    "counters_zero": Run(
        **SMALL, counters=True, zero_events=("llc_load_misses", "context_switches")
    ),
    "counters_all_zero": Run(
        **SMALL, counters=True, zero_events=("l1d_load_misses", "llc_load_misses")
    ),
    "partly_copied": Run(**SMALL, copied_share=lambda msg_bytes: 0.25),
    "zero_copy_missing": Run(**SMALL, implementations=IMPLEMENTATIONS[:2]),
    "two_copy_missing": Run(**SMALL, implementations=IMPLEMENTATIONS[1:]),
    "two_copy_alone": Run(
        msg_bytes=SMALL["msg_bytes"], implementations=("two_copy",), n_threads=(1,)
    ),
    "failed_cells": Run(
        **SMALL,
        failed=lambda implementation, msg_bytes, n_threads, rep: (
            (implementation == "one_copy" and msg_bytes == 4096) or (n_threads == 2 and rep == 3)
        ),
    ),
    "one_testbed_skipped": Run(
        **SMALL,
        testbeds=("veth", "loopback"),
        skipped={"veth": "no right to make network namespaces"},
    ),
    "all_failed": Run(**SMALL, failed=lambda *cell: True),
    "one_cell": Run(msg_bytes=(65536,), n_threads=(1,)),
    "gains_with_threads": Run(
        **SMALL, counters=True, cpus=16, scaling=lambda n_threads: n_threads**0.9
    ),
    "falls_with_threads": Run(**SMALL, scaling=lambda n_threads: n_threads**-0.5),
    "disturbed": Run(
        **SMALL,
        repetitions=4,
        warnings=lambda implementation, msg_bytes, n_threads, rep: (
            "foreign_load;lock_waited" if rep == 2 else ""
        ),
    ),
    "disturbed_throughout": Run(**SMALL, warnings=lambda *cell: "steal"),
    "user_mode_only": Run(**SMALL, counters=True, user_mode_only=True),
    "one_copy_missing": Run(**SMALL, implementations=("two_copy", "zero_copy")),
    "none_copied_and_slower": Run(
        **SMALL,
        log_ratio=_one_and_zero(_even, _loses),
        copied_share=lambda msg_bytes: 0.0,
        changes={
            "sender_page_faults": lambda row: row["messages"] * 0.5,
            "enobufs_count": lambda row: row["messages"] * 0.02,
        },
    ),
    "completions_not_counted": Run(
        **SMALL,
        changes=dict.fromkeys(
            ("zc_sent", "zc_completed", "zc_copied", "zc_copied_share"), math.nan
        ),
    ),
    "zero_copy_everywhere_fastest": Run(
        **SMALL,
        repetitions=5,
        noise=0.01,
        log_ratio=_one_and_zero(lambda x, n: 0.1 * (x - 13), lambda x, n: 0.5),
        copied_share=lambda msg_bytes: 0.0,
    ),
    "zero_copy_from_a_size": Run(
        **SMALL,
        repetitions=5,
        noise=0.01,
        log_ratio=_one_and_zero(_even, lambda x, n: 0.2 * (x - 13)),
        copied_share=lambda msg_bytes: 0.0,
    ),
    "from_depends_on_threads": Run(
        **SMALL, noise=0.01, log_ratio=_one_and_zero(lambda x, n: 0.2 * (x - 10 - n), _loses)
    ),
    "up_to_depends_on_threads": Run(
        **SMALL, noise=0.01, log_ratio=_one_and_zero(lambda x, n: 0.2 * (12 + n - x), _loses)
    ),
    "misses_fall_beyond_l1d": Run(
        **SMALL,
        counters=True,
        misses=lambda name, size: 0.5 if name == "one_copy" and size > 16384 else 1.0,
    ),
    "misses_rise": Run(
        **SMALL, counters=True, misses=lambda name, size: 1.0 if name == "two_copy" else 1.5
    ),
    "misses_even": Run(**SMALL, counters=True, noise=0.1, misses=lambda name, size: 1.0),
    "two_copy_missing_with_counters": Run(
        **SMALL, implementations=IMPLEMENTATIONS[1:], counters=True
    ),
    "misses_grow_with_threads": Run(
        **SMALL,
        counters=True,
        changes={
            f"both_{level}_load_misses_per_byte": lambda row: 0.01 * row["n_threads"]
            for level in ("l1d", "llc")
        },
    ),
    "flat_with_threads": Run(**SMALL, noise=0.1, scaling=lambda n_threads: 1.0),
    "gains_then_falls_with_threads": Run(
        msg_bytes=(1024, 65536),
        noise=0.01,
        scaling=lambda n_threads: {1: 1.0, 2: 1.6, 4: 1.2, 8: 0.9}[n_threads],
    ),
    "threads_scale_by_implementation": Run(
        **SMALL,
        noise=0.005,
        log_ratio=_one_and_zero(lambda x, n: -0.8 * (n > 1), _loses),
    ),
    "not_pinned_and_cut_into_segments": Run(
        **SMALL,
        testbeds=("veth_no_offload",),
        known_caches=False,
        changes={
            "sender_cpus": "any",
            "receiver_cpus": "any",
            "offload_tso": False,
            "offload_gso": False,
            "tcp_retransmits": 40000.0,
        },
    ),
    "small_caches": Run(
        msg_bytes=(1024, 33554432), n_threads=(1, 2), changes={"offload_tso": math.nan}
    ),
    "small_messages": Run(msg_bytes=(256, 1024), n_threads=(1,)),
    "as_expected": Run(
        msg_bytes=(1024, 4096, 16384, 65536),
        n_threads=(1,),
        log_ratio=_one_and_zero(_wins, _wins),
        copied_share=lambda msg_bytes: 0.0,
    ),
    "nothing_tested": Run(
        msg_bytes=(65536,), n_threads=(1,), implementations=("two_copy",), repetitions=1
    ),
    "larger_messages_slower": Run(
        **SMALL, implementations=("two_copy", "one_copy"), size_bend=-0.5, noise=0.01
    ),
    "two_repetitions": Run(**SMALL, repetitions=2, noise=0.1),
    "real_zero_copy": Run(**SMALL, udp=Udp()),
    "sink_undecided": Run(
        **ONE_SIZE, udp=Udp(log_ratio=lambda working_set, name, size: 0.0), noise=0.1
    ),
    "sink_crossings_open": Run(**ONE_SIZE, udp=Udp(log_ratio=_crossings_open)),
    "sink_cold_always": Run(
        **ONE_SIZE,
        noise=0.005,
        udp=Udp(
            log_ratio=lambda working_set, name, size: (
                (0.4 if working_set == "cold" else 0.3 * (math.log2(size) - 14.5))
                if name == "zero_copy"
                else 0.0
            )
        ),
    ),
    "sink_hot_and_cold_alike": Run(
        **ONE_SIZE,
        udp=Udp(
            log_ratio=lambda working_set, name, size: (
                0.3 * (math.log2(size) - 13.5) if name == "zero_copy" else 0.0
            )
        ),
    ),
    "sink_hot_never": Run(
        **ONE_SIZE,
        udp=Udp(
            log_ratio=lambda working_set, name, size: (
                (-0.3 if working_set == "hot" else 0.3 * (math.log2(size) - 13.5))
                if name == "zero_copy"
                else 0.0
            )
        ),
    ),
    "sink_observed_once": Run(**ONE_SIZE, repetitions=1, udp=Udp()),
    "sink_skipped": Run(
        **ONE_SIZE,
        udp=Udp(),
        skipped=dict.fromkeys(("sink",), "nftables is not there"),
    ),
    "sink_copied": Run(
        **ONE_SIZE,
        udp=Udp(copied_share=1.0, log_ratio=lambda working_set, name, size: -0.3 * ("z" in name)),
    ),
    "sink_lost_datagrams": Run(
        **ONE_SIZE, udp=Udp(working_sets=("hot",), lost_share=0.02, slot_waits_per_message=0.3)
    ),
    "sink_alone": Run(
        testbeds=(), implementations=IMPLEMENTATIONS, udp=Udp(n_threads=(1, 2)), msg_bytes=(1024,)
    ),
    "udp_with_a_receiver": Run(
        **ONE_SIZE,
        udp=Udp(testbeds=("veth_udp",), working_sets=("hot",), copied_share=1.0, lost_share=0.1),
    ),
    "cold_over_tcp": Run(
        **SMALL, working_sets=("hot", "cold", "16777216"), receivers=("recv",), known_caches=True
    ),
    "receivers": Run(**ONE_SIZE, receivers=("recv", "trunc", "mmap", "uring")),
    "uring_missing": Run(
        **SMALL,
        implementations=(*IMPLEMENTATIONS, "uring_send", "uring_zero_copy"),
        failed=lambda *cell: False,
        unavailable={
            name: "io_uring is switched off (kernel.io_uring_disabled is 2)"
            for name in ("uring_send", "uring_zero_copy")
        },
    ),
    "twelve_ways": Run(
        **SMALL,
        repetitions=5,
        implementations=TWELVE,
        log_ratio=lambda name, size, threads: (
            0.0 if name == "two_copy" else 0.06 * (TWELVE.index(name) - 5)
        ),
        udp=Udp(
            implementations=(
                *IMPLEMENTATIONS,
                "sendmmsg",
                "sendmmsg_x16",
                "uring_zero_copy",
                "udp_gso",
            ),
            msg_bytes=(1024, 4096, 16384, 32768),
        ),
    ),
}
