"""Tables with one fault each, by what is wrong with them: so each finding has its words."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from unit.audit.made import DURATION_S, Model, changed, make_table

Table = Callable[[], pd.DataFrame]


def _once(column: str, change: Callable[[pd.DataFrame], object]) -> Table:
    return lambda: changed(column, change, repetitions=1)


def _noise(table: pd.DataFrame) -> object:
    return np.random.default_rng(7).normal(1, 0.05, len(table))


def _scaled(column: str, factor: float) -> Table:
    return lambda: changed(column, lambda t: t[column] * factor)


def _noisy(column: str, value: Callable[[pd.DataFrame], object]) -> Table:
    return lambda: changed(column, lambda t: value(t) * _noise(t))  # type: ignore[operator]


def _bytes_off(factor: float) -> Table:
    def table() -> pd.DataFrame:
        made = make_table()
        moved = made["throughput_gbps"] * 1e9 / 8 * DURATION_S
        return made.assign(bytes_received=(moved * factor).round())

    return table


def _messages_off() -> pd.DataFrame:
    made = _bytes_off(1.0)()
    return made.assign(messages=(made["bytes_received"] / made["size"] * 1.37).round())


def _cycles_per_byte_off() -> pd.DataFrame:
    made = _bytes_off(1.0)()
    return made.assign(cycles_per_byte=made["cycles"] / made["bytes_received"] * 1.37)


def _formula_of_one() -> pd.DataFrame:
    made = make_table(Model(repetitions=1))
    follows = 7 * made["size"] + 900 * made["threads"] + 13
    return made.assign(cycles=made["cycles"].where(made["impl"] != "one_copy", follows))


def _multiple() -> pd.DataFrame:
    made = make_table(Model(repetitions=1))
    first = made.loc[made["impl"] == "two_copy", "cycles"].to_numpy()
    made.loc[made["impl"] == "zero_copy", "cycles"] = (first * 0.6).round()
    return made


def _copied_repetitions() -> pd.DataFrame:
    made = make_table()
    first = made.groupby(["impl", "size", "threads"])["throughput_gbps"].transform("first")
    return made.assign(throughput_gbps=first)


def _round_numbers() -> pd.DataFrame:
    made = make_table(Model(digits=6))
    third = np.arange(len(made)) % 3 == 0
    by_hand = made["cycles"].map(lambda value: float(f"{value:.2g}"))
    return made.assign(cycles=np.where(third, by_hand, made["cycles"]))


def _last_digits() -> pd.DataFrame:
    made = make_table(Model(digits=6))
    return made.assign(cycles=[float(f"{value:.5g}7"[:6] + "7") for value in made["cycles"]])


def _short_run() -> pd.DataFrame:
    return _noisy("cycles", lambda t: 1e5 + 0 * t["size"])().drop(columns="duration_s")


def _cpu_time(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(cpu_time_s=1500.0 * _noise(table))  # type: ignore[operator]


FAULTS: Mapping[str, Table] = {
    "formula": _once("cycles", lambda t: 7 * t["size"] + 900 * t["threads"] + 13),
    "formula, within rounding": _once(
        "L1", lambda t: (2.5e6 * t["size"] ** 0.7 * t["threads"] ** 0.2).round(0)
    ),
    "formula, of some": _formula_of_one,
    "derived": _once("LLC", lambda t: t["L1"] * 0.25),
    "multiple": _multiple,
    "throughput_disagrees": _bytes_off(1.37),
    "throughput_disagrees, bits": _bytes_off(8.0),
    "throughput_disagrees, a prefix": _bytes_off(1e-3),
    "throughput_disagrees, two prefixes": _bytes_off(1e6),
    "throughput_disagrees, three prefixes": _bytes_off(1e9),
    "throughput_disagrees, kibi": _bytes_off(1.024),
    "throughput_disagrees, mebi": _bytes_off(1.048576),
    "throughput_disagrees, gibi": _bytes_off(1.073741824),
    "throughput_disagrees, both": _bytes_off(2.0),
    "bytes_disagree": _messages_off,
    "cost_disagrees": _cycles_per_byte_off,
    "equal_repetitions": _copied_repetitions,
    "all_cells_equal": _once("LLC", lambda t: 48211),
    "cells_equal": _once("LLC", lambda t: np.where(t["threads"] > 2, 123457, t["LLC"])),
    "multiples": lambda: changed("L1", lambda t: (t["L1"] / 37).round() * 37),
    "round_numbers": _round_numbers,
    "last_digits": _last_digits,
    "zeros": lambda: changed("LLC", lambda t: 0),
    "zeros, one row": lambda: make_table(Model(repetitions=1)).head(1).assign(LLC=0),
    "one_repetition": lambda: make_table(Model(repetitions=1)),
    "one_repetition, one cell": lambda: make_table(Model(repetitions=1)).head(1),
    "below_zero": _scaled("latency_us", -1.0),
    "share_above_one": lambda: make_table().assign(copied_share=1.5),
    "faster_than_registers": _scaled("throughput_gbps", 8000.0),
    "faster_than_memory": lambda: make_table(Model(sizes=(1 << 21,))).assign(
        throughput_gbps=lambda t: 800 * t["threads"] * _noise(t)
    ),
    "faster_than_calls": lambda: make_table(Model(sizes=(64,))).assign(
        throughput_gbps=lambda t: 50 * t["threads"] * _noise(t)
    ),
    "few_cycles": _noisy("cycles", lambda t: 1e5 + 0 * t["size"]),
    "few_cycles_in_any_run": _short_run,
    "more_cycles_than_time": _noisy("cycles", lambda t: 1e15 + 0 * t["size"]),
    "more_cpu_time_than_time": lambda: _cpu_time(make_table()),
    "instructions_per_cycle": lambda: changed("instructions", lambda t: t["cycles"] * 11.3),
    "more_misses_than_instructions": _noisy("L1", lambda t: t["instructions"] * 2),
    "misses_per_byte": _noisy("L1", lambda t: t["throughput_gbps"] * 3e8 * DURATION_S),
    "context_switches": _noisy("context_switches", lambda t: t["threads"] * 3e7 * DURATION_S),
}
"""By the code of the finding, and after a comma by the branch of its sentences."""
