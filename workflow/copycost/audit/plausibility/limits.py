"""What no machine can do: the bounds of clocks, copies and system calls."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.dataset import moved_bytes
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import SIZE, THREADS
from copycost.audit.wording import cell_names

HIGHEST_CLOCK_HZ = 6e9
"""No processor that one buys runs faster for long."""

LEAST_CYCLES_PER_BYTE = 0.01
"""The widest loads and stores (64 bytes per cycle) need 1.6 times that for one copy."""

LEAST_RUN_S = 0.1
"""Where the duration is not told: a shorter run measures start-up."""

MOST_CPUS = 256
"""Where the number of CPUs is not told."""

LEAST_CALL_S = 30e-9
"""An empty system call takes about that; one that sends takes several times as long."""

MOST_INSTRUCTIONS_PER_CYCLE = 8.0
MOST_MISSES_PER_BYTE = 1.0
"""A miss brings 64 bytes."""

_LARGE_BYTES = 16384
"""From here on the costs per message do not weigh in what a byte costs."""

_MOST_SWITCHES_PER_S = 2e6
"""Context switches per thread and second; each takes a microsecond or more."""

# Copying alone, Gbit/s per thread: from the first two cache levels at best, beyond them, and from
# memory, at 200, 67 and 50 gigabytes a second, above what single cores are known to copy (the
# widest registers at 6 GHz do 3072 Gbit/s).
_COPY_BITS_PER_S = ((1 << 20, 8 * 200e9), (1 << 24, 8 * 67e9), (1 << 62, 8 * 50e9))
_REGISTER_BITS_PER_S = 64 * 8 * HIGHEST_CLOCK_HZ


def check_limits(sample: Sample) -> list[Finding]:
    """Return every bound that some cells break."""
    return [
        *_negative(sample),
        *_copying(sample),
        *_calls(sample),
        *_cycles_per_byte(sample),
        *_clock(sample),
        *_counters(sample),
    ]


def _report(
    sample: Sample,
    rows: pd.DataFrame,
    quantities: tuple[str, ...],
    code: str,
    sureness: Sureness = Sureness.CERTAIN,
    **numbers: object,
) -> Iterator[Finding]:
    if not rows.empty:
        yield Finding("limits", code, Kind.IMPOSSIBLE, sureness, sample.name, quantities,
                      numbers, cell_names(rows))  # fmt: skip


def _negative(sample: Sample) -> Iterator[Finding]:
    for name in map(str, sample.steps.columns):
        yield from _report(sample, sample.table[sample.table[name] < 0], (name,), "below_zero")
    if "copied_share" in sample.table:
        rows = sample.table[sample.table["copied_share"] > 1.0]
        yield from _report(sample, rows, ("copied_share",), "share_above_one")


def _copying(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("throughput")
    if rows.empty:
        return
    limits = np.select(
        [rows[SIZE] <= size for size, _ in _COPY_BITS_PER_S],
        [limit for _, limit in _COPY_BITS_PER_S],
    )
    per_thread = rows["throughput"] / rows[THREADS]
    impossible = per_thread > _REGISTER_BITS_PER_S
    yield from _report(
        sample, rows[impossible], ("throughput",), "faster_than_registers",
        most_gbit_per_s=float(per_thread.max()) * 1e-9,
    )  # fmt: skip
    hardly = (per_thread > limits) & ~impossible
    yield from _report(
        sample, rows[hardly], ("throughput",), "faster_than_memory", Sureness.VERY_LIKELY,
        most_gbit_per_s=float(per_thread[hardly].max()) * 1e-9,
    )  # fmt: skip


def _calls(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("throughput")
    rows = rows[rows["throughput"] > 0]
    time_s = rows[SIZE] * 8.0 * rows[THREADS] / rows["throughput"]
    yield from _report(
        sample, rows[time_s < LEAST_CALL_S], ("throughput",), "faster_than_calls",
        Sureness.VERY_LIKELY, least_ns=float(time_s.min()) * 1e9,
    )  # fmt: skip


def _cycles_per_byte(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("cycles_per_byte")
    low = rows[rows["cycles_per_byte"] < LEAST_CYCLES_PER_BYTE]
    yield from _few_cycles(sample, low, "cycles_per_byte", low["cycles_per_byte"])
    rows = sample.known("cycles")
    moved = moved_bytes(rows)
    told = moved.notna() & (moved > 0)
    cost = rows["cycles"] / moved
    few = rows[told & (cost < LEAST_CYCLES_PER_BYTE)]
    yield from _few_cycles(sample, few, "cycles", cost[few.index])
    if told.any():
        return
    rows = sample.known("cycles", "throughput")
    cost = rows["cycles"] / (rows["throughput"] / 8.0 * LEAST_RUN_S)
    few = rows[cost < LEAST_CYCLES_PER_BYTE]
    yield from _report(
        sample, few, ("cycles",), "few_cycles_in_any_run", Sureness.VERY_LIKELY,
        least=float(cost[few.index].min()), limit=LEAST_CYCLES_PER_BYTE, run_s=LEAST_RUN_S,
    )  # fmt: skip


def _few_cycles(
    sample: Sample, rows: pd.DataFrame, name: str, cost: pd.Series
) -> Iterator[Finding]:
    least = float(cost.min())
    yield from _report(sample, rows, (name,), "few_cycles", least=least,
                       limit=LEAST_CYCLES_PER_BYTE)  # fmt: skip


def _clock(sample: Sample) -> Iterator[Finding]:
    n_cpus = sample.n_cpus or MOST_CPUS
    told = sample.n_cpus is not None
    rows = sample.known("cycles", "duration")
    many = rows[rows["cycles"] > n_cpus * rows["duration"] * HIGHEST_CLOCK_HZ]
    yield from _report(sample, many, ("cycles",), "more_cycles_than_time",
                       n_cpus=n_cpus, n_cpus_told=told)  # fmt: skip
    rows = sample.known("cpu_time", "duration")
    many = rows[rows["cpu_time"] > n_cpus * rows["duration"] * 1.01]
    yield from _report(sample, many, ("cpu_time",), "more_cpu_time_than_time",
                       n_cpus=n_cpus, n_cpus_told=told)  # fmt: skip


def _counters(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("instructions", "cycles")
    many = rows[rows["instructions"] > MOST_INSTRUCTIONS_PER_CYCLE * rows["cycles"]]
    yield from _report(sample, many, ("instructions", "cycles"), "instructions_per_cycle")
    for misses in ("l1d_misses", "llc_misses", "cache_misses"):
        rows = sample.known(misses, "instructions")
        many = rows[rows[misses] > rows["instructions"]]
        yield from _report(
            sample, many, (misses,), "more_misses_than_instructions", Sureness.VERY_LIKELY
        )
        rows = sample.known(misses)
        cost = rows[misses] / moved_bytes(rows)
        many = rows[(cost > MOST_MISSES_PER_BYTE) & (rows[SIZE] >= _LARGE_BYTES)]
        yield from _report(sample, many, (misses,), "misses_per_byte", Sureness.VERY_LIKELY)
    rows = sample.known("context_switches", "duration")
    rate = rows["context_switches"] / rows["duration"] / rows[THREADS]
    many = rows[rate > 2 * _MOST_SWITCHES_PER_S]
    yield from _report(
        sample, many, ("context_switches",), "context_switches", Sureness.VERY_LIKELY
    )
