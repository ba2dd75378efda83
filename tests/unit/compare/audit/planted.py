"""Faults as a sceptic would plant them, on honest tables, with the findings that show them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from unit.compare.audit.made import honest

MEASURED = ("throughput_gbps", "latency_us", "cycles", "instructions", "L1", "LLC",
            "context_switches", "cpu_time_s")  # fmt: skip

Table = pd.DataFrame
Plant = Callable[[Table, np.random.Generator], Table]
CELL = ["impl", "size", "threads"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done to an honest table of so many repetitions, which prints so many digits.

    Any of the findings of `codes`, with spaces between, shows it; without any, none is to.
    """

    plant: Plant
    codes: str = ""
    repetitions: int = 3
    digits: int | None = 5


def planted(fault: Fault, seed: int = 5) -> Table:
    """Return the honest table with the fault in it."""
    table = honest(fault.repetitions, fault.digits, seed)
    return fault.plant(table, np.random.default_rng(seed))


def made(*columns: str, without: str = "", only: str = "") -> Plant:
    """Make columns anew, by expressions of the others, in which ``@noise(width)`` is around 1.

    ``@some(factor, share)`` is 1 but for a share of the rows, and a single one at least. Columns
    may be left out before, or all that is measured `only` but for one.
    """

    def plant(table: Table, rng: np.random.Generator) -> Table:
        left = [name for name in table.columns[3:] if only and name not in (only, "rep")]
        table = table.drop(columns=[*left, *without.split()])
        rows = np.arange(len(table))
        given = {
            "noise": lambda width: np.exp(rng.normal(0, width, len(table))),
            "random": lambda: rng.random(len(table)),
            "uniform": lambda low, high: rng.uniform(low, high, len(table)),
            "some": lambda factor, share: np.where(
                (rng.random(len(table)) < share) | (rows == rng.choice(rows)), factor, 1.0),
            "byte_ns": {"two_copy": 0.11, "one_copy": 0.083, "zero_copy": 0.05},
            "few": lambda: rng.integers(0, 3, len(table)),
        }  # fmt: skip
        for column in columns:
            table = table.eval(column, engine="python", local_dict=given)
        return table

    return plant


def _rounded(values: Iterable[float], digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]


def _cell_means(table: Table, column: str) -> pd.Series:
    return table.groupby(CELL)[column].transform("mean")


def _of_implementation(factor: float, jitter: float, *columns: str) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        table = table.astype({column: float for column in columns})
        first, third = (table["impl"] == name for name in ("two_copy", "zero_copy"))
        for column in columns:
            scaled = table.loc[first, column].to_numpy() * factor
            scaled = scaled * np.exp(rng.normal(0, jitter, len(scaled)))
            table.loc[third, column] = _rounded(scaled, 5)
        return table

    return plant


def _once_with_jitter(*columns: str) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        for column in columns:
            again = _cell_means(table, column) * np.exp(rng.normal(0, 0.002, len(table)))
            table[column] = _rounded(again, 6)
        return table

    return plant


def _outliers_to_mean(table: Table, _: np.random.Generator) -> Table:
    rates = table["throughput_gbps"]
    cells = table.groupby(CELL)["throughput_gbps"]
    off = (rates - cells.transform("median")).abs()
    worst = off == off.groupby([table[key] for key in CELL]).transform("max")
    worst &= off > 0.015 * rates
    others = (cells.transform("sum") - rates) / (cells.transform("size") - 1)
    return table.assign(throughput_gbps=rates.where(~worst, others.round(4)))


def _drawn_between(table: Table, _: np.random.Generator) -> Table:
    """Put the cells of 16 KiB in the middle between those beside them, as on logarithmic axes."""
    columns = ["throughput_gbps", "cycles", "L1"]
    table = table.astype(dict.fromkeys(columns, float))
    for _key, rows in table.groupby(["impl", "threads"]):
        by_size = rows.set_index("size")
        middle = 0.5 * (by_size.loc[4096, columns] + by_size.loc[65536, columns])
        mine = rows.index[rows["size"] == 16384]
        table.loc[mine, columns] = _rounded(middle, 5)
    return table


