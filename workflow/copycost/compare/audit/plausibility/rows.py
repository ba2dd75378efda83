"""What rows say on their own: gaps, contradictions, other units, the impossible, and their times.

The impossible rests on the bounds of clocks, copies and system calls. What is merely odd has other
explanations (batches of messages per call, helper threads, a host without a second thread), so that
each of these is a question. ``report/audit_findings.csv`` gives the reason of each bound.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.dataset import CELL, quantity
from copycost.compare.audit.plausibility.sample import Finding, Sample, Sureness, declared
from copycost.compare.audit.quantities import base_of

_LEAST_COUNT = 50.0
"""Where all other values are above it, a 0 is hardly one of them."""

_MOST_ZEROS = 0.5


def check_gaps(sample: Sample) -> Iterator[Finding]:
    """Yield what reads 0, what is missing, and whether there is but one repetition."""
    table, n_rows = sample.table, len(sample.table)
    for name in map(str, sample.steps.columns):
        values = table[name].dropna()
        zeros = values[values == 0.0]
        if base_of(name).kind == "share" or zeros.empty:
            continue
        if len(zeros) == len(values):
            sureness = None if len(values) > 1 else Sureness.VERY_LIKELY
            yield sample.found("zeros", name, sureness=sureness, n_rows=len(values))
            continue
        # Zeros among values that are all far from it look as gaps that were filled do.
        least = _LEAST_COUNT if base_of(name).kind == "count" else 0.0
        if values[values > 0.0].min() >= least and len(zeros) / len(values) <= _MOST_ZEROS:
            yield sample.found("some_zeros", name, rows=table.loc[zeros.index], of_rows=len(values))
    counts = table.groupby(list(CELL))["rep"].count().reset_index()
    if len(counts) == n_rows:
        yield sample.found("one_repetition", n_cells=n_rows)
    # Columns that lack the same rows are told together. An implementation that has no value at
    # all, such as of a share of copies, has no gap.
    has_it = table[sample.steps.columns].notna()
    gaps = ~has_it & has_it.groupby(table["implementation"]).transform("any")
    together: dict[bytes, list[str]] = {}
    for name in map(str, gaps.columns):
        together.setdefault(gaps[name].to_numpy().tobytes(), []).append(name)
    for columns in together.values():
        without = table[gaps[columns[0]]]
        if 0 < len(without) < n_rows:
            yield sample.found("values_missing", *columns, rows=without, of_rows=n_rows)
    names = table["implementation"].unique()
    axes = [names, *(np.sort(table[key].unique()) for key in ("msg_bytes", "n_threads"))]
    whole = pd.MultiIndex.from_product(axes, names=CELL[1:])
    absent = whole[~whole.isin(pd.MultiIndex.from_frame(table[list(CELL[1:])]))]
    if len(absent):
        yield sample.found("cells_missing", rows=absent.to_frame(), n_cells=len(absent),
                           of_cells=len(whole))  # fmt: skip
    usual = int(counts["rep"].max())
    few = counts[counts["rep"] < usual]
    if not few.empty:
        yield sample.found("repetitions_missing", rows=few, n_cells=len(few),
                           of_cells=len(counts), n_usual=usual)  # fmt: skip


# Whether bytes, time, messages and throughput of the same row agree.

_TOLERANCE = 0.02
"""Rounding, and bytes still under way at the end of the run."""

_UNDER_WAY_BYTES = 16 << 20
"""Per connection: what socket buffers may hold when the run ends, sent but not yet received."""

_UNDER_WAY_MESSAGES = 8.0
"""Per connection: messages in a batch or a ring, counted when handed over or when done."""

_CONSISTENCY_MANY_SPREADS = 10.0
"""Times the usual difference that a row has to differ, where most rows agree."""

_CAUSES = {
    8.0: "bits were taken for bytes",
    1000.0: "a prefix (k, M, G) is wrong",
    1e6: "two prefixes are wrong",
    1e9: "three prefixes are wrong",
    1.024: "1024 was taken for 1000",
    1.048576: "2^20 was taken for 10^6",
    1.073741824: "2^30 was taken for 10^9",
    2.0: "both directions, or both sides, were added up",
}
"""What a factor between two columns that should agree tells of their units."""


def check_consistency(sample: Sample) -> Iterator[Finding]:
    """Yield what disagrees by more than two percent, or by more than may be under way."""
    table = sample.table
    moved, by_messages = quantity(table, "bytes"), table["messages"] * table["msg_bytes"]
    told = table["bytes"] * 8.0 / table["duration"]
    names: tuple[str, ...] = ("throughput", "bytes", "duration")
    yield from _compare(sample, table, "throughput_disagrees", names, table["throughput"] / told)
    code, names, bytes_ = "bytes_disagree", ("bytes", "messages"), table["bytes"]
    if (bytes_ + by_messages).isna().all():
        code, names = "messages_disagree", ("throughput", "messages", "duration")
        bytes_ = table["throughput"] * table["duration"] / 8.0
    under_way = table["n_threads"] * (_UNDER_WAY_BYTES + _UNDER_WAY_MESSAGES * table["msg_bytes"])
    quotient = bytes_ / by_messages
    yield from _compare(sample, table, code, names, quotient, under_way / bytes_)
    # Costs per byte and per message stand beside the totals that they come of.
    for name in sample.quantities:
        base = base_of(name).name
        if name != base and base in sample.steps:
            parts = moved if name.endswith("_per_byte") else moved / table["msg_bytes"]
            quotient = table[name] * parts / table[base]
            rows = table[moved.notna()]
            yield from _compare(sample, rows, "cost_disagrees", (name, base), quotient)


def _compare(
    sample: Sample,
    table: pd.DataFrame,
    code: str,
    quantities: tuple[str, ...],
    quotient: pd.Series,
    allowance: pd.Series | float = 0.0,
) -> Iterator[Finding]:
    """Yield the rows in which a quotient of columns is not 1, by rounding or what is allowed."""
    rows = table.dropna(subset=list(quantities))
    if rows.empty:
        return
    quotient = quotient[rows.index]
    allowed = allowance + pd.Series(_TOLERANCE, index=sample.table.index)
    for name in quantities:
        if name != "duration" or rows[name].nunique() > 1:  # one that is set is exact
            allowed = allowed + 0.5 * sample.resolutions[name] / sample.table[name].abs()
    off = (quotient - 1.0).abs() / quotient.clip(lower=1.0) > allowed[rows.index]
    off &= np.isfinite(quotient) & (quotient > 0.0)
    # Where all rows scatter, such as in short runs, one has to stand out from them.
    logs = np.log(quotient.where(quotient > 0.0)).abs()
    if off.mean() < 0.5:
        off &= logs > _CONSISTENCY_MANY_SPREADS * float(logs.median())
    if not off.any():
        return
    factor = float(quotient[off].median())
    alike = bool(((quotient[off] / factor - 1.0).abs() < _TOLERANCE).all())
    causes = (
        cause for known, cause in _CAUSES.items()
        if min(abs(factor / known - 1.0), abs(factor * known - 1.0)) < 0.005
    )  # fmt: skip
    yield sample.found(code, *quantities, rows=rows[off], of_rows=len(rows), factor=factor,
                       cause=next(causes, None) if alike else None)  # fmt: skip


# Rows that are in another unit than the rest of their column.

_FEWEST_ROWS = 8
_LEAST_GROUP = 4
"""Of fewer rows, the median is one's own."""

