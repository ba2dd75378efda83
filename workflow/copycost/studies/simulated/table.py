"""From the records of `simulated` to its tables: a row per cell and side, and per function."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.records.column import Definition
from copycost.records.table import make_table
from copycost.studies.profile.functions import Categories
from copycost.studies.simulated.columns import CELL_KEY, FUNCTIONS, SIMULATED
from copycost.studies.simulated.counts import (
    BOTH,
    MODES,
    QUANTITIES,
    SIDES,
    FunctionCounts,
    category_of,
    functions_of,
    totals_of,
)
from copycost.studies.simulated.reading import SimulatedRecord, read_cells

Row = dict[str, Any]


def collect(paths: Iterable[Path], categories: Categories) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table of cells and that of functions, in the order of the paths."""
    sides: list[Row] = []
    functions: list[Row] = []
    for record in read_cells(paths):
        some, more = rows_of(record, categories)
        sides += some
        functions += more
    return make_table(sides, SIMULATED), make_table(functions, FUNCTIONS)


def rows_of(record: SimulatedRecord, categories: Categories) -> tuple[list[Row], list[Row]]:
    """Return one record's rows of both tables; a cell without counts has one, of `BOTH` sides."""
    key = {name: record["cell"][name] for name in CELL_KEY}
    outcome = {name: record[name] for name in ("status", "reason", "remedy")}
    counted = record["counted"]
    if counted is None:
        return [_empty(SIMULATED) | key | outcome | {"side": BOTH}], []
    found = list(functions_of(counted))
    totals = totals_of(found)
    windows = {side: _window(record, side) for side in (*SIDES, BOTH)}
    costs = {side: _per_mode(totals, side, windows[side]) for side in SIDES}
    # each side's by what it has sent or received itself: the window of a receiver, which wakes up
    # for much at a time, has a little more or less than was sent in it
    costs[BOTH] = {name: costs["sender"][name] + costs["receiver"][name] for name in costs["other"]}
    line = {"simulated_line_bytes": float(counted["caches"]["line_bytes"])}
    zero_copy = _zero_copy(record)
    sides = [
        key
        | outcome
        | {"side": side}
        | windows[side]
        | line
        | {name: n if side in ("sender", BOTH) else math.nan for name, n in zero_copy.items()}
        | costs[side]
        for side in (*SIDES, BOTH)
    ]
    return sides, [key | _function_row(one, windows[one.side], categories) for one in found]


def _window(record: SimulatedRecord, side: str) -> Row:
    """Return what a side's counts are divided by: what was received, of the others what was sent.

    Where nobody receives, the receiver's counts are 0.
    """
    sender = record["sender"]
    assert sender is not None
    received = record["receiver"] if side == "receiver" else None
    if received is None:
        n_bytes, n_messages = sender["bytes"], sender["messages"]
    else:
        n_bytes = received["bytes"]
        n_messages = n_bytes / record["cell"]["msg_bytes"]
    return {"simulated_messages": float(n_messages), "simulated_bytes": float(n_bytes)}


def _zero_copy(record: SimulatedRecord) -> Row:
    sends = (record["sender"] or {})["zero_copy"] or {}
    return {f"simulated_zc_{name}": _number(sends.get(name)) for name in ("completed", "copied")}


def _number(n: int | None) -> float:
    return math.nan if n is None else float(n)


def _per_mode(
    totals: Mapping[tuple[str, str], Mapping[str, int]], side: str, window: Mapping[str, float]
) -> dict[str, float]:
    pers = {"byte": window["simulated_bytes"], "message": window["simulated_messages"]}
    return {
        f"simulated_{quantity}_{mode}_per_{per}": totals[side, mode][quantity] / n
        for per, n in pers.items()
        for quantity in QUANTITIES
        for mode in MODES
    }


def _function_row(one: FunctionCounts, window: Mapping[str, float], categories: Categories) -> Row:
    return {
        "side": one.side,
        "mode": one.mode,
        "function": one.function,
        "category": category_of(one.mode, one.function, categories),
        "simulated_calls_per_message": one.calls / window["simulated_messages"],
        **{
            f"simulated_{quantity}_per_byte": one.counts[quantity] / window["simulated_bytes"]
            for quantity in QUANTITIES
        },
    }


def _empty(definition: Definition) -> Row:
    return {
        column.name: None if column.dtype == "str" else math.nan for column in definition.columns
    }
