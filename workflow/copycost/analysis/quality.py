"""What the checks of the quality table come to under a condition, and what disturbances change."""

import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.quality_table import (
    GATES,
    disturbances,
    disturbed,
    quality_table,
)
from copycost.analysis.sensitivity import flagged_repetitions, without_facts
from copycost.stats.modes import FEWEST


def quality_facts(view: View) -> Facts:
    """Return how many cells break which bound, and what the warned repetitions change.

    Keys
    ----
    n_cells, n_clean
        Cells with a measurement, and those of them that break no bound.
    gates
        Per bound: id, and n_cells that break it.
    n_warned, n_measured, warnings
        Repetitions that the machine disturbed, of those measured; and per disturbance.
    modes
        Cells whose throughputs fall into two clusters: `lower` and `upper`, the median of either
        [bit/s], with `n_lower` and `n_upper` and the `rounds` of the lower one.
    modes_told
        Whether a cell has enough repetitions for that to be told.
    without_flagged
        The throughput comparisons made again without the repetitions that any check flags.
    """
    measured = view.measured
    warned = disturbed(measured)
    table = quality_table(measured)
    found = flagged_repetitions(measured, table)
    flags = table[[f"flag_{gate.id}" for gate in GATES]]
    return {
        "n_cells": len(table),
        "n_clean": int((~flags.any(axis=1)).sum()),
        "gates": [
            {"id": gate.id, "n_cells": int(table[f"flag_{gate.id}"].sum())} for gate in GATES
        ],
        "n_measured": len(measured),
        "n_warned": int(warned.sum()),
        "warnings": disturbances(measured),
        "modes": _modes(view),
        "modes_told": bool((table["n"] >= FEWEST).any()),
        "without_flagged": without_facts(view, _any(found, measured)),
    }


def _any(found: dict[str, pd.Series], measured: pd.DataFrame) -> pd.Series:
    flagged = pd.Series(False, index=measured.index)
    for one in found.values():
        flagged |= one
    return flagged


def _modes(view: View) -> list[Facts]:
    rows = view.medians(THROUGHPUT)
    found = []
    for row in rows[rows["n_lower"] > 0].to_dict("records"):
        cell = {name: row[name] for name in POINT}
        reps = view.measured[(view.measured[POINT] == list(cell.values())).all(axis=1)]
        lower = reps.nsmallest(row["n_lower"], THROUGHPUT)
        found.append(
            cell
            | {
                "lower": row["lower_mode"],
                "upper": row["upper_mode"],
                "n_lower": row["n_lower"],
                "n_upper": row["n"] - row["n_lower"],
                "rounds": sorted(int(rep) for rep in lower["rep"]),
            }
        )
    return found
