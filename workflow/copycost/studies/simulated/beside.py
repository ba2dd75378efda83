"""Simulated counts beside what was measured, where both are there: a check of the model.

Nothing else joins the two. Measured misses are those of loads, so the simulated ones are too.
"""

from collections.abc import Mapping

import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.grid.conditions import RECV
from copycost.grid.placements import APART
from copycost.grid.variants import PLAIN
from copycost.studies.simulated.counts import BOTH, MODES

MISSES = {"l1d": "l1d_load_misses_per_byte", "llc": "llc_load_misses_per_byte"}
"""Metrics of the summary by the level whose misses they count."""

_CELL = ["testbed", "implementation", "msg_bytes", "working_set"]
# entered by every system call (arch/x86/entry/common.c)
_SYSTEM_CALL = "do_syscall_64"
_CALLS_DIFFER = 0.02


def beside_facts(
    table: pd.DataFrame, functions: pd.DataFrame, summary: pd.DataFrame, line_bytes: int
) -> Facts:
    """Return simulated counts beside measured ones, of the cells that have both.

    Keys
    ----
    misses
        Per cell and level: misses of loads per line of payload, `simulated` and `measured` (with
        its interval), and their `ratio`; none where this host counts no misses.
    calls
        Per cell, the sender's system calls per message, `simulated` and `measured`, and whether
        they `agree` within 2 %.
    n_calls_agree
        Cells in which they do [count].

    Parameters
    ----------
    table, functions : DataFrame
        As `copycost.studies.simulated.columns` defines them.
    summary : DataFrame
        results/tables/summary.csv.
    line_bytes
        A line of the simulated caches [bytes].
    """
    measured = _measured(summary)
    misses = [
        row
        for level, metric in MISSES.items()
        for row in _misses(table, measured, level, metric, line_bytes)
    ]
    calls = _calls(functions, measured)
    return dict(
        plain(
            {
                "misses": misses,
                "calls": calls,
                "n_calls_agree": sum(row["agree"] for row in calls),
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
    return rows[[*_CELL, "metric", "median", "low", "high"]]


def _misses(
    table: pd.DataFrame, measured: pd.DataFrame, level: str, metric: str, line_bytes: int
) -> list[Facts]:
    counted = table[
        (table["side"] == BOTH) & (table["variant"] == PLAIN) & (table["status"] == "measured")
    ]
    columns = [f"simulated_{level}_load_misses_{mode}_per_byte" for mode in MODES]
    found = []
    for row in counted.to_dict("records"):
        cell = {name: row[name] for name in _CELL}
        known = _at(measured, cell, f"{_side(str(row['testbed']))}_{metric}")
        if known is None or known["median"] <= 0:
            continue
        simulated = sum(float(row[name]) for name in columns) * line_bytes
        per_line = {name: value * line_bytes for name, value in known.items()}
        found.append(
            cell
            | {
                "level": level,
                "simulated": simulated,
                "measured": per_line,
                "ratio": simulated / per_line["median"],
            }
        )
    return found


def _calls(functions: pd.DataFrame, measured: pd.DataFrame) -> list[Facts]:
    rows = functions[
        (functions["variant"] == PLAIN)
        & (functions["side"] == "sender")
        & (functions["function"] == _SYSTEM_CALL)
    ]
    found = []
    for row in rows.to_dict("records"):
        cell = {name: row[name] for name in _CELL}
        known = _at(measured, cell, "sender_syscalls_per_message")
        if known is None:
            continue
        simulated = float(row["simulated_calls_per_message"])
        agree = abs(simulated - known["median"]) <= _CALLS_DIFFER * known["median"]
        found.append(cell | {"simulated": simulated, "measured": known["median"], "agree": agree})
    return found


def _side(testbed: str) -> str:
    return "sender" if testbed == "sink" else "both"


def _at(measured: pd.DataFrame, cell: Mapping[str, object], metric: str) -> dict[str, float] | None:
    here = measured[(measured[[*cell, "metric"]] == [*cell.values(), metric]).all(axis=1)]
    if here.empty:
        return None
    return {name: float(here[name].iloc[0]) for name in ("median", "low", "high")}
