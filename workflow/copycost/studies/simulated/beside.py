"""Simulated counts beside what was measured, where both are there: a check of the model.

Nothing else joins the two. Measured misses are those of loads, so the simulated ones are too.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.config.conditions import RECV
from copycost.config.placements import APART
from copycost.config.variants import PLAIN
from copycost.studies.simulated.counts import BOTH, MODES

# metrics of the summary by the level whose misses they count
_MISSES = {"l1d": "l1d_load_misses_per_byte", "llc": "llc_load_misses_per_byte"}

_CELL = ["testbed", "implementation", "msg_bytes", "working_set"]
# entered by every system call (arch/x86/entry/common.c)
_SYSTEM_CALL = "do_syscall_64"
_CALLS_DIFFER = 0.02


def beside_facts(table: pd.DataFrame, functions: pd.DataFrame, summary: pd.DataFrame) -> Facts:
    """Return simulated counts beside measured ones, of the plain cells that have both."""
    rows = summary[
        (summary["study"] == "streams")
        & (summary["n_threads"] == 1)
        & (summary["receiver"] == RECV)
        & (summary["placement"] == APART)
        & (summary["n"] > 0)
    ].drop_duplicates([*_CELL, "metric"])
    medians = rows.set_index([*_CELL, "metric"])["median"].to_dict()

    def measured(row: Mapping[Hashable, Any], metric: str) -> float | None:
        return medians.get((*(row[name] for name in _CELL), metric))

    counted = table[
        (table["side"] == BOTH) & (table["variant"] == PLAIN) & (table["status"] == "measured")
    ].to_dict("records")
    misses = []
    for level, metric in _MISSES.items():
        columns = [f"simulated_{level}_load_misses_{mode}_per_byte" for mode in MODES]
        ratios = [
            sum(float(row[name]) for name in columns) / known
            for row in counted
            for side in ["sender" if row["testbed"] == "sink" else "both"]
            if (known := measured(row, f"{side}_{metric}")) is not None and known > 0.0
        ]
        if ratios:
            of = {"level": level, "n": len(ratios), "low": min(ratios), "high": max(ratios)}
            misses.append(of)
    entered = functions[
        (functions["variant"] == PLAIN)
        & (functions["side"] == "sender")
        & (functions["function"] == _SYSTEM_CALL)
    ].to_dict("records")
    calls = [
        abs(float(row["simulated_calls_per_message"]) - n) <= _CALLS_DIFFER * n
        for row in entered
        if (n := measured(row, "sender_syscalls_per_message")) is not None
    ]
    return {
        # per level that this host counts, in `n` cells: the ratio of the simulated misses of loads
        # to the counted ones
        "misses": misses,
        # cells that have the sender's system calls per message, and those in which they agree
        # within 2 % [count]
        "n_calls": len(calls),
        "n_calls_agree": sum(calls),
    }
