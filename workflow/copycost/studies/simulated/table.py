"""From the records of `simulated` to its tables: a row per cell and side, and per function."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.records.table import make_table
from copycost.studies.profile.functions import Categories
from copycost.studies.simulated.counts import (
    BOTH,
    CELL_KEY,
    FUNCTIONS,
    MODES,
    QUANTITIES,
    SIDES,
    SIMULATED,
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
    key: Row = {name: record["cell"][name] for name in CELL_KEY}
    outcome = {name: record[name] for name in ("status", "reason", "remedy")}
    counted, sender, receiver = record["counted"], record["sender"], record["receiver"]
    if counted is None or sender is None:
        return [key | outcome | {"side": BOTH}], []
    functions = functions_of(counted)
    totals = totals_of(functions)
    # What a side's counts are divided by: what was received, of the others what was sent. Where
    # nobody receives, the receiver's counts are 0.
    n_bytes = dict.fromkeys((*SIDES, BOTH), sender["bytes"])
    n_messages = dict.fromkeys((*SIDES, BOTH), sender["messages"])
    if receiver is not None:
        n_bytes["receiver"] = receiver["bytes"]
        n_messages["receiver"] = receiver["bytes"] / record["cell"]["msg_bytes"]
    costs = {
        side: {
            f"simulated_{quantity}_{mode}_per_{per}": totals[side, mode][quantity] / n
            for per, n in (("byte", n_bytes[side]), ("message", n_messages[side]))
            for quantity in QUANTITIES
            for mode in MODES
        }
        for side in SIDES
    }
    # each side's by what it has sent or received itself: the window of a receiver, which wakes up
    # for much at a time, has a little more or less than was sent in it
    costs[BOTH] = {name: costs["sender"][name] + costs["receiver"][name] for name in costs["other"]}
    sends = sender["zero_copy"] or {}
    rows = []
    for side in (*SIDES, BOTH):
        row = key | outcome | {"side": side}
        row["simulated_messages"] = float(n_messages[side])
        row["simulated_bytes"] = float(n_bytes[side])
        row["simulated_line_bytes"] = float(counted["caches"]["line_bytes"])
        for name in ("completed", "copied"):
            n = sends.get(name) if side in ("sender", BOTH) else None
            row[f"simulated_zc_{name}"] = math.nan if n is None else float(n)
        rows.append(row | costs[side])
    of_functions = [
        key
        | {
            "side": side,
            "mode": mode,
            "function": function,
            "category": category_of(mode, function, categories),
            "simulated_calls_per_message": counts["calls"] / n_messages[side],
        }
        | {f"simulated_{name}_per_byte": counts[name] / n_bytes[side] for name in QUANTITIES}
        for (side, mode, function), counts in functions.items()
    ]
    return rows, of_functions
