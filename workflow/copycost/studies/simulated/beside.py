"""Simulated counts beside what was measured, where both are there: a check of the model.

Nothing else joins the two. Measured misses are those of loads, so the simulated ones are too.
"""

from collections.abc import Mapping

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.config.conditions import RECV
from copycost.config.placements import APART
from copycost.config.variants import PLAIN
from copycost.studies.simulated.counts import BOTH, MODES

MISSES = {"l1d": "l1d_load_misses_per_byte", "llc": "llc_load_misses_per_byte"}
"""Metrics of the summary by the level whose misses they count."""

_CELL = ["testbed", "implementation", "msg_bytes", "working_set"]
# entered by every system call (arch/x86/entry/common.c)
_SYSTEM_CALL = "do_syscall_64"
_CALLS_DIFFER = 0.02


def beside_facts(table: pd.DataFrame, functions: pd.DataFrame, summary: pd.DataFrame) -> Facts:
    """Return simulated counts beside measured ones, of the cells that have both."""
    measured = _measured(summary)
    ratios = {level: _ratios(table, measured, level, metric) for level, metric in MISSES.items()}
    calls = _calls(functions, measured)
    return dict(
        plain(
            {
                # per level whose misses this host counts: in `n` cells, `low` and `high` of the
                # ratio of the simulated misses of loads to the counted ones
                "misses": [
                    {"level": level, "n": len(of), "low": min(of), "high": max(of)}
                    for level, of in ratios.items()
                    if of
                ],
                # cells that have the sender's system calls per message, and those in which they
                # agree within 2 % [count]
                "n_calls": len(calls),
                "n_calls_agree": sum(calls),
            }
        )
    )


def _measured(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the medians of plain cells of one thread."""
    rows = summary[
        (summary["study"] == "streams")
        & (summary["n_threads"] == 1)
        & (summary["receiver"] == RECV)
        & (summary["placement"] == APART)
        & (summary["n"] > 0)
    ]
    return rows[[*_CELL, "metric", "median"]]


def _ratios(table: pd.DataFrame, measured: pd.DataFrame, level: str, metric: str) -> list[float]:
    """Return simulated misses of loads over measured ones, of each cell that has both."""
    counted = table[
        (table["side"] == BOTH) & (table["variant"] == PLAIN) & (table["status"] == "measured")
    ]
    columns = [f"simulated_{level}_load_misses_{mode}_per_byte" for mode in MODES]
    found = []
    for row in counted.to_dict("records"):
        cell = {name: row[name] for name in _CELL}
        known = _at(measured, cell, f"{_side(str(row['testbed']))}_{metric}")
        if known is not None and known > 0:
            found.append(sum(float(row[name]) for name in columns) / known)
    return found


def _calls(functions: pd.DataFrame, measured: pd.DataFrame) -> list[bool]:
    """Tell of each cell that has both whether the sender's system calls per message agree."""
    rows = functions[
        (functions["variant"] == PLAIN)
        & (functions["side"] == "sender")
        & (functions["function"] == _SYSTEM_CALL)
    ]
    found = []
    for row in rows.to_dict("records"):
        cell = {name: row[name] for name in _CELL}
        known = _at(measured, cell, "sender_syscalls_per_message")
        if known is not None:
            calls = float(row["simulated_calls_per_message"])
            found.append(abs(calls - known) <= _CALLS_DIFFER * known)
    return found


def _side(testbed: str) -> str:
    return "sender" if testbed == "sink" else "both"


def _at(measured: pd.DataFrame, cell: Mapping[str, object], metric: str) -> float | None:
    here = measured[(measured[[*cell, "metric"]] == [*cell.values(), metric]).all(axis=1)]
    return None if here.empty else float(here["median"].iloc[0])
