"""Faults as a sceptic would plant them, on noisy tables, with the findings that should show them.

The tables are those of `tools.simulation.honest_tables`: noise with heavy tails, kinks in the
curves, digits as authors print them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tools.simulation.honest_tables import World, table_of

SIZES = (1024, 4096, 16384, 65536, 262144, 1048576)
MEASURED = ("throughput_gbps", "latency_us", "cycles", "instructions", "L1", "LLC",
            "context_switches", "cpu_time_s")  # fmt: skip

Table = pd.DataFrame
Plant = Callable[[Table, np.random.Generator], Table]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done to an honest table of so many repetitions, which prints so many digits.

    Any of the findings of `codes` shows it.
    """

    plant: Plant
    codes: tuple[str, ...]
    repetitions: int = 3
    digits: int | None = 5


def honest(repetitions: int = 3, digits: int | None = 5, seed: int = 5) -> Table:
    """Return a noisy table with all columns."""
    world = World(
        sizes=SIZES, threads=(1, 2, 4, 8), names=("two_copy", "one_copy", "zero_copy"),
        repetitions=repetitions, noise="heavy", level=0.02, roughness=0.03, limit=None,
        digits=digits, duration_s=5.0, alike=False,
    )  # fmt: skip
    table = table_of(world, np.random.default_rng(seed))
    return table if repetitions > 1 else table.drop(columns="rep")


def planted(fault: Fault, seed: int = 5) -> Table:
    """Return the honest table with the fault in it."""
    table = honest(fault.repetitions, fault.digits, seed)
    return fault.plant(table, np.random.default_rng(seed))


def _noise(table: Table, rng: np.random.Generator, width: float) -> "np.ndarray":  # type: ignore[type-arg]
    return np.exp(rng.normal(0, width, len(table)))


def _scale(column: str, factor: float, share: float = 1.0) -> Plant:
    """Scale a column, or a share of its rows."""

    def plant(table: Table, rng: np.random.Generator) -> Table:
        rows = rng.random(len(table)) < share
        if share < 1.0:
            rows[rng.integers(len(table))] = True
        return table.assign(**{column: table[column].where(~rows, table[column] * factor)})

    return plant


def _without(plant: Plant, *columns: str) -> Plant:
    return lambda table, rng: plant(table.drop(columns=list(columns)), rng)


def _column(column: str, value: Callable[[Table, np.random.Generator], object]) -> Plant:
    return lambda table, rng: table.assign(**{column: value(table, rng)})


def _one_row(column: str, factor: float) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        at = int(rng.integers(len(table)))
        table = table.astype({column: float})
        table.loc[at, column] *= factor
        return table

    return plant


def _cell_means(table: Table, column: str) -> pd.Series:
    return table.groupby(["impl", "size", "threads"])[column].transform("mean")


def _of_implementation(factor: float, jitter: float, *columns: str) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        table = table.astype({column: float for column in columns})
        first, third = (table["impl"] == name for name in ("two_copy", "zero_copy"))
        for column in columns:
            made = table.loc[first, column].to_numpy() * factor
            made = made * np.exp(rng.normal(0, jitter, len(made)))
            table.loc[third, column] = [float(f"{value:.5g}") for value in made]
        return table

    return plant


def _once_with_jitter(*columns: str) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        for column in columns:
            made = _cell_means(table, column) * _noise(table, rng, 0.002)
            table[column] = made.map(lambda value: float(f"{value:.6g}"))
        return table

    return plant


def _sorted(column: str, ascending: bool) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        del rng
        cells = ["impl", "size", "threads"]
        by = table.sort_values([*cells, column], ascending=[True] * 3 + [ascending])
        return by.assign(rep=by.groupby(cells).cumcount() + 1)

    return plant


def _outliers_to_mean(column: str) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        del rng
        cells = table.groupby(["impl", "size", "threads"])[column]
        off = (table[column] - cells.transform("median")).abs()
        worst = off == off.groupby([table[key] for key in ("impl", "size", "threads")]).transform(
            "max"
        )
        worst &= off > 0.015 * table[column]
        others = (cells.transform("sum") - table[column]) / (cells.transform("size") - 1)
        return table.assign(**{column: table[column].where(~worst, others.round(4))})

    return plant


