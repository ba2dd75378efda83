"""Runs with a known truth, one per branch of the answers; see verdicts.txt."""

import math
from collections.abc import Callable

from synthetic import IMPLEMENTATIONS, Run, Truth, Udp

SMALL = {"msg_bytes": (1024, 4096, 16384, 65536), "n_threads": (1, 2)}
Curve = Callable[[float, int], float]


def _one_and_zero(one: Curve, zero: Curve) -> Truth:
    """Return log ratios of one_copy and zero_copy by the logarithm of the size, and threads."""
    curves = {"one_copy": one, "zero_copy": zero}
    return lambda name, size, n: curves[name](math.log2(size), n) if name in curves else 0.0


def _always(log_ratio: float) -> Curve:
    return lambda log2_size, n_threads: log_ratio


def _at(lowest: float, end: float) -> Curve:
    """Return what is ahead at some sizes and behind at all others."""
    return lambda log2_size, n_threads: 0.3 if lowest <= log2_size < end else -0.3


_EVEN, _LOSES = _always(0.0), _always(-0.4)
_ZIGZAG = _at(12, 16)

SCENARIOS: dict[str, Run] = {
    "found": Run(),
    "up_to": Run(**SMALL, log_ratio=_one_and_zero(lambda x, n: 0.2 * (13.2 - x), _LOSES)),
    "always_and_none_copied": Run(
        **SMALL,
        log_ratio=_one_and_zero(_always(0.3), _always(0.6)),
        copied_share=lambda msg_bytes: 0.0,
    ),
    "never": Run(**SMALL, log_ratio=_one_and_zero(_LOSES, _LOSES)),
    "mixed": Run(
        msg_bytes=(256, 1024, 4096, 16384, 65536, 262144),
        n_threads=(2,),
        log_ratio=_one_and_zero(_ZIGZAG, _ZIGZAG),
    ),
    "lone_reversal": Run(**SMALL, log_ratio=_one_and_zero(_at(14, 15), _LOSES)),
    "undecided": Run(**SMALL, log_ratio=_one_and_zero(_EVEN, _EVEN), noise=0.15, seed=5),
    "depends_on_threads": Run(
        **SMALL, log_ratio=_one_and_zero(lambda x, n: 0.3 if n == 1 else -0.3, _LOSES)
    ),
    "decided_with_one_thread": Run(
        **SMALL,
        noise=0.01,
        log_ratio=_one_and_zero(lambda x, n: 0.2 * (x - 13) if n == 1 else 0.0, _LOSES),
    ),
    "observed_once": Run(**SMALL, repetitions=1),
    "counters": Run(**SMALL, counters=True),
    "one_testbed_skipped": Run(
        **SMALL,
        testbeds=("veth", "loopback"),
        skipped={"veth": "no right to make network namespaces"},
    ),
    "all_failed": Run(**SMALL, failed=lambda *cell: True),
    "falls_with_threads": Run(**SMALL, scaling=lambda n_threads: n_threads**-0.5),
    "completions_not_counted": Run(
        **SMALL,
        changes=dict.fromkeys(
            ("zc_sent", "zc_completed", "zc_copied", "zc_copied_share"), math.nan
        ),
    ),
    "zero_copy_from_a_size": Run(
        **SMALL,
        repetitions=5,
        noise=0.01,
        log_ratio=_one_and_zero(_EVEN, lambda x, n: 0.2 * (x - 13)),
        copied_share=lambda msg_bytes: 0.0,
    ),
    "misses_rise": Run(
        **SMALL, counters=True, misses=lambda name, size: 1.0 if name == "two_copy" else 1.5
    ),
    "misses_even": Run(**SMALL, counters=True, noise=0.1, misses=lambda name, size: 1.0),
    "two_copy_missing_with_counters": Run(
        **SMALL, implementations=IMPLEMENTATIONS[1:], counters=True
    ),
    "gains_then_falls_with_threads": Run(
        msg_bytes=(1024, 65536),
        noise=0.01,
        scaling=lambda n_threads: {1: 1.0, 2: 1.6, 4: 1.2, 8: 0.9}[n_threads],
    ),
    "nothing_tested": Run(
        msg_bytes=(65536,), n_threads=(1,), implementations=("two_copy",), repetitions=1
    ),
    "larger_messages_slower": Run(
        **SMALL, implementations=("two_copy", "one_copy"), size_bend=-0.5, noise=0.01
    ),
    "two_repetitions": Run(**SMALL, repetitions=2, noise=0.1),
    "real_zero_copy": Run(**SMALL, udp=Udp()),
    "sink_alone": Run(
        testbeds=(), implementations=IMPLEMENTATIONS, udp=Udp(n_threads=(1, 2)), msg_bytes=(1024,)
    ),
    "udp_with_a_receiver": Run(
        msg_bytes=(65536,),
        n_threads=(1,),
        udp=Udp(testbeds=("veth_udp",), working_sets=("hot",), copied_share=1.0, lost_share=0.1),
    ),
}
