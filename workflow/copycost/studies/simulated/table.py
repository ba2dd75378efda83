"""The tables of simulated counts: a row per cell and side, and one per function, of its records."""

from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.observers.perf.stacks import KERNEL_MARK
from copycost.records.column import Definition, fact, grouped, number
from copycost.records.columns import OUTCOME
from copycost.records.reading import read_all
from copycost.records.table import make_table
from copycost.studies.profile.functions import Categories
from copycost.studies.simulated.reading import LEVELS, SimulatedRecord
from copycost.studies.simulated.reading import SIMULATED as RECORDS

SIDES = ("sender", "receiver", "other")
"""Whose thread ran: ``other`` are threads of the kernel, and whoever else."""
BOTH = "both"
"""The sender's and the receiver's threads together."""
MODES = {"user": "by the application", "kernel": "by the kernel"}
_WORDS = {
    "instructions": "Instructions; a repeated one counts once",
    "string_iterations": "Iterations of repeated instructions (rep movs and the like)",
    "loads": "Loads; QEMU 7.2 reports an AVX load as several of 8 bytes",
    "stores": "Stores; AVX stores likewise",
    "l1d_misses": "Loads and stores that missed the simulated L1 data cache",
    "l2_misses": "Those that missed the simulated L2 cache too",
    "llc_misses": "Those that missed the simulated last-level cache too",
    "l1d_load_misses": "Loads alone that missed the simulated L1 data cache",
    "l2_load_misses": "Loads alone that missed the simulated L2 cache too",
    "llc_load_misses": "Loads alone that missed the simulated last-level cache too",
    "l1d_write_backs": "Modified lines evicted from the simulated L1 data cache",
    "l2_write_backs": "Modified lines evicted from the simulated L2 cache",
    "llc_write_backs": "Modified lines evicted from the simulated last-level cache",
}
QUANTITIES = tuple(_WORDS)
"""What is counted; a repeated instruction is one, whatever its iterations."""

# Categories beyond those of data/functions: the application as a whole, since the counts have no
# call stacks and know none of its functions; memory copied or set within the kernel; locks, clocks
# and lists.
APPLICATION, _MEMORY, _HELPERS = "application", "kernel_memory", "helpers"

CELL_KEY = ("testbed", "implementation", "msg_bytes", "working_set", "variant")
_KEY_COLUMNS = grouped(
    "Key",
    fact("testbed", "str", "", "Where the messages travel, within the guest"),
    fact("implementation", "str", "", "How they are sent"),
    fact("msg_bytes", "int64", "byte", "Size of a message"),
    fact("working_set", "str", "", "Where the bytes lie: hot or cold"),
    fact("variant", "str", "", "What is changed; plain: nothing"),
    fact("side", "str", "",
         "Whose threads: the sender's, the receiver's, others (mostly of the kernel), or the first"
         " two together", allowed=(*SIDES, BOTH)),
)  # fmt: skip

_WINDOW_COLUMNS = grouped(
    "The window",
    number("simulated_messages", "count",
           "simulated_bytes in messages; counts per message are divided by it"),
    number("simulated_bytes", "byte",
           "Bytes sent in the window, or received by the receiver; counts per byte are divided by"
           " it, and those of both are the sum of the sender's and the receiver's"),
    number("simulated_zc_completed", "count",
           "Zero-copy sends reported as completed in the window"),
    number("simulated_zc_copied", "count", "Those of them that the kernel copied after all"),
    number("simulated_line_bytes", "byte", "Size of a simulated cache line"),
)  # fmt: skip
_COUNT_COLUMNS = tuple(
    number(
        f"simulated_{quantity}_{mode}_per_{per}",
        f"1/{per}",
        f"{_WORDS[quantity]}, {MODES[mode]}",
        group=f"Simulated counts per {per}",
    )
    for per in ("byte", "message")
    for quantity in QUANTITIES
    for mode in MODES
)

SIMULATED = Definition(
    "table of simulated counts",
    (*_KEY_COLUMNS, *OUTCOME, *_WINDOW_COLUMNS, *_COUNT_COLUMNS),
    key=(*CELL_KEY, "side"),
    sorted_by=(),
)
FUNCTIONS = Definition(
    "table of simulated counts by function",
    (
        *_KEY_COLUMNS,
        *grouped(
            "Key",
            fact("mode", "str", "", "user or kernel"),
            fact("function", "str", "", "The kernel's function; the application counts as one"),
        ),
        *grouped(
            "What it does",
            fact("category", "str", "", "What the function does (data/functions)"),
            fact("simulated_calls_per_message", "float64", "1/message",
                 "How often its first instruction ran"),
        ),
        *(
            fact(f"simulated_{quantity}_per_byte", "float64", "1/byte", _WORDS[quantity],
                 "Simulated counts per byte, of one function")
            for quantity in QUANTITIES
        ),
    ),
    key=(*CELL_KEY, "side", "mode", "function"),
    sorted_by=(),
)  # fmt: skip
"""Of the cells that could be counted, every function that ran."""


