"""What a simulation has counted, by side, function and kind, and the columns of its tables."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from copycost.perf.stacks import KERNEL_MARK
from copycost.records.column import Definition, fact, grouped, number
from copycost.records.columns import OUTCOME
from copycost.studies.profile.functions import Categories

LEVELS = ("l1d", "l2", "llc")
SIDES = ("sender", "receiver", "other")
"""Whose thread ran: ``other`` are threads of the kernel, and whoever else."""
BOTH = "both"
"""The sender's and the receiver's threads together."""
MODES = ("user", "kernel")
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

APPLICATION = "application"
KERNEL_COPY = "copy"
"""The category of data/functions of copies between a message and the kernel's buffers."""
MEMORY = "kernel_memory"
HELPERS = "helpers"
"""Categories beyond those of data/functions: memory copied or set within the kernel; locks, clocks
and lists; the application as a whole, since the counts have no call stacks and know none of its
functions."""

Functions = dict[tuple[str, str, str], Counter[str]]
"""What each function has done in one side's threads: calls, and counts by quantity.

By side, mode and name of the function.
"""


def functions_of(counted: Mapping[str, Any]) -> Functions:
    """Return every function of what the simulation has written; those of one name are one."""
    found: Functions = {}
    for side in SIDES:
        here: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for row in counted["functions"][side]:
            of = here[MODES[bool(row["kernel"])], str(row["name"])]
            of.update({name: row[name] for name in ("calls", *QUANTITIES[:4])})
            for level in LEVELS:
                loads = row["load_misses"][level]
                of[f"{level}_misses"] += loads + row["store_misses"][level]
                of[f"{level}_load_misses"] += loads
                of[f"{level}_write_backs"] += row["write_backs"][level]
        found |= {(side, *key): here[key] for key in sorted(here)}
    return found


def totals_of(functions: Functions) -> Mapping[tuple[str, str], Counter[str]]:
    """Return the counts of each side, `BOTH` too, in each mode."""
    totals: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (side, mode, _), counts in functions.items():
        totals[side, mode].update(counts)
        if side != "other":
            totals[BOTH, mode].update(counts)
    return totals


def category_of(mode: str, function: str, categories: Categories) -> str:
    """Return what a function does: a category of data/functions, or one of those above."""
    if mode == "user":
        return APPLICATION
    found = categories.of_frame(function + KERNEL_MARK)
    if found is not None:
        return found
    return MEMORY if categories.moves_memory(function) else HELPERS


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

_MODES = {"user": "by the application", "kernel": "by the kernel"}
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
        f"{_WORDS[quantity]}, {_MODES[mode]}",
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
