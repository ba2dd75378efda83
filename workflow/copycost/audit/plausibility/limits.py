"""What no machine can do: the bounds of clocks, copies and system calls."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.dataset import moved_bytes
from copycost.audit.plausibility.finding import (
    Finding,
    Kind,
    Sample,
    Sureness,
    cell_names,
    plain_number,
)
from copycost.audit.quantities import SIZE, THREADS, words_of

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
# memory (0.005, 0.03 and 0.07 ns per byte, measured; the widest registers at 6 GHz do 3072).
_COPY_BITS_PER_S = ((1 << 20, 8 / 0.005e-9), (1 << 24, 8 / 0.03e-9), (1 << 62, 8 / 0.07e-9))
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
    found: str,
    why: str,
    sureness: Sureness = Sureness.CERTAIN,
    check: str = "limits",
) -> Iterator[Finding]:
    if not rows.empty:
        cells = cell_names(rows)
        n = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
        yield Finding(check, Kind.IMPOSSIBLE, sureness, sample.name, quantities,
                      found.replace("{n}", n), why, cells)  # fmt: skip


def _negative(sample: Sample) -> Iterator[Finding]:
    for name in map(str, sample.steps.columns):
        rows = sample.table[sample.table[name] < 0]
        yield from _report(
            sample, rows, (name,),
            f"{words_of(name)[:1].upper()}{words_of(name)[1:]} below 0 in {{n}}.",
            "A count, a time or a rate cannot be negative.",
        )  # fmt: skip
    if "copied_share" in sample.table:
        rows = sample.table[sample.table["copied_share"] > 1.0]
        yield from _report(
            sample, rows, ("copied_share",), "A share above 1 in {n}.",
            "No more completions can be copied than there are.",
        )  # fmt: skip


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
        sample, rows[impossible], ("throughput",),
        f"Up to {plain_number(float(per_thread.max()) * 1e-9)} Gbit/s per thread, in {{n}}.",
        "Even one copy, 64 bytes per cycle at 6 GHz, moves no more than 3072 Gbit/s; the receiver "
        "copies at least once.",
    )  # fmt: skip
    hardly = (per_thread > limits) & ~impossible
    yield from _report(
        sample, rows[hardly], ("throughput",),
        f"Up to {plain_number(float(per_thread[hardly].max()) * 1e-9) if hardly.any() else ''} "
        "Gbit/s per thread, in {n}.",
        "That is more than copying memory alone does at these sizes (about 1600 Gbit/s from the "
        "caches, 270 beyond 1 MiB, 110 from memory), and the receiver copies at least once. Was "
        "the unit another one, or the bytes counted that were handed over rather than received?",
        Sureness.VERY_LIKELY,
    )  # fmt: skip


def _calls(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("throughput")
    rows = rows[rows["throughput"] > 0]
    time_s = rows[SIZE] * 8.0 * rows[THREADS] / rows["throughput"]
    fast = rows[time_s < LEAST_CALL_S]
    shortest = plain_number(float(time_s.min()) * 1e9) if len(time_s) else ""
    yield from _report(
        sample, fast, ("throughput",),
        f"A message every {shortest} ns per thread, in {{n}}.",
        "A system call that does nothing takes about 30 ns, one that sends several times as long; "
        "with one message per call that cannot be.",
        Sureness.VERY_LIKELY,
    )  # fmt: skip


def _cycles_per_byte(sample: Sample) -> Iterator[Finding]:
    if "cycles_per_byte" in sample.table:
        rows = sample.known("cycles_per_byte")
        low = rows[rows["cycles_per_byte"] < LEAST_CYCLES_PER_BYTE]
        yield from _report(sample, low, ("cycles_per_byte",), *_few_cycles(low["cycles_per_byte"]))
    rows = sample.known("cycles")
    moved = moved_bytes(rows)
    told = moved.notna() & (moved > 0)
    cost = rows["cycles"] / moved
    few = rows[told & (cost < LEAST_CYCLES_PER_BYTE)]
    yield from _report(sample, few, ("cycles",), *_few_cycles(cost[few.index]))
    unknown = sample.known("cycles", "throughput") if not told.any() else rows.iloc[:0]
    least = unknown["throughput"] / 8.0 * LEAST_RUN_S if len(unknown) else pd.Series(dtype=float)
    cost = unknown["cycles"] / least if len(unknown) else least
    few = unknown[cost < LEAST_CYCLES_PER_BYTE]
    found, why = _few_cycles(cost[few.index])
    yield from _report(
        sample, few, ("cycles",),
        f"{found[:-1]}, if the run took but {LEAST_RUN_S} s (its duration is not told).",
        f"{why} Had the run been longer, there would be fewer still; as a count of one message it "
        "would be possible.",
        Sureness.VERY_LIKELY,
    )  # fmt: skip


def _few_cycles(cost: pd.Series) -> tuple[str, str]:
    least = plain_number(float(cost.min())) if len(cost) else ""
    return (
        f"As few as {least} cycles per byte, in {{n}}.",
        f"The widest loads and stores need more than {LEAST_CYCLES_PER_BYTE} cycles for one copy "
        "of a byte, and every byte is copied at least once on its way.",
    )


def _clock(sample: Sample) -> Iterator[Finding]:
    cpus = sample.n_cpus or MOST_CPUS
    who = f"{cpus} CPUs" if sample.n_cpus else f"Even {cpus} CPUs"
    rows = sample.known("cycles", "duration")
    yield from _report(
        sample, rows[rows["cycles"] > cpus * rows["duration"] * HIGHEST_CLOCK_HZ], ("cycles",),
        "More cycles than there were, in {n}.",
        f"{who} at 6 GHz do not have as many in the time of the run.",
    )  # fmt: skip
    rows = sample.known("cpu_time", "duration")
    yield from _report(
        sample, rows[rows["cpu_time"] > cpus * rows["duration"] * 1.01], ("cpu_time",),
        "More CPU time than there was, in {n}.",
        f"{who} do not have as much in the time of the run.",
    )  # fmt: skip


def _counters(sample: Sample) -> Iterator[Finding]:
    rows = sample.known("instructions", "cycles")
    yield from _report(
        sample, rows[rows["instructions"] > MOST_INSTRUCTIONS_PER_CYCLE * rows["cycles"]],
        ("instructions", "cycles"), "More than 8 instructions per cycle, in {n}.",
        "No processor retires as many.",
    )  # fmt: skip
    for misses in ("l1d_misses", "llc_misses", "cache_misses"):
        rows = sample.known(misses, "instructions")
        yield from _report(
            sample, rows[rows[misses] > rows["instructions"]], (misses,),
            f"More {words_of(misses)} than instructions, in {{n}}.",
            "An instruction misses a cache once, or twice at most; here hardly any would not.",
            Sureness.VERY_LIKELY,
        )  # fmt: skip
        rows = sample.known(misses)
        cost = rows[misses] / moved_bytes(rows)
        many = rows[(cost > MOST_MISSES_PER_BYTE) & (rows[SIZE] >= _LARGE_BYTES)]
        yield from _report(
            sample, many, (misses,),
            f"More than one of the {words_of(misses)} per byte, in {{n}}.",
            "A miss brings 64 bytes, so a large message has a few for each of them at most.",
            Sureness.VERY_LIKELY,
        )  # fmt: skip
    rows = sample.known("context_switches", "duration")
    rate = rows["context_switches"] / rows["duration"] / rows[THREADS]
    yield from _report(
        sample, rows[rate > 2 * _MOST_SWITCHES_PER_S], ("context_switches",),
        "More than two million context switches per second and thread on either side, in {n}.",
        "Each takes about a microsecond.", Sureness.VERY_LIKELY,
    )  # fmt: skip
