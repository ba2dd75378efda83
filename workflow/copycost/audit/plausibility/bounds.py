"""What no machine can do, what is odd for a socket, and what time stamps contradict.

The impossible rests on the bounds of clocks, copies and system calls. What is merely odd has other
explanations (batches of messages per call, helper threads, a host without a second thread), so that
each of these is a question.
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from copycost.audit.dataset import moved_bytes
from copycost.audit.plausibility.finding import Finding, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import LATENCY, SIZE, THREADS
from copycost.checkout import ROOT

_CLOCK_HZ = 6e9
"""No processor that one buys runs faster for long."""

_LEAST_CLOCK_HZ = 0.3e9
_CYCLES_PER_BYTE = 0.01
"""The widest loads and stores (64 bytes per cycle) need 1.6 times that for one copy."""

_LEAST_RUN_S = 0.1
"""Where the duration is not told: a shorter run measures start-up."""

_MOST_CPUS = 256
"""Where the number of CPUs is not told."""

_CALL_S = 30e-9
"""An empty system call takes about that; one that sends takes several times as long."""

_SENDING_CALL_S = 100e-9
"""A call that sends takes two to ten times as long."""

_ROUND_TRIP_CALLS = 4
"""A request and its reply, each sent and received."""

_LARGE_BYTES = 16384
"""From here on the costs per message do not weigh in what a byte costs."""

_SWITCHES_PER_S = 2e6
"""Context switches per thread, side and second; each takes a microsecond or more."""

_STREAM_BITS_PER_S = 400e9
"""One connection carries a third of it where both ends copy; the rest is room for zero-copy."""

_CPUS_PER_THREAD = 4
"""A sender, a receiver, and two helpers of the kernel for each connection."""

# Copying alone, bits per second and thread: from the first two cache levels at best, beyond them,
# and from memory, at 200, 67 and 50 gigabytes a second, above what single cores are known to copy
# (the widest registers at the highest clock do 3072 Gbit/s).
_COPY_BITS_PER_S = ((1 << 20, 8 * 200e9), (1 << 24, 8 * 67e9), (1 << 62, 8 * 50e9))
_REGISTER_BITS_PER_S = 64 * 8 * _CLOCK_HZ
_MISSES = ("l1d_misses", "llc_misses", "cache_misses")
SIMULATED = "data/simulated/misses.csv"
_SLACK = 0.02
"""Share of a run by which stamps may be off, and the edges of a window."""

Mask = NDArray[np.bool_]


def _beyond(
    sample: Sample,
    code: str,
    quantities: str | tuple[str, ...],
    value: pd.Series,
    beyond: pd.Series,
    scale: float = 1.0,
    sureness: Sureness | None = None,
    **numbers: Any,  # noqa: ANN401 - of the words of a finding
) -> Iterator[Finding]:
    """Yield a finding of the rows that are beyond a bound: the least and most of their values."""
    if beyond.any():
        names = (quantities,) if isinstance(quantities, str) else quantities
        yield sample.found(
            code, *names, rows=sample.table[beyond], sureness=sureness,
            least=float(value[beyond].min()) * scale, most=float(value[beyond].max()) * scale,
            n_rows=int(beyond.sum()), of_rows=int(value.notna().sum()), **numbers,
        )  # fmt: skip


def check_impossible(sample: Sample) -> Iterator[Finding]:
    """Yield what no machine can do."""
    of, broken = sample.column, partial(_beyond, sample)
    size, threads, duration = of(SIZE), of(THREADS), of("duration")
    for name in map(str, sample.steps.columns):
        yield from broken("below_zero", name, of(name), of(name) < 0)
    share = of("copied_share")
    yield from broken("share_above_one", "copied_share", share, share > 1.0)
    rate = of("throughput") / threads
    most = np.select([size <= end for end, _ in _COPY_BITS_PER_S],
                     [limit for _, limit in _COPY_BITS_PER_S])  # fmt: skip
    impossible = rate > _REGISTER_BITS_PER_S
    yield from broken("faster_than_registers", "throughput", rate, impossible)
    yield from broken("faster_than_memory", "throughput", rate, (rate > most) & ~impossible)
    time_s = size * 8.0 / rate.where(rate > 0)
    yield from broken("faster_than_calls", "throughput", time_s, time_s < _CALL_S, 1e9)
    cycles, moved = of("cycles"), moved_bytes(sample.table)
    told = cycles / moved.where(moved > 0)
    few = partial(broken, "few_cycles", limit=_CYCLES_PER_BYTE)
    for name, cost in (("cycles_per_byte", of("cycles_per_byte")), ("cycles", told)):
        yield from few(name, cost, cost < _CYCLES_PER_BYTE)
    if told.isna().all():
        cost = cycles / (of("throughput") / 8.0 * _LEAST_RUN_S)
        yield from broken("few_cycles_in_any_run", "cycles", cost, cost < _CYCLES_PER_BYTE,
                          limit=_CYCLES_PER_BYTE, run_s=_LEAST_RUN_S)  # fmt: skip
    n_cpus = sample.n_cpus or _MOST_CPUS
    in_time = partial(broken, n_cpus=n_cpus, n_cpus_told=sample.n_cpus is not None)
    many = cycles > n_cpus * duration * _CLOCK_HZ
    yield from in_time("more_cycles_than_time", "cycles", cycles, many)
    cpu_time = of("cpu_time")
    many = cpu_time > n_cpus * duration * 1.01
    yield from in_time("more_cpu_time_than_time", "cpu_time", cpu_time, many)
    instructions = of("instructions")
    names = ("instructions", "cycles")
    yield from broken("instructions_per_cycle", names, instructions, instructions > 8.0 * cycles)
    for name in _MISSES:
        misses = of(name)
        yield from broken("more_misses_than_instructions", name, misses, misses > instructions)
        many = (misses / moved > 1.0) & (size >= _LARGE_BYTES)
        yield from broken("misses_per_byte", name, misses, many)
    switches = of("context_switches")
    many = switches / duration / threads > 2 * _SWITCHES_PER_S
    yield from broken("context_switches", "context_switches", switches, many)


def check_odd(sample: Sample) -> Iterator[Finding]:
    """Yield what is odd for a socket."""
    of, odd = sample.column, partial(_beyond, sample)
    size, threads, duration = of(SIZE), of(THREADS), of("duration")
    rate = of("throughput") / threads
    fast = rate > _STREAM_BITS_PER_S
    yield from odd("fast_stream", "throughput", rate, fast, limit=_STREAM_BITS_PER_S)
    time_s = size * 8.0 / rate.where(rate > 0)
    frequent = (time_s >= _CALL_S) & (time_s < _SENDING_CALL_S)
    yield from odd("frequent_messages", "throughput", time_s, frequent, 1e9)
    for name in ("latency", "latency_p99"):
        time_s = of(name)
        yield from odd("short_latency", name, time_s, (time_s > 0.0) & (time_s < _CALL_S))
        yield from odd("latency_over_duration", (name, "duration"), time_s, time_s > duration)
    for code, name, most in (
        ("cycles_per_thread", "cycles", _CPUS_PER_THREAD * _CLOCK_HZ),
        ("cpus_per_thread", "cpu_time", _CPUS_PER_THREAD),
    ):
        told = of(name) / duration.where(duration > 0.0)
        if told.isna().all():
            told = of(f"{name}_per_byte") * of("throughput") / 8.0
        used = told / threads
        yield from odd(code, name, used, used > most)
    clock = of("cycles").where(lambda n: n > 0.0) / of("cpu_time").where(lambda s: s > 0.0)
    odd_clock = (clock > 1.1 * _CLOCK_HZ) | (clock < _LEAST_CLOCK_HZ)
    yield from odd("clock_rate", ("cycles", "cpu_time"), clock, odd_clock)
    l1d, llc = of("l1d_misses"), of("llc_misses")
    yield from odd("more_llc_than_l1d", ("llc_misses", "l1d_misses"), llc - l1d, llc > l1d)
    for name in _MISSES:
        yield from _few_misses(sample, name)
    switches = of("context_switches")
    several = switches.notna() & (threads > 1) & ~(duration < 1.0)
    few = several & (switches < threads)
    if 2 * few.sum() > several.sum() and (switches > 0).any():
        yield from odd("few_switches", "context_switches", switches[several], few,
                       most_threads=int(threads[few].max()))  # fmt: skip


def _few_misses(sample: Sample, total: str) -> Iterator[Finding]:
    moved = moved_bytes(sample.table)
    per_byte = f"{total}_per_byte"
    if total in sample.quantities and per_byte in sample.quantities:
        return
    # A last-level cache that holds all of it misses as little on a quiet host.
    sureness = Sureness.POSSIBLE if total.startswith("llc") else None
    told = {total: sample.column(total) / moved.where(moved > 0.0)}
    for name, found in (told | {per_byte: sample.column(per_byte)}).items():
        cost = found.where(found > 0.0)
        few = (cost < 1e-6) & (cost * sample.column(SIZE) < 0.5)
        yield from _beyond(
            sample, "few_misses", name, 1.0 / cost, few, sureness=sureness,
            simulated_bytes=bytes_per_l1d_miss() if few.any() and name[:3] == "l1d" else None,
        )  # fmt: skip


@cache
def bytes_per_l1d_miss() -> float:
    """Return how many bytes of a message the L1 data cache misses at most once in [bytes].

    Of all ways, sizes and working sets over `loopback`, where a receiver reads what was sent.
    Source: a run of our own, see README.md beside the table.
    """
    table = pd.read_csv(ROOT / SIMULATED)
    rows = table[(table["testbed"] == "loopback") & (table["level"] == "l1d")]
    return float(64 / rows["total_misses_per_line"].min())


def check_round_trips(table: pd.DataFrame, dataset: str) -> Iterator[Finding]:
    """Yield what speaks against the times of round trips."""
    rows = table[(table["status"] == "measured") & (table["samples"] > 0)]
    sample = Sample(dataset, rows, rows[[]], rows[[]], None)
    # With an interval, times count from when a request was due, and may lie over one another.
    waiting = rows[rows["interval_ns"] == 0]
    # Those that began in the sender's window: of each connection one may have ended behind it, be
    # the sender held up for as long as it may.
    limit_ns = waiting[THREADS] * (waiting["window_s"] * 1e9 + waiting["max_ns"])
    share = waiting["samples"] * waiting["mean_ns"] / limit_ns
    many = waiting[share > 1.0 + _SLACK]
    if not many.empty:
        yield sample.found("more_round_trips_than_time", LATENCY, rows=many, n_rows=len(many),
                           of_rows=len(rows), most=float(share.max()))  # fmt: skip
    floor_ns = _ROUND_TRIP_CALLS * _CALL_S * 1e9
    short = rows[rows["p50_ns"] < floor_ns]
    if not short.empty:
        least = float(short["p50_ns"].min())
        yield sample.found("short_round_trips", LATENCY, rows=short, least=least,
                           floor_ns=round(floor_ns))  # fmt: skip


def check_times(sample: Sample) -> Iterator[Finding]:
    """Yield what the time stamps say against runs one after the other."""

    def found(code: str, rows: Mask) -> Iterator[Finding]:
        if rows.any():
            yield sample.found(code, rows=sample.table[rows], n_rows=int(rows.sum()),
                               of_rows=len(rows))  # fmt: skip

    start, end, duration = (
        column.to_numpy(dtype=np.float64)
        for column in (sample.times["start"], sample.times["end"], sample.column("duration"))
    )
    if not np.isfinite(start).any():
        start = end - duration
    if (end < start).any():
        yield from found("times_backwards", end < start)
        return
    known = np.isfinite(start)
    if known.sum() < 2 or len(np.unique(start[known])) == 1:
        return  # One stamp for all is the date of the file.
    order = np.flatnonzero(known)[np.argsort(start[known], kind="stable")]
    repeated, overlapping = np.zeros((2, len(start)), dtype=bool)
    same = np.flatnonzero(np.diff(start[order]) == 0.0)
    repeated[order[same]] = repeated[order[same + 1]] = True
    yield from found("times_repeat", repeated)
    ends = np.where(np.isfinite(end), end, start + duration)[order]
    starts = start[order]
    step = float(np.min(np.diff(np.unique(starts))))
    granularity = 1.0 if np.all(starts == np.floor(starts)) else min(step, 1e-3)
    allowed = granularity + _SLACK * np.nan_to_num(ends[:-1] - starts[:-1])
    latest = np.fmax.accumulate(np.where(np.isfinite(ends), ends, -np.inf))[:-1]
    overlapping[order[1:]] = latest - starts[1:] > allowed
    yield from found("times_overlap", overlapping & ~repeated)
