"""What a cell's simulation has counted, by side, function and kind."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from copycost.perf.stacks import KERNEL_MARK
from copycost.studies.profile.functions import Categories

LEVELS = ("l1d", "l2", "llc")
SIDES = ("sender", "receiver", "other")
"""Whose thread ran: ``other`` are threads of the kernel, and whoever else."""
BOTH = "both"
"""The sender's and the receiver's threads together."""
MODES = ("user", "kernel")
QUANTITIES = (
    "instructions",
    "string_iterations",
    "loads",
    "stores",
    *(f"{level}_misses" for level in LEVELS),
    *(f"{level}_load_misses" for level in LEVELS),
    *(f"{level}_write_backs" for level in LEVELS),
)
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