_ROUNDS = 4
_MOST_SHARE = 0.35
"""More rows than these, and it is not clear which unit is the column's."""


def check_units(sample: Sample) -> Iterator[Finding]:
    """Yield columns in which some rows are off by a power of 1000, the factor between two units."""
    for name in sample.quantities:
        rows = sample.table[sample.table[name] > 0.0]
        if base_of(name).kind == "share" or len(rows) < _FEWEST_ROWS:
            continue
        rest = _polished(rows, name)
        spread = 1.4826 * float(np.median(np.abs(rest)))
        for shift in (power * math.log(1000.0) for power in (-3, -2, -1, 1, 2, 3)):
            off = np.abs(rest - shift) < 1.4
            between = (rest / shift > 0.5) & ~off
            some = 1 <= off.sum() <= _MOST_SHARE * len(rows)
            if some and not between.any() and abs(shift) >= 6.0 * spread:
                yield sample.found("unit_jumps", name, rows=rows[off], of_rows=len(rows),
                                   factor=float(np.exp(np.median(rest[off]))))  # fmt: skip
                break


def _polished(rows: pd.DataFrame, name: str) -> FloatArray:
    """Return what is left of a quantity's logarithms after the medians of its cells' labels.

    What a cell should have is taken from the others: the medians over implementations, sizes and
    threads, added up (Tukey's median polish, Exploratory Data Analysis, 1977).
    """
    axes = ("implementation", "msg_bytes", "n_threads")
    groups = [[axis] for axis in axes if rows[axis].nunique() > 1]
    # With enough cells, how the size matters may depend on the implementation, and so on.
    groups += map(list, itertools.combinations(axes, 2))
    members = [member for group in groups for member in rows.groupby(group).indices.values()
               if len(member) >= _LEAST_GROUP]  # fmt: skip
    rest: FloatArray = np.log(rows[name].to_numpy(dtype=np.float64))
    for _ in range(_ROUNDS):
        for member in members:
            rest[member] -= np.median(rest[member])
    return rest - float(np.median(rest))