def _swap(where: str) -> Plant:
    """Exchange the labels of two implementations in some rows."""

    def plant(table: Table, _: np.random.Generator) -> Table:
        exchanged = table["impl"].replace({"two_copy": "zero_copy", "zero_copy": "two_copy"})
        return table.assign(impl=table["impl"].where(~table.eval(where), exchanged))

    return plant


def _paste(jitter: float = 0.0) -> Plant:
    """Copy a block of rows over another one."""

    def plant(table: Table, rng: np.random.Generator) -> Table:
        names = [name for name in MEASURED if name in table]
        table = table.astype(dict.fromkeys(names, float))
        block = table.loc[:11, names].to_numpy()
        block = block * np.exp(rng.normal(0, jitter, block.shape))
        table.loc[len(table) - 12 :, names] = block
        return table

    return plant


def _other_dataset(table: Table, _: np.random.Generator) -> Table:
    other = honest(seed=77)
    other.loc[5:20, list(MEASURED)] = table.loc[5:20, list(MEASURED)]
    return pd.concat([table.assign(host="a"), other.assign(host="b")])


_NO_BYTES = "bytes_received messages"

FAULTS: Mapping[str, Fault] = {
    # Rows that disagree with themselves.
    "2 % of rows' bytes 15 % up": Fault(
        made("bytes_received = bytes_received * @some(1.15, 0.02)"),
        "throughput_disagrees bytes_disagree"),
    "messages of one thread": Fault(
        made("messages = (messages / threads).round()", without="bytes_received"),
        "messages_disagree"),
    "messages in thousands in some rows": Fault(
        made("messages = messages * @some(1e-3, 0.1)"), "bytes_disagree unit_jumps"),
    "cycles per byte of one side": Fault(
        made("cycles_per_byte = (cycles / bytes_received / 2).round(4)"), "cost_disagrees"),
    # Units.
    "ms for us in some rows": Fault(
        made("latency_us = latency_us * @some(1e-3, 0.1)",
             without=f"throughput_gbps {_NO_BYTES}"), "unit_jumps"),
    "cycles in thousands in one row": Fault(
        made("cycles = cycles * @some(1e-3, 0)"), "unit_jumps"),
    "latency in ms throughout": Fault(made("latency_us = latency_us / 1e3"), "short_latency"),
    "cpu time in ms": Fault(
        made("cpu_time_s = cpu_time_s * 1e3"),
        "more_cpu_time_than_time cpus_per_thread clock_rate"),
    "cpu time in percent": Fault(
        made("cpu_time_s = (cpu_time_s * 20).round(2)"), "cpus_per_thread clock_rate"),
    "latencies longer than the run": Fault(
        made("latency_us = latency_us * 1e7", without=f"throughput_gbps {_NO_BYTES}"),
        "latency_over_duration"),
    "share in percent": Fault(made("copied_share = @uniform(1, 99)"), "share_above_one"),
    # Columns made of others.
    "a column is a x other + b": Fault(made("LLC = (0.031 * L1 + 52000).round()"), "derived"),
    "misses are a power law": Fault(
        made("L1 = (3e4 * size ** 0.41 * threads).round()"), "formula"),
    # Implementations made of others.
    "one implementation's cycles x 0.6": Fault(
        _of_implementation(0.6, 0.0, "cycles"), "multiple", 1),
    "one implementation x 0.8 with 0.1 % noise": Fault(
        _of_implementation(0.8, 0.001, "throughput_gbps", "cycles"), "multiple_and_noise"),
    "the average of all kept as one more": Fault(
        lambda t, _: pd.concat([t, t.groupby(["size", "threads", "rep"]).mean(numeric_only=True)
                                .reset_index().assign(impl="average")]), "multiple"),
    "8 threads made of 4": Fault(
        lambda t, _: pd.concat([t.query("threads < 8"), t.query("threads == 4").assign(
            threads=8, **{name: 2 * t[name] for name in ("throughput_gbps", "L1")})]), "multiple"),
    # Repetitions.
    "a repetition made of another": Fault(
        lambda t, _: pd.concat([t.query("rep < 3"), t.query("rep == 2").assign(
            rep=3, instructions=t["instructions"] + 1)]), "repetitions_copied"),
    "a 99th percentile below the median": Fault(
        made("latency_p99_us = latency_us * @uniform(0.2, 0.5)"), "tail_below_median"),
    "one measurement with 0.2 % noise": Fault(
        _once_with_jitter("throughput_gbps", "cycles", "L1"), "even_repetitions"),
    "copied repetitions": Fault(
        lambda t, _: t.assign(cycles=t.groupby(CELL)["cycles"].transform("first")),
        "equal_repetitions"),
    "sorted repetitions": Fault(
        lambda t, _: t.sort_values([*CELL, "throughput_gbps"]).assign(
            rep=lambda by: by.groupby(CELL).cumcount() + 1), "sorted_repetitions"),
    "outliers replaced by the mean": Fault(_outliers_to_mean, "mean_repetitions", 5),
    "a counter never set back": Fault(made("cycles = cycles.cumsum()"), "cumulative"),
    # Digits.
    "values in steps of 0.25": Fault(
        made("throughput_gbps = (throughput_gbps * 4).round() / 4"), "multiples"),
    "multiples of 37": Fault(made("L1 = L1 // 37 * 37"), "multiples", 3, None),
    "all end in 7": Fault(made("cycles = cycles // 10 * 10 + 7"), "last_digits", 3, None),
    "estimated by hand": Fault(
        lambda t, rng: t.assign(L1=[
            float(f"{value:.2g}") if rng.random() < 0.3 else value for value in t["L1"]
        ]), "round_numbers"),
    "one value everywhere": Fault(made("LLC = 48211"), "all_cells_equal", 1),
    # Impossible, or odd for a socket.
    "more LLC than L1 misses": Fault(
        made("LLC = (L1 * 3 * @noise(0.1)).round()"), "more_llc_than_l1d"),
    "1e-7 misses per byte": Fault(
        made("L1 = (throughput_gbps * 1e9 / 8 * 5 * 1e-7 * @noise(0.1)).round() + 1"),
        "few_misses"),
    "600 Gbit/s on one thread": Fault(
        made("throughput_gbps = (600 * (size / 65536).clip(0, 1) * threads * @noise(0.03))"
             ".round(2)", only="throughput_gbps"), "fast_stream"),
    "a message every 35 ns": Fault(
        made("throughput_gbps = ((size * 8 / 35).clip(0, 90) * threads * @noise(0.02)).round(2)",
             "size = size // 16", only="throughput_gbps"), "frequent_messages faster_than_calls"),
    "30 GHz of cycles per thread": Fault(
        made("cycles = (30e9 * threads * duration_s * @noise(0.02)).round()"),
        "cycles_per_thread"),
    "more cycles than any host has": Fault(
        made("cycles = cycles * 1e5"), "more_cycles_than_time"),
    "0 to 2 switches with 8 threads": Fault(made("context_switches = @few()"), "few_switches"),
    "negative latency in one row": Fault(
        made("latency_us = latency_us * @some(-1, 0)"), "below_zero"),
    "instructions beyond any processor": Fault(
        made("instructions = cycles * 11.3"), "instructions_per_cycle"),
    "fewer cycles than a copy takes": Fault(
        made("cycles = (0 * cycles + 1e5 * @noise(0.05)).round()"), "few_cycles"),
    "fewer cycles than in any run": Fault(
        made("cycles = (0 * cycles + 1e5 * @noise(0.05)).round()",
             without=f"duration_s {_NO_BYTES}"), "few_cycles_in_any_run"),
    "two misses per instruction": Fault(
        made("L1 = (instructions * 2 * @noise(0.05)).round()"), "more_misses_than_instructions"),
    "two misses per byte": Fault(
        made("L1 = (bytes_received * 2 * @noise(0.05)).round()"), "misses_per_byte"),
    "30 million switches a second": Fault(
        made("context_switches = (threads * 1.5e8 * @noise(0.05)).round()"), "context_switches"),
    "throughput in kbit/s": Fault(
        made("throughput_gbps = throughput_gbps * 1e6", without=f"latency_us {_NO_BYTES}"),
        "faster_than_registers"),
    "1700 Gbit/s by copying": Fault(
        made("throughput_gbps = (1700 * threads * @noise(0.05)).round(2)",
             only="throughput_gbps"), "faster_than_memory"),
    "a message every 10 ns": Fault(
        made("throughput_gbps = (51.2 * threads * @noise(0.05)).round(2)", "size = size // 16",
             only="throughput_gbps"), "faster_than_calls"),
    # Curves.
    "a model with 0.1 % noise": Fault(
        made("throughput_gbps = (size * threads * @noise(0.001) / (250 + size * impl.map(@byte_ns)"
             " / 8 + 87.5 * threads)).round(4)", only="throughput_gbps"), "smooth", 1),
    "a size drawn on a logarithmic axis": Fault(_drawn_between, "interpolated", 1),
    # Rows.
    "a block pasted from the same table": Fault(_paste(), "rows_equal"),
    "a block pasted, with 0.1 % noise": Fault(_paste(0.001), "rows_alike"),
    "a block pasted from another dataset": Fault(_other_dataset, "datasets_share_rows"),
    "rows missing": Fault(
        lambda t, _: t.query("not (size == 16384 and threads == 4)"), "cells_missing"),
    "repetitions missing": Fault(
        lambda t, _: t.drop(index=t.index[[5, 17, 33]]), "repetitions_missing"),
    "empty cells": Fault(made("cycles = cycles.where(@random() > 0.05)"), "values_missing"),
    "gaps filled with 0": Fault(made("cycles = cycles.where(@random() > 0.05, 0)"), "some_zeros"),
    "a counter that counts nothing": Fault(made("LLC = 0"), "zeros"),
    # Time stamps.
    "runs that overlap": Fault(
        made("timestamp = 1.7e9 + index * 2"), "times_overlap"),
    "stamps that repeat": Fault(
        made("timestamp = 1.7e9 + index // 4 * 30"), "times_repeat"),
    "ends before starts": Fault(
        made("timestamp = 1.7e9 + index * 30", "end_time = timestamp - 5"), "times_backwards"),
}  # fmt: skip
"""By what was done."""