def _swap(column: str, first: object, second: object, where: Callable[[Table], pd.Series]) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        del rng
        exchanged = table[column].replace({first: second, second: first})
        return table.assign(**{column: table[column].where(~where(table), exchanged)})

    return plant


def _model(table: Table, jitter: float, rng: np.random.Generator) -> "pd.Series":
    byte_us = table["impl"].map({"two_copy": 1.1e-4, "one_copy": 0.83e-4, "zero_copy": 0.5e-4})
    time_us = 2 + table["size"] * byte_us + 0.7 * table["threads"]
    rate = table["size"] * 8e-3 * table["threads"] / time_us * _noise(table, rng, jitter)
    return pd.Series(rate).map(lambda value: float(f"{value:.5g}"))


def _interpolate(columns: tuple[str, ...], at: tuple[int, ...], logs: bool = False) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        del rng
        table = table.astype({column: float for column in columns})
        keys = ["impl", "threads", "rep"] if "rep" in table else ["impl", "threads"]
        for size in at:
            number = SIZES.index(size)
            before, after = SIZES[number - 1], SIZES[number + 1]
            weight = (size - before) / (after - before)
            weight = 0.5 if logs else weight
            for _, rows in table.groupby(keys):
                by_size = rows.set_index("size")
                mine = rows.index[rows["size"] == size]
                for column in columns:
                    low, high = by_size.loc[before, column], by_size.loc[after, column]
                    value = low + weight * (high - low)
                    table.loc[mine, column] = float(f"{value:.5g}")
        return table

    return plant


def _paste(rows: int, jitter: float = 0.0) -> Plant:
    """Copy a block of rows over another one."""

    def plant(table: Table, rng: np.random.Generator) -> Table:
        names = [name for name in MEASURED if name in table]
        table = table.astype(dict.fromkeys(names, float))
        block = table.loc[: rows - 1, names].to_numpy()
        block = block * np.exp(rng.normal(0, jitter, block.shape))
        table.loc[len(table) - rows :, names] = block
        return table

    return plant


def _other_dataset(table: Table, rng: np.random.Generator) -> Table:
    del rng
    other = honest(seed=77)
    other.loc[5:20, list(MEASURED)] = table.loc[5:20, list(MEASURED)]
    return pd.concat([table.assign(host="a"), other.assign(host="b")])


def _times(table: Table, gap_s: float, repeat: int = 1) -> Table:
    starts = 1.7e9 + np.arange(len(table)) // repeat * gap_s
    return table.assign(timestamp=starts)


def _bare(*columns: str) -> Plant:
    """Keep these measured columns only."""
    return lambda table, _: table.drop(columns=[
        name for name in table.columns[3:] if name not in (*columns, "rep")
    ])  # fmt: skip


def _then(*plants: Plant) -> Plant:
    def plant(table: Table, rng: np.random.Generator) -> Table:
        for one in plants:
            table = one(table, rng)
        return table

    return plant


def _per_thread_cycles(hertz: float) -> Plant:
    return _column(
        "cycles",
        lambda t, rng: (hertz * t["threads"] * t["duration_s"] * _noise(t, rng, 0.02)).round(),
    )


def _drop(table: Table, rng: np.random.Generator) -> Table:
    return table.drop(index=table.index[(table["size"] == 16384) & (table["threads"] == 4)])


_LITTLE = ("latency_disagrees", "latency_by_a_factor", "latency_without_threads")
_NO_BYTES = ("bytes_received", "messages")

