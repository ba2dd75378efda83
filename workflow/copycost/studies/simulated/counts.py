"""What a cell's simulation has counted, by side, function and kind."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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

Counts = dict[str, int]
"""By quantity."""


@dataclass(frozen=True, slots=True)
class FunctionCounts:
    """What one function has done in one side's threads."""

    side: str
    mode: str
    function: str
    calls: int
    counts: Counts


def functions_of(counted: Mapping[str, Any]) -> Iterator[FunctionCounts]:
    """Yield every function of a result; those of one name are one."""
    for side in SIDES:
        calls: dict[tuple[str, str], int] = defaultdict(int)
        counts: dict[tuple[str, str], Counts] = {}
        for row in counted["functions"][side]:
            key = (MODES[bool(row["kernel"])], str(row["name"]))
            calls[key] += row["calls"]
            add_to(counts.setdefault(key, dict.fromkeys(QUANTITIES, 0)), _counts_of(row))
        for (mode, function), found in sorted(counts.items()):
            yield FunctionCounts(side, mode, function, calls[mode, function], found)


def _counts_of(row: Mapping[str, Any]) -> Counts:
    counts = {name: row[name] for name in ("instructions", "string_iterations", "loads", "stores")}
    for level in LEVELS:
        counts[f"{level}_misses"] = row["load_misses"][level] + row["store_misses"][level]
        counts[f"{level}_load_misses"] = row["load_misses"][level]
        counts[f"{level}_write_backs"] = row["write_backs"][level]
    return counts


def add_to(total: Counts, more: Mapping[str, int]) -> None:
    """Add counts to others."""
    for name, value in more.items():
        total[name] += value


def totals_of(functions: Iterable[FunctionCounts]) -> dict[tuple[str, str], Counts]:
    """Return the counts of each side, `BOTH` too, in each mode."""
    totals = {
        (side, mode): dict.fromkeys(QUANTITIES, 0) for side in (*SIDES, BOTH) for mode in MODES
    }
    for one in functions:
        add_to(totals[one.side, one.mode], one.counts)
        if one.side != "other":
            add_to(totals[BOTH, one.mode], one.counts)
    return totals


def category_of(mode: str, function: str, categories: Categories) -> str:
    """Return what a function does: a category of data/functions, or one of those above."""
    if mode == "user":
        return APPLICATION
    found = categories.of_frame(function + KERNEL_MARK)
    if found is not None:
        return found
    return MEMORY if categories.moves_memory(function) else HELPERS