NOT_FOUND: Mapping[str, Fault] = {
    "the noise of one column added to another": Fault(lambda t, _: t.assign(L1=(
        _cell_means(t, "L1") * t["throughput_gbps"] / _cell_means(t, "throughput_gbps")
    ).round())),
    "everything made up with real noise": Fault(lambda t, _: honest(seed=9)),
    "throughput raised by 3 % throughout, without bytes": Fault(
        made("throughput_gbps = throughput_gbps * 1.03", without=f"{_NO_BYTES} latency_us")),
    "labels exchanged throughout": Fault(_swap("size > 0")),
    "labels exchanged at one size": Fault(_swap("size == 65536")),
    "only the best of ten repetitions": Fault(
        lambda t, _: t.loc[t.groupby(CELL)["throughput_gbps"].idxmax()].drop(columns="rep"),
        repetitions=10),
    "a slow implementation left out": Fault(lambda t, _: t[t["impl"] != "zero_copy"]),
    "noise of 3 % added to one measurement": Fault(lambda t, rng: t.assign(throughput_gbps=(
        _cell_means(t, "throughput_gbps") * np.exp(rng.normal(0, 0.03, len(t)))
    ).round(4))),
}  # fmt: skip
"""What no check can tell from an honest table; docs/audit.md says why."""
