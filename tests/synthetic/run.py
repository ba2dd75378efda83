"""What a synthetic run is like: its grid, and the truth that its numbers come from."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

SIZES = (256, 1024, 4096, 16384, 65536, 262144, 1048576)
UDP_SIZES = (1024, 4096, 8192, 16384, 32768, 49152, 65507)
THREADS = (1, 2, 4, 8)
IMPLEMENTATIONS = ("two_copy", "one_copy", "zero_copy")
LLC_BYTES = 33554432
EVENTS = (
    "cycles", "instructions", "l1d_loads", "l1d_load_misses", "llc_loads", "llc_load_misses",
    "cache_misses", "context_switches", "cpu_migrations", "page_faults", "task_clock_ns",
    "ref_cycles",
)  # fmt: skip
PMU_EVENTS = EVENTS[:7]

Truth = Callable[[str, int, int], float]
"""A logarithm of a ratio, by implementation, size and threads."""


def default_log_ratio(implementation: str, msg_bytes: int, n_threads: int) -> float:
    """one_copy gains from about 8 KiB up, zero_copy loses everywhere (its bytes are copied)."""
    if implementation == "one_copy":
        return 0.06 * (math.log2(msg_bytes) - 13.0)
    if implementation == "zero_copy":
        return -0.9 + 0.03 * (math.log2(msg_bytes) - 8.0)
    return 0.0


def default_sink_log_ratio(working_set: str, implementation: str, msg_bytes: int) -> float:
    """zero_copy gains from 23 KiB up where bytes lie in the caches, from 6 KiB where not."""
    if implementation == "one_copy":
        return 0.08
    if implementation.startswith(("zero_copy", "uring_zero_copy")):
        return 0.35 * (math.log2(msg_bytes) - (14.5 if working_set == "hot" else 12.6))
    return 0.0


def default_scaling(n_threads: int) -> float:
    """Two CPUs: two threads gain, more do not."""
    return {1: 1.0, 2: 1.6}.get(n_threads, 1.5)


def default_misses(implementation: str, msg_bytes: int) -> float:
    """Fewer copies miss less, whatever the size."""
    return {"two_copy": 1.0, "one_copy": 0.75, "zero_copy": 0.6}.get(implementation, 0.8)


@dataclass(frozen=True)
class Udp:
    """The grid over UDP."""

    implementations: Sequence[str] = IMPLEMENTATIONS
    testbeds: Sequence[str] = ("sink",)
    msg_bytes: Sequence[int] = UDP_SIZES
    n_threads: Sequence[int] = (1,)
    working_sets: Sequence[str] = ("hot", "cold")
    log_ratio: Callable[[str, str, int], float] = default_sink_log_ratio
    """By working set, implementation and size."""
    copied_share: float = 0.0
    lost_share: float = 0.0
    slot_waits_per_message: float = 0.0
    extra_repetitions: int = 0


@dataclass(frozen=True)
class Run:
    """What the synthetic run is like; every field has a plausible default."""

    implementations: Sequence[str] = IMPLEMENTATIONS
    testbeds: Sequence[str] = ("veth",)
    msg_bytes: Sequence[int] = SIZES
    n_threads: Sequence[int] = THREADS
    repetitions: int = 5
    noise: float = 0.02
    seed: int = 1
    log_ratio: Truth = default_log_ratio
    scaling: Callable[[int], float] = default_scaling
    counters: bool = False
    zero_events: Sequence[str] = ()
    copied_share: Callable[[int], float] = lambda msg_bytes: 1.0
    failed: Callable[[str, int, int, int], bool] = lambda *cell: False
    skipped: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Implementations that this host does not have, and why."""
    user_mode_only: bool = False
    cpus: int = 2
    size_bend: float = 0.0
    warnings: Callable[[str, int, int, int], str] = lambda *cell: ""
    changes: Mapping[str, object] = field(default_factory=dict)
    """Columns of measured rows that have another value (or a function of the row) than usual."""
    misses: Callable[[str, int], float] = default_misses
    working_sets: Sequence[str] = ("hot",)
    receivers: Sequence[str] = ("recv",)
    placements: Sequence[str] = ("apart",)
    udp: Udp | None = None
    strange: Sequence[str] = ("send_file",)
    """Strategies that the table of capabilities does not know."""