Row = dict[Any, Any]


def collect(paths: Iterable[Path], categories: Categories) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table of cells and that of functions, in the order of the paths."""
    found = read_all(paths, lambda record: rows_of(record, categories), RECORDS)
    sides = (row for some, _ in found for row in some)
    functions = (row for _, more in found for row in more)
    return make_table(sides, SIMULATED), make_table(functions, FUNCTIONS)


def rows_of(record: SimulatedRecord, categories: Categories) -> tuple[list[Row], list[Row]]:
    """Return one record's rows of both tables; a cell without counts has one, of `BOTH` sides."""
    key: Row = {name: record["cell"][name] for name in CELL_KEY}
    outcome = {name: record[name] for name in ("status", "reason", "remedy")}
    counted, sender, receiver = record["counted"], record["sender"], record["receiver"]
    if counted is None:
        return [key | outcome | {"side": BOTH}], []
    functions = functions_of(counted)
    # What a side's counts are divided by: what was received, of the others what was sent. Where
    # nobody receives, the receiver's counts are 0.
    n_bytes = pd.Series(float(sender["bytes"]), [*SIDES, BOTH])
    n_messages = pd.Series(float(sender["messages"]), [*SIDES, BOTH])
    if receiver is not None:
        n_bytes["receiver"] = receiver["bytes"]
        n_messages["receiver"] = receiver["bytes"] / record["cell"]["msg_bytes"]
    totals = totals_of(functions)
    costs = pd.DataFrame(
        {
            f"simulated_{name}_{mode}_per_{per}": totals[name, mode] / n
            for per, n in (("byte", n_bytes[[*SIDES]]), ("message", n_messages[[*SIDES]]))
            for name, mode in product(QUANTITIES, MODES)
        }
    )
    # each side's by what it has sent or received itself: the window of a receiver, which wakes up
    # for much at a time, has a little more or less than was sent in it
    costs.loc[BOTH] = costs.loc["sender"] + costs.loc["receiver"]
    rows = []
    for side in (*SIDES, BOTH):
        sends = sender["zero_copy"] if side in ("sender", BOTH) else None
        rows.append(
            key
            | outcome
            | {
                "side": side,
                "simulated_messages": n_messages[side],
                "simulated_bytes": n_bytes[side],
                "simulated_line_bytes": float(counted["caches"]["line_bytes"]),
                "simulated_zc_completed": (sends or {}).get("completed"),
                "simulated_zc_copied": (sends or {}).get("copied"),
            }
            | costs.loc[side].to_dict()
        )
    shares = functions[[*QUANTITIES]].div(n_bytes, axis=0, level="side")
    shares = shares.add_prefix("simulated_").add_suffix("_per_byte")
    shares["simulated_calls_per_message"] = functions["calls"].div(n_messages, level="side")
    of_functions = [
        key | row | {"category": _category_of(row["mode"], row["function"], categories)}
        for row in shares.reset_index().to_dict("records")
    ]
    return rows, of_functions


def functions_of(counted: Mapping[str, Any]) -> pd.DataFrame:
    """Return the calls and the counts (`QUANTITIES`) of each function, by side, mode and name.

    Functions of one name are one. `counted` is what the plugin has written.
    """
    rows = []
    for side in SIDES:
        for one in counted["functions"][side]:
            mode = "kernel" if one["kernel"] else "user"
            row = {"side": side, "mode": mode, "function": one["name"]}
            row |= {name: one[name] for name in ("calls", *QUANTITIES[:4])}
            for level in LEVELS:
                row[f"{level}_load_misses"] = loads = one["load_misses"][level]
                row[f"{level}_misses"] = loads + one["store_misses"][level]
                row[f"{level}_write_backs"] = one["write_backs"][level]
            rows.append(row)
    key = ["side", "mode", "function"]
    found = pd.DataFrame(rows, columns=[*key, "calls", *QUANTITIES])
    return found.groupby(key).sum().reindex(SIDES, level="side")


def totals_of(functions: pd.DataFrame) -> pd.DataFrame:
    """Return the counts of all functions together, a row per side, a column per count and mode."""
    found = pd.DataFrame(functions.groupby(["side", "mode"])[[*QUANTITIES]].sum().unstack("mode"))
    return found.reindex(SIDES, columns=list(product(QUANTITIES, MODES))).fillna(0)


def _category_of(mode: str, function: str, categories: Categories) -> str:
    """Return what a function does: a category of data/functions, or one of those above."""
    if mode == "user":
        return APPLICATION
    found = categories.of_frame(function + KERNEL_MARK)
    return found or (_MEMORY if categories.moves_memory(function) else _HELPERS)