FAULTS: Mapping[str, Fault] = {
    # Rows that disagree with themselves.
    "2 % of rows' bytes 15 % up": Fault(
        _scale("bytes_received", 1.15, 0.02), ("throughput_disagrees", "bytes_disagree")
    ),
    "messages of one thread": Fault(
        _without(
            _column("messages", lambda t, _: (t["messages"] / t["threads"]).round()),
            "bytes_received",
        ),
        ("messages_disagree",),
    ),
    "messages in thousands in some rows": Fault(
        _scale("messages", 1e-3, 0.1), ("bytes_disagree", "unit_jumps")
    ),
    "cycles per byte of one side": Fault(
        _column("cycles_per_byte", lambda t, _: (t["cycles"] / t["bytes_received"] / 2).round(4)),
        ("cost_disagrees",),
    ),
    # Units.
    "ms for us in some rows": Fault(
        _without(_scale("latency_us", 1e-3, 0.1), "throughput_gbps", *_NO_BYTES), ("unit_jumps",)
    ),
    "cycles in thousands in one row": Fault(_one_row("cycles", 1e-3), ("unit_jumps",)),
    "latency in ms throughout": Fault(_scale("latency_us", 1e-3), (*_LITTLE, "short_latency")),
    "cpu time in ms": Fault(
        _scale("cpu_time_s", 1e3), ("more_cpu_time_than_time", "cpus_per_thread", "clock_rate")
    ),
    "cpu time in percent": Fault(
        _column("cpu_time_s", lambda t, _: (t["cpu_time_s"] * 20).round(2)),
        ("cpus_per_thread", "clock_rate"),
    ),
    "latencies longer than the run": Fault(
        _without(_scale("latency_us", 1e7), "throughput_gbps", *_NO_BYTES),
        ("latency_over_duration",),
    ),
    "share in percent": Fault(
        _column("copied_share", lambda t, rng: rng.uniform(1, 99, len(t)).round(1)),
        ("share_above_one",),
    ),
    # Columns made of others.
    "a column is a x other + b": Fault(
        _column("LLC", lambda t, _: (0.031 * t["L1"] + 52000).round()), ("derived",)
    ),
    "misses are a power law": Fault(
        _column("L1", lambda t, _: (3e4 * t["size"] ** 0.41 * t["threads"]).round()), ("formula",)
    ),
    # Implementations made of others.
    "one implementation's cycles x 0.6": Fault(
        _of_implementation(0.6, 0.0, "cycles"), ("multiple",), 1
    ),
    "one implementation x 0.8 with 0.1 % noise": Fault(
        _of_implementation(0.8, 0.001, "throughput_gbps", "cycles"), ("multiple_and_noise",)
    ),
    # Repetitions.
    "one measurement with 0.2 % noise": Fault(
        _once_with_jitter("throughput_gbps", "cycles", "L1"), ("even_repetitions",)
    ),
    "copied repetitions": Fault(
        _column(
            "cycles",
            lambda t, _: t.groupby(["impl", "size", "threads"])["cycles"].transform("first"),
        ),
        ("equal_repetitions",),
    ),
    "sorted repetitions": Fault(_sorted("throughput_gbps", True), ("sorted_repetitions",)),
    "outliers replaced by the mean": Fault(
        _outliers_to_mean("throughput_gbps"), ("mean_repetitions",), 5
    ),
    "a counter never set back": Fault(
        _column("cycles", lambda t, _: t["cycles"].cumsum()), ("cumulative",)
    ),
    # Digits.
    "values in steps of 0.25": Fault(
        _column("throughput_gbps", lambda t, _: (t["throughput_gbps"] * 4).round() / 4),
        ("multiples", "cells_equal"),
    ),
    "multiples of 37": Fault(
        _column("L1", lambda t, _: t["L1"] // 37 * 37), ("multiples",), 3, None
    ),
    "all end in 7": Fault(
        _column("cycles", lambda t, _: t["cycles"] // 10 * 10 + 7), ("last_digits",), 3, None
    ),
    "estimated by hand": Fault(
        _column(
            "L1",
            lambda t, rng: [
                float(f"{value:.2g}") if rng.random() < 0.3 else value for value in t["L1"]
            ],
        ),
        ("round_numbers",),
    ),
    "one value everywhere": Fault(_column("LLC", lambda t, _: 48211), ("all_cells_equal",), 1),
    # Impossible, or odd for a socket.
    "latency without threads": Fault(
        _column("latency_us", lambda t, _: (t["latency_us"] / t["threads"]).round(4)), _LITTLE
    ),
    "more LLC than L1 misses": Fault(
        _column("LLC", lambda t, rng: (t["L1"] * 3 * _noise(t, rng, 0.1)).round()),
        ("more_llc_than_l1d",),
    ),
    "1e-7 misses per byte": Fault(
        _column(
            "L1",
            lambda t, rng: (
                (t["throughput_gbps"] * 1e9 / 8 * 5 * 1e-7 * _noise(t, rng, 0.1)).round() + 1
            ),
        ),
        ("few_misses",),
    ),
    "600 Gbit/s on one thread": Fault(
        _then(
            _bare("throughput_gbps"),
            _column(
                "throughput_gbps",
                lambda t, rng: (
                    600 * np.minimum(t["size"] / 65536, 1) * t["threads"] * _noise(t, rng, 0.03)
                ).round(2),
            ),
        ),
        ("fast_stream",),
    ),
    "a message every 35 ns": Fault(
        _then(
            _bare("throughput_gbps"),
            _column(
                "throughput_gbps",
                lambda t, rng: (
                    np.minimum(t["size"] * 8 / 35, 90) * t["threads"] * _noise(t, rng, 0.02)
                ).round(2),
            ),
            lambda t, _: t.assign(size=t["size"] // 16),
        ),
        ("frequent_messages", "faster_than_calls"),
    ),
    "30 GHz of cycles per thread": Fault(_per_thread_cycles(30e9), ("cycles_per_thread",)),
    "more cycles than any host has": Fault(_scale("cycles", 1e5), ("more_cycles_than_time",)),
    "0 to 2 switches with 8 threads": Fault(
        _column("context_switches", lambda t, rng: rng.integers(0, 3, len(t))), ("few_switches",)
    ),
    "negative latency in one row": Fault(_one_row("latency_us", -1.0), ("below_zero",)),
    "instructions beyond any processor": Fault(
        _column("instructions", lambda t, _: t["cycles"] * 11.3), ("instructions_per_cycle",)
    ),
    "fewer cycles than a copy takes": Fault(
        _column("cycles", lambda t, rng: (1e5 * _noise(t, rng, 0.05)).round()), ("few_cycles",)
    ),
    "fewer cycles than in any run": Fault(
        _without(
            _column("cycles", lambda t, rng: (1e5 * _noise(t, rng, 0.05)).round()),
            "duration_s",
            *_NO_BYTES,
        ),
        ("few_cycles_in_any_run",),
    ),
    "two misses per instruction": Fault(
        _column("L1", lambda t, rng: (t["instructions"] * 2 * _noise(t, rng, 0.05)).round()),
        ("more_misses_than_instructions",),
    ),
    "two misses per byte": Fault(
        _column("L1", lambda t, rng: (t["bytes_received"] * 2 * _noise(t, rng, 0.05)).round()),
        ("misses_per_byte",),
    ),
    "30 million switches a second": Fault(
        _column(
            "context_switches",
            lambda t, rng: (t["threads"] * 1.5e8 * _noise(t, rng, 0.05)).round(),
        ),
        ("context_switches",),
    ),
    "throughput in kbit/s": Fault(
        _without(_scale("throughput_gbps", 1e6), "latency_us", *_NO_BYTES),
        ("faster_than_registers",),
    ),
    "1700 Gbit/s by copying": Fault(
        _then(
            _bare("throughput_gbps"),
            _column(
                "throughput_gbps",
                lambda t, rng: (1700 * t["threads"] * _noise(t, rng, 0.05)).round(2),
            ),
        ),
        ("faster_than_memory",),
    ),
    "a message every 10 ns": Fault(
        _then(
            _bare("throughput_gbps"),
            _column(
                "throughput_gbps",
                lambda t, rng: (51.2 * t["threads"] * _noise(t, rng, 0.05)).round(2),
            ),
            lambda t, _: t.assign(size=t["size"] // 16),
        ),
        ("faster_than_calls",),
    ),
    # Curves.
    "a model with 0.1 % noise": Fault(
        _then(
            _bare("throughput_gbps"),
            _column("throughput_gbps", lambda t, rng: _model(t, 0.001, rng)),
        ),
        ("smooth",),
        1,
    ),
    "a size drawn on a logarithmic axis": Fault(
        _interpolate(("throughput_gbps", "cycles", "L1"), (16384,), True), ("interpolated",), 1
    ),
    # Rows.
    "implementations exchanged at a size": Fault(
        _swap("impl", "two_copy", "zero_copy", lambda t: t["size"] == 65536),
        ("implementations_exchanged",),
        1,
    ),
    "thread counts exchanged at a size": Fault(
        _swap("threads", 1, 4, lambda t: t["size"] == 65536), ("threads_exchanged",), 1
    ),
    "a block pasted from the same table": Fault(_paste(12), ("rows_equal",)),
    "a block pasted, with 0.1 % noise": Fault(_paste(12, 0.001), ("rows_alike",)),
    "a block pasted from another dataset": Fault(_other_dataset, ("datasets_share_rows",)),
    "rows missing": Fault(_drop, ("cells_missing",)),
    "repetitions missing": Fault(
        lambda t, _: t.drop(index=t.index[[5, 17, 33]]), ("repetitions_missing",)
    ),
    "empty cells": Fault(
        _column("cycles", lambda t, rng: t["cycles"].where(rng.random(len(t)) > 0.05)),
        ("values_missing",),
    ),
    "gaps filled with 0": Fault(
        _column("cycles", lambda t, rng: t["cycles"].where(rng.random(len(t)) > 0.05, 0)),
        ("some_zeros",),
    ),
    "a counter that counts nothing": Fault(_column("LLC", lambda t, _: 0), ("zeros",)),
    # Time stamps.
    "runs that overlap": Fault(lambda t, _: _times(t, 2.0), ("times_overlap",)),
    "stamps that repeat": Fault(lambda t, _: _times(t, 30.0, 4), ("times_repeat",)),
    "ends before starts": Fault(
        lambda t, _: _times(t, 30.0).assign(end_time=lambda x: x["timestamp"] - 5),
        ("times_backwards",),
    ),
}
"""By what was done."""

NOT_FOUND: Mapping[str, Fault] = {
    "the noise of one column added to another": Fault(
        _column("L1", lambda t, _: (
            _cell_means(t, "L1") * t["throughput_gbps"] / _cell_means(t, "throughput_gbps")
        ).round()), (),
    ),
    "everything made up with real noise": Fault(lambda t, _: honest(seed=9), ()),
    "throughput raised by 3 % throughout, without bytes": Fault(
        _without(_scale("throughput_gbps", 1.03), *_NO_BYTES, "latency_us"), ()
    ),
    "labels exchanged throughout": Fault(
        _swap("impl", "two_copy", "zero_copy", lambda t: t["size"] > 0), ()
    ),
    "labels exchanged at the last size": Fault(
        _swap("impl", "two_copy", "zero_copy", lambda t: t["size"] == SIZES[-1]), ()
    ),
    "only the best of ten repetitions": Fault(
        lambda t, _: t.loc[t.groupby(["impl", "size", "threads"])["throughput_gbps"].idxmax()]
        .drop(columns="rep"), (), 10
    ),
    "a slow implementation left out": Fault(lambda t, _: t[t["impl"] != "zero_copy"], ()),
    "noise of 3 % added to one measurement": Fault(
        _column("throughput_gbps", lambda t, rng: (
            _cell_means(t, "throughput_gbps") * _noise(t, rng, 0.03)).round(4)), (),
    ),
}  # fmt: skip
"""What no check can tell from an honest table; docs/audit.md says why."""
