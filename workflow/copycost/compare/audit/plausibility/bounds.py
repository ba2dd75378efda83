"""What no machine can do, what is odd for a socket, and what time stamps contradict.

The impossible rests on the bounds of clocks, copies and system calls. What is merely odd has other
explanations (batches of messages per call, helper threads, a host without a second thread), so that
each of these is a question. ``report/audit_findings.csv`` gives the reason of each bound.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from copycost.compare.audit.dataset import quantity
from copycost.compare.audit.plausibility.sample import Finding, Sample

_MOST_CPUS = 256
"""Where the number of CPUs is not told."""

_LEAST_RUN_S = 0.1
"""Where the duration is not told: a shorter run measures start-up."""

_ROUND_TRIP_NS = 120
"""A request and its reply, each sent and received, are four calls of 30 ns."""

_SLACK = 0.02
"""Share of a run by which stamps may be off, and the edges of a window."""

SIMULATED_MISS_BYTES = 14.31
"""Bytes of a message per miss of a simulated L1 data cache, at most; data/simulated/misses.csv."""

# Copying alone, bits per second and thread: from the first two cache levels at best, beyond them,
# and from memory, at 200, 67 and 50 gigabytes a second, above what single cores are known to copy
# (the widest registers at the highest clock do 3072 Gbit/s).
_COPY_BITS_PER_S = ((1 << 20, 8 * 200e9), (1 << 24, 8 * 67e9), (1 << 62, 8 * 50e9))

_MISSES = ("l1d_misses", "llc_misses", "cache_misses")

_BOUNDS = (
    ("share_above_one", "copied_share", "copied_share", "copied_share > 1"),
    ("faster_than_registers", "throughput", "rate", "rate > 3072e9"),
    ("faster_than_memory", "throughput", "rate", "(rate > copying) & (rate <= 3072e9)"),
    ("faster_than_calls", "throughput", "message_ns", "message_ns < 30"),
    ("few_cycles", "cycles_per_byte", "cycles_per_byte", "cycles_per_byte < 0.01"),
    ("few_cycles", "cycles", "byte_cycles", "byte_cycles < 0.01"),
    ("few_cycles_in_any_run", "cycles", "byte_cycles_in_any_run", "byte_cycles_in_any_run < 0.01"),
    ("more_cycles_than_time", "cycles", "cycles", "cycles > n_cpus * duration * 6e9"),
    ("more_cpu_time_than_time", "cpu_time", "cpu_time", "cpu_time > n_cpus * duration * 1.01"),
    ("instructions_per_cycle", "instructions cycles", "instructions", "instructions > 8 * cycles"),
    *(
        row
        for name in _MISSES
        for row in (
            ("more_misses_than_instructions", name, name, f"{name} > instructions"),
            ("misses_per_byte", name, name, f"({name} > moved) & (msg_bytes >= 16384)"),
        )
    ),
    ("context_switches", "context_switches", "context_switches",
     "context_switches > 4e6 * duration * n_threads"),
    ("fast_stream", "throughput", "rate", "rate > 400e9"),
    ("frequent_messages", "throughput", "message_ns", "(message_ns >= 30) & (message_ns < 100)"),
    *(
        row
        for name in ("latency", "latency_p99")
        for row in (
            ("short_latency", name, name, f"({name} > 0) & ({name} < 30e-9)"),
            ("latency_over_duration", f"{name} duration", name, f"{name} > duration"),
        )
    ),
    ("tail_below_median", "latency_p99 latency", "latency_p99", "latency_p99 < latency"),
    ("cycles_per_thread", "cycles", "thread_cycles", "thread_cycles > 4 * 6e9"),
    ("cpus_per_thread", "cpu_time", "thread_cpu_time", "thread_cpu_time > 4"),
    ("clock_rate", "cycles cpu_time", "clock_hz", "(clock_hz > 6.6e9) | (clock_hz < 0.3e9)"),
    ("more_llc_than_l1d", "llc_misses l1d_misses", "more_llc", "more_llc > 0"),
    *(
        ("few_misses", name, f"bytes_by_{name}",
         f"(bytes_by_{name} > 1e6) & (bytes_by_{name} > 2 * msg_bytes)")
        for total in _MISSES
        for name in (total, f"{total}_per_byte")
    ),
    ("few_switches", "context_switches", "few_switches", "few_switches < n_threads"),
)  # fmt: skip
"""What is found, on which columns, of which value, and where that is beyond its bound."""


def check_bounds(sample: Sample) -> Iterator[Finding]:
    """Yield what no machine can do, and what is odd for a socket."""
    frame = _with_derived(sample)
    negative = [("below_zero", name, name, f"{name} < 0") for name in map(str, sample.steps)]
    for code, about, name, condition in (*negative, *_BOUNDS):
        value, beyond = frame[name], pd.Series(frame.eval(condition, engine="python"))
        if not beyond.any():
            continue
        numbers: dict[str, Any] = {"least": float(value[beyond].min())}
        numbers["most"] = float(value[beyond].max())
        if "n_cpus" in condition:
            numbers |= {"n_cpus": sample.n_cpus or _MOST_CPUS, "n_cpus_told": bool(sample.n_cpus)}
        if code == "few_misses":
            is_l1d = about.startswith("l1d")
            numbers["simulated_bytes"] = SIMULATED_MISS_BYTES if is_l1d else None
        if code == "few_switches":
            numbers["most_threads"] = int(frame["n_threads"][beyond].max())
        yield sample.found(code, *about.split(), rows=sample.table[beyond],
                           of_rows=int(value.count()), **numbers)  # fmt: skip


def _with_derived(sample: Sample) -> pd.DataFrame:
    """Return the rows with the values that bounds are on, NaN where they do not follow."""
    table = sample.table
    size, threads, cycles = table["msg_bytes"], table["n_threads"], table["cycles"]
    rate, duration = table["throughput"] / threads, table["duration"].where(lambda s: s > 0.0)
    moved = quantity(table, "bytes").where(lambda n: n > 0.0)
    frame = table.assign(
        n_cpus=sample.n_cpus or _MOST_CPUS,
        moved=moved,
        rate=rate,
        copying=np.select([size <= end for end, _ in _COPY_BITS_PER_S],
                          [limit for _, limit in _COPY_BITS_PER_S]),
        message_ns=1e9 * size * 8.0 / rate.where(rate > 0.0),
        byte_cycles=cycles / moved,
        byte_cycles_in_any_run=cycles / (table["throughput"] / 8.0 * _LEAST_RUN_S),
        clock_hz=cycles.where(cycles > 0.0) / table["cpu_time"].where(lambda s: s > 0.0),
        more_llc=table["llc_misses"] - table["l1d_misses"],
    )  # fmt: skip
    if frame["byte_cycles"].notna().any():
        frame["byte_cycles_in_any_run"] = np.nan
    for name in ("cycles", "cpu_time"):
        used = table[name] / duration
        if used.isna().all():
            used = table[f"{name}_per_byte"] * table["throughput"] / 8.0
        frame[f"thread_{name}"] = used / threads
    for name in _MISSES:
        costs = {name: table[name] / moved, f"{name}_per_byte": table[f"{name}_per_byte"]}
        both = costs.keys() <= set(sample.quantities)  # which have to agree, and so are checked
        for column, cost in costs.items():
            frame[f"bytes_by_{column}"] = np.nan if both else 1.0 / cost.where(cost > 0.0)
    switches = table["context_switches"].where((threads > 1) & ~(table["duration"] < 1.0))
    most_are_few = 2 * (switches < threads).sum() > switches.count() and (switches > 0).any()
    frame["few_switches"] = switches if most_are_few else np.nan
    return frame


def check_round_trips(table: pd.DataFrame, dataset: str) -> Iterator[Finding]:
    """Yield what speaks against the times of round trips."""
    rows = table[(table["status"] == "measured") & (table["samples"] > 0)]
    sample = Sample(dataset, rows, rows[[]], rows[[]])
    # With an interval, times count from when a request was due, and may lie over one another.
    waiting = rows[rows["interval_ns"] == 0]
    # Those that began in the sender's window: of each connection one may have ended behind it, be
    # the sender held up for as long as it may.
    limit_ns = waiting["n_threads"] * (waiting["window_s"] * 1e9 + waiting["max_ns"])
    share = waiting["samples"] * waiting["mean_ns"] / limit_ns
    many = waiting[share > 1.0 + _SLACK]
    if not many.empty:
        yield sample.found("more_round_trips_than_time", "latency", rows=many, of_rows=len(rows),
                           most=float(share.max()))  # fmt: skip
    short = rows[rows["p50_ns"] < _ROUND_TRIP_NS]
    if not short.empty:
        yield sample.found("short_round_trips", "latency", rows=short, floor_ns=_ROUND_TRIP_NS,
                           least=float(short["p50_ns"].min()))  # fmt: skip


def check_times(sample: Sample) -> Iterator[Finding]:
    """Yield what the time stamps say against runs one after the other."""
    table, n_rows = sample.table, len(sample.table)
    if table["start"].isna().all():
        table = table.assign(start=table["end"] - table["duration"])
    backwards = table[table["end"] < table["start"]]
    if not backwards.empty:
        yield sample.found("times_backwards", rows=backwards, of_rows=n_rows)
        return
    rows = table.dropna(subset=["start"]).sort_values("start", kind="stable")
    starts = rows["start"]
    if starts.nunique() < 2:
        return  # One stamp for all is the date of the file.
    repeated = starts.duplicated(keep=False)
    ends = rows["end"].fillna(starts + rows["duration"])
    step = float(np.diff(starts.unique()).min())
    granularity = 1.0 if (starts == np.floor(starts)).all() else min(step, 1e-3)
    allowed = granularity + _SLACK * (ends - starts).shift().fillna(0.0)
    overlapping = (ends.cummax().ffill().shift() - starts > allowed) & ~repeated
    for code, odd in (("times_repeat", repeated), ("times_overlap", overlapping)):
        if odd.any():
            yield sample.found(code, rows=rows[odd].sort_index(), of_rows=n_rows)
