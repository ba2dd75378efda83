"""What no machine can do, and what is odd for a socket.

The impossible rests on the bounds of clocks, copies and system calls. What is merely odd has other
explanations (batches of messages per call, helper threads, a host without a second thread), so that
each of these is a question.
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from copycost.audit.dataset import per_byte, quantity
from copycost.audit.plausibility.finding import Finding, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import BYTES, LATENCY, SIZE, THREADS
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

_CALL_NS = 30.0
"""An empty system call takes about that."""

_SENDING_CALL_NS = 100.0
"""A call that sends takes two to ten times as long as that."""

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
_WINDOW_SLACK = 0.02
"""Share of a run by which the edges of a window may be off."""

SIMULATED = "data/simulated/misses.csv"


def _beyond(
    sample: Sample,
    code: str,
    quantities: str,
    value: pd.Series,
    beyond: pd.Series,
    sureness: Sureness | None = None,
    **numbers: Any,  # noqa: ANN401 - whatever the words of a finding take
) -> Iterator[Finding]:
    """Yield a finding of the rows that are beyond a bound: the least and most of their values.

    `quantities`: those that it is about, with spaces between.
    """
    if beyond.any():
        yield sample.found(
            code, *quantities.split(), rows=sample.table[beyond], of_rows=int(value.count()),
            sureness=sureness, least=float(value[beyond].min()), most=float(value[beyond].max()),
            **numbers,
        )  # fmt: skip


def check_impossible(sample: Sample) -> Iterator[Finding]:
    """Yield what no machine can do."""
    t, broken = sample.table, partial(_beyond, sample)
    size, threads, duration = t[SIZE], t[THREADS], t["duration"]
    for name in map(str, sample.steps.columns):
        yield from broken("below_zero", name, t[name], t[name] < 0)
    share = t["copied_share"]
    yield from broken("share_above_one", "copied_share", share, share > 1.0)

    rate = t["throughput"] / threads
    most = np.select([size <= end for end, _ in _COPY_BITS_PER_S],
                     [limit for _, limit in _COPY_BITS_PER_S])  # fmt: skip
    impossible = rate > _REGISTER_BITS_PER_S
    yield from broken("faster_than_registers", "throughput", rate, impossible)
    yield from broken("faster_than_memory", "throughput", rate, (rate > most) & ~impossible)
    time_ns = 1e9 * size * 8.0 / rate.where(rate > 0)
    yield from broken("faster_than_calls", "throughput", time_ns, time_ns < _CALL_NS)

    cycles, moved = t["cycles"], quantity(t, BYTES)
    told = cycles / moved.where(moved > 0)
    few = partial(broken, limit=_CYCLES_PER_BYTE)
    for name, cost in (("cycles_per_byte", t["cycles_per_byte"]), ("cycles", told)):
        yield from few("few_cycles", name, cost, cost < _CYCLES_PER_BYTE)
    if told.isna().all():
        cost = cycles / (t["throughput"] / 8.0 * _LEAST_RUN_S)
        yield from few("few_cycles_in_any_run", "cycles", cost, cost < _CYCLES_PER_BYTE,
                       run_s=_LEAST_RUN_S)  # fmt: skip

    n_cpus = sample.n_cpus or _MOST_CPUS
    in_time = partial(broken, n_cpus=n_cpus, n_cpus_told=sample.n_cpus is not None)
    many = cycles > n_cpus * duration * _CLOCK_HZ
    yield from in_time("more_cycles_than_time", "cycles", cycles, many)
    many = t["cpu_time"] > n_cpus * duration * 1.01
    yield from in_time("more_cpu_time_than_time", "cpu_time", t["cpu_time"], many)

    done = t["instructions"]
    yield from broken("instructions_per_cycle", "instructions cycles", done, done > 8.0 * cycles)
    for name in _MISSES:
        misses = t[name]
        yield from broken("more_misses_than_instructions", name, misses, misses > done)
        many = (misses / moved > 1.0) & (size >= _LARGE_BYTES)
        yield from broken("misses_per_byte", name, misses, many)
    switches = t["context_switches"]
    many = switches / duration / threads > 2 * _SWITCHES_PER_S
    yield from broken("context_switches", "context_switches", switches, many)


def check_odd(sample: Sample) -> Iterator[Finding]:
    """Yield what is odd for a socket."""
    t, odd = sample.table, partial(_beyond, sample)
    threads, duration, moved = t[THREADS], t["duration"], quantity(t, BYTES)
    rate = t["throughput"] / threads
    fast = rate > _STREAM_BITS_PER_S
    yield from odd("fast_stream", "throughput", rate, fast, limit=_STREAM_BITS_PER_S)
    time_ns = 1e9 * t[SIZE] * 8.0 / rate.where(rate > 0)
    frequent = (time_ns >= _CALL_NS) & (time_ns < _SENDING_CALL_NS)
    yield from odd("frequent_messages", "throughput", time_ns, frequent)
    for name in ("latency", "latency_p99"):
        time_s = t[name]
        yield from odd("short_latency", name, time_s, (time_s > 0.0) & (time_s < _CALL_NS * 1e-9))
        yield from odd("latency_over_duration", f"{name} duration", time_s, time_s > duration)
    tail = t["latency_p99"]
    yield from odd("tail_below_median", "latency_p99 latency", tail, tail < t["latency"])

    for code, name, most in (
        ("cycles_per_thread", "cycles", _CPUS_PER_THREAD * _CLOCK_HZ),
        ("cpus_per_thread", "cpu_time", _CPUS_PER_THREAD),
    ):
        told = t[name] / duration.where(duration > 0.0)
        if told.isna().all():
            told = t[f"{name}_per_byte"] * t["throughput"] / 8.0
        used = told / threads
        yield from odd(code, name, used, used > most)
    clock = t["cycles"].where(lambda n: n > 0.0) / t["cpu_time"].where(lambda s: s > 0.0)
    odd_clock = (clock > 1.1 * _CLOCK_HZ) | (clock < _LEAST_CLOCK_HZ)
    yield from odd("clock_rate", "cycles cpu_time", clock, odd_clock)

    more = t["llc_misses"] - t["l1d_misses"]
    yield from odd("more_llc_than_l1d", "llc_misses l1d_misses", more, more > 0.0)
    for total in _MISSES:
        costs = {total: t[total] / moved.where(moved > 0.0), per_byte(total): t[per_byte(total)]}
        if set(costs) <= set(sample.quantities):
            continue
        # A last-level cache that holds all of it misses as little on a quiet host.
        sureness = Sureness.POSSIBLE if total.startswith("llc") else None
        for name, cost in costs.items():
            cost = cost.where(cost > 0.0)
            few = (cost < 1e-6) & (cost * t[SIZE] < 0.5)
            known = bytes_per_l1d_miss() if few.any() and total == "l1d_misses" else None
            yield from odd("few_misses", name, 1.0 / cost, few, sureness, simulated_bytes=known)
    switches = t["context_switches"].where((threads > 1) & ~(duration < 1.0))
    few = switches < threads
    if 2 * few.sum() > switches.count() and (switches > 0).any():
        yield from odd("few_switches", "context_switches", switches, few,
                       most_threads=int(threads[few].max()))  # fmt: skip


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
    sample = Sample(dataset, rows, rows[[]], rows[[]])
    # With an interval, times count from when a request was due, and may lie over one another.
    waiting = rows[rows["interval_ns"] == 0]
    # Those that began in the sender's window: of each connection one may have ended behind it, be
    # the sender held up for as long as it may.
    limit_ns = waiting[THREADS] * (waiting["window_s"] * 1e9 + waiting["max_ns"])
    share = waiting["samples"] * waiting["mean_ns"] / limit_ns
    many = waiting[share > 1.0 + _WINDOW_SLACK]
    if not many.empty:
        yield sample.found("more_round_trips_than_time", LATENCY, rows=many, of_rows=len(rows),
                           most=float(share.max()))  # fmt: skip
    floor_ns = _ROUND_TRIP_CALLS * _CALL_NS
    short = rows[rows["p50_ns"] < floor_ns]
    if not short.empty:
        yield sample.found("short_round_trips", LATENCY, rows=short, floor_ns=round(floor_ns),
                           least=float(short["p50_ns"].min()))  # fmt: skip
