"""What is odd for a socket: rates, switches and misses that others do not see.

Unlike the bounds of `limits`, something may explain these: batches of messages per call, helper
threads, a host without a second thread. So each is a question.
"""

from collections.abc import Iterator

import pandas as pd

from copycost.audit.dataset import moved_bytes
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.limits import HIGHEST_CLOCK_HZ, LEAST_CALL_S
from copycost.audit.plausibility.sample import Sample
from copycost.audit.plausibility.simulated import bytes_per_l1d_miss
from copycost.audit.quantities import SIZE, THREADS
from copycost.audit.wording import cell_names

FAST_STREAM_BITS_PER_S = 400e9
"""One connection carries a third of it where both ends copy; the rest is room for zero-copy."""

FREQUENT_CALL_S = 100e-9
"""A call that sends takes two to ten times as long."""

CPUS_PER_THREAD = 4
"""A sender, a receiver, and two helpers of the kernel for each connection."""

_LEAST_CLOCK_HZ = 0.3e9
_FEW_MISSES_PER_BYTE = 1e-6
_FEW_MISSES_PER_MESSAGE = 0.5
_LEAST_SWITCHED_S = 1.0


def check_workload(sample: Sample) -> list[Finding]:
    """Return what is odd for programs that send messages."""
    return [
        *_streams(sample),
        *_latencies(sample),
        *_cycles(sample),
        *_misses(sample),
        *_switches(sample),
    ]


def _report(
    sample: Sample,
    rows: pd.DataFrame,
    quantities: tuple[str, ...],
    code: str,
    sureness: Sureness = Sureness.VERY_LIKELY,
    **numbers: object,
) -> Iterator[Finding]:
    if not rows.empty:
        yield Finding("workload", code, Kind.ODD, sureness, sample.name, quantities, numbers,
                      cell_names(rows))  # fmt: skip


def _streams(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("throughput")
    rows = rows[rows["throughput"] > 0.0]
    per_thread = rows["throughput"] / rows[THREADS]
    time_s = rows[SIZE] * 8.0 / per_thread
    fast = per_thread > FAST_STREAM_BITS_PER_S
    yield from _report(
        sample, rows[fast], ("throughput",), "fast_stream", most=float(per_thread.max()),
        limit=FAST_STREAM_BITS_PER_S,
    )  # fmt: skip
    frequent = (time_s >= LEAST_CALL_S) & (time_s < FREQUENT_CALL_S)
    yield from _report(
        sample, rows[frequent], ("throughput",), "frequent_messages",
        least_ns=float(time_s.min()) * 1e9,
    )  # fmt: skip


def _latencies(sample: Sample) -> Iterator[Finding]:
    for name in ("latency", "latency_p99"):
        rows = sample.known(name)
        short = rows[(rows[name] > 0.0) & (rows[name] < LEAST_CALL_S)]
        yield from _report(sample, short, (name,), "short_latency")
        rows = sample.known(name, "duration")
        long = rows[rows[name] > rows["duration"]]
        yield from _report(sample, long, (name, "duration"), "latency_over_duration")


def _cycles(sample: Sample) -> Iterator[Finding]:
    most = CPUS_PER_THREAD * HIGHEST_CLOCK_HZ
    rows = _per_second(sample, "cycles")
    many = rows[rows["_rate"] > most * rows[THREADS]]
    yield from _report(
        sample, many, ("cycles",), "cycles_per_thread",
        most=float((rows["_rate"] / rows[THREADS]).max()), n_cpus=CPUS_PER_THREAD,
    )  # fmt: skip
    rows = _per_second(sample, "cpu_time")
    many = rows[rows["_rate"] > CPUS_PER_THREAD * rows[THREADS]]
    yield from _report(
        sample, many, ("cpu_time",), "cpus_per_thread",
        most=float((rows["_rate"] / rows[THREADS]).max()),
    )  # fmt: skip
    rows = sample.known("cycles", "cpu_time")
    rows = rows[(rows["cpu_time"] > 0.0) & (rows["cycles"] > 0.0)]
    clock = rows["cycles"] / rows["cpu_time"]
    odd = (clock > 1.1 * HIGHEST_CLOCK_HZ) | (clock < _LEAST_CLOCK_HZ)
    yield from _report(
        sample, rows[odd], ("cycles", "cpu_time"), "clock_rate",
        least=float(clock.min()), most=float(clock.max()),
    )  # fmt: skip


def _per_second(sample: Sample, name: str) -> pd.DataFrame:
    """Return the rows with a counter per second of the run, told or from its cost per byte."""
    rows = sample.known(name, "duration")
    rows = rows[rows["duration"] > 0.0]
    if not rows.empty:
        return rows.assign(_rate=rows[name] / rows["duration"])
    rows = sample.known(f"{name}_per_byte", "throughput")
    return rows.assign(_rate=rows[f"{name}_per_byte"] * rows["throughput"] / 8.0)


def _misses(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("llc_misses", "l1d_misses")
    more = rows[rows["llc_misses"] > rows["l1d_misses"]]
    yield from _report(
        sample, more, ("llc_misses", "l1d_misses"), "more_llc_than_l1d",
        n_rows=len(more), of_rows=len(rows),
    )  # fmt: skip
    for name in ("l1d_misses", "cache_misses", "llc_misses"):
        rows = sample.known(name)
        moved = moved_bytes(rows)
        rows = rows[(moved > 0.0) & (rows[name] > 0.0)]
        cost = rows[name] / moved[rows.index]
        if name in sample.quantities and f"{name}_per_byte" in sample.quantities:
            continue
        yield from _few_misses(sample, rows, name, cost)
        rows = sample.known(f"{name}_per_byte")
        rows = rows[rows[f"{name}_per_byte"] > 0.0]
        yield from _few_misses(sample, rows, f"{name}_per_byte", rows[f"{name}_per_byte"])


def _few_misses(
    sample: Sample, rows: pd.DataFrame, name: str, cost: pd.Series
) -> Iterator[Finding]:
    few = (cost < _FEW_MISSES_PER_BYTE) & (cost * rows[SIZE] < _FEW_MISSES_PER_MESSAGE)
    # A last-level cache that holds all of it misses as little on a quiet host.
    sureness = Sureness.POSSIBLE if name.startswith("llc") else Sureness.VERY_LIKELY
    if few.any():
        yield from _report(
            sample, rows[few], (name,), "few_misses", sureness, bytes=1.0 / float(cost[few].min()),
            simulated_bytes=bytes_per_l1d_miss() if name.startswith("l1d") else None,
        )  # fmt: skip


def _switches(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("context_switches")
    several = rows[rows[THREADS] > 1]
    if "duration" in several:
        several = several[~(several["duration"] < _LEAST_SWITCHED_S)]
    few = several[several["context_switches"] < several[THREADS]]
    if 2 * len(few) > len(several) and (rows["context_switches"] > 0).any():
        yield from _report(
            sample, few, ("context_switches",), "few_switches", Sureness.POSSIBLE,
            most_threads=int(few[THREADS].max()), n_rows=len(few), of_rows=len(several),
        )  # fmt: skip