# What no machine can do, what is odd for a socket, and what time stamps contradict.

_MOST_CPUS = 256
"""Where the number of CPUs is not told."""

_LEAST_RUN_S = 0.1
"""Where the duration is not told: a shorter run measures start-up."""

_ROUND_TRIP_NS = 120
"""A request and its reply, each sent and received, are four calls of 30 ns."""

_SLACK = 0.02
"""Share of a run by which stamps may be off, and the edges of a window."""

_SIMULATED_MISS_BYTES = 14.31
"""Bytes of a message per miss of a simulated L1 data cache, at most; data/simulated/misses.csv."""

# Copying alone, bits per second and thread: from the first two cache levels at best, beyond them,
# and from memory, at 200, 67 and 50 gigabytes a second, above what single cores are known to copy
# (the widest registers at the highest clock do 3072 Gbit/s).
_COPY_BITS_PER_S = ((1 << 20, 8 * 200e9), (1 << 24, 8 * 67e9), (1 << 62, 8 * 50e9))

_MISSES = ("l1d_misses", "llc_misses", "cache_misses")


def check_bounds(sample: Sample) -> Iterator[Finding]:
    """Yield what no machine can do, and what is odd for a socket."""
    frame = _with_derived(sample)
    bounds = [("below_zero", name, name, "value < 0") for name in map(str, sample.steps)]
    for code, row in declared().items():
        if row["beyond"]:
            names = zip(row["columns"].split("; "), row["value"].split("; "), strict=True)
            bounds += [(code, about, name, row["beyond"]) for about, name in names]
    columns = dict(frame.items())
    for code, about, name, condition in bounds:
        value = columns["value"] = frame[name]
        beyond = pd.Series(pd.eval(condition, engine="python", resolvers=[columns]))
        if not beyond.any():
            continue
        numbers: dict[str, Any] = {"least": float(value[beyond].min())}
        numbers["most"] = float(value[beyond].max())
        if "n_cpus" in condition:
            numbers |= {"n_cpus": sample.n_cpus or _MOST_CPUS, "n_cpus_told": bool(sample.n_cpus)}
        if code == "few_misses":
            is_l1d = about.startswith("l1d")
            numbers["simulated_bytes"] = _SIMULATED_MISS_BYTES if is_l1d else None
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
