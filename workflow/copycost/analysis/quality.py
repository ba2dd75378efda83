"""What the checks of the quality table come to under a condition, and what disturbances change."""

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, largest_block
from copycost.analysis.conditions import POINT
from copycost.analysis.json_values import Facts
from copycost.analysis.log_values import logarithms
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.quality_table import (
    GATES,
    Gate,
    disturbances,
    disturbed,
    quality_table,
)
from copycost.analysis.without_flagged import flagged_repetitions, without_facts
from copycost.stats.drift import drift_over_rounds
from copycost.stats.modes import FEWEST
from copycost.stats.settings import StatisticsSettings


def quality_facts(view: View) -> Facts:
    """Return how many cells break which bound, and what the warned repetitions change.

    Keys
    ----
    n_cells, n_clean
        Cells with a measurement, and those of them that break no bound.
    gates
        Per bound: id, threshold, because, n_cells that break it, the worst value with its cell
        (None where it was not measured), and `without` the repetitions that it flags (None where it
        flags none; see `copycost.analysis.without_flagged`).
    n_warned, n_measured, warnings
        Repetitions that the machine disturbed, of those measured; and per disturbance.
    round_drift
        How throughput moved with the rounds, over the cells that have all of them; None with a
        single round. `moved`, by a test; `monotone`; the `last` round's throughput over the
        first's; `lowest` and `highest`, likewise, each `value` with its `round`.
    modes
        Cells whose throughputs fall into two clusters: `lower` and `upper`, the median of either
        [bit/s], with `n_lower` and `n_upper` and the `rounds` of the lower one.
    modes_told
        Whether a cell has enough repetitions for that to be told.
    without_warned, without_flagged
        The throughput comparisons made again without the repetitions that came with a warning, and
        without all that any check flags.
    """
    measured = view.measured
    warned = disturbed(measured)
    table = quality_table(measured)
    found = flagged_repetitions(measured, table)
    flags = table[[f"flag_{gate.id}" for gate in GATES]]
    return {
        "n_cells": len(table),
        "n_clean": int((~flags.any(axis=1)).sum()),
        "gates": [_gate_facts(view, gate, table, found.get(gate.id)) for gate in GATES],
        "n_measured": len(measured),
        "n_warned": int(warned.sum()),
        "warnings": disturbances(measured),
        "round_drift": _round_drift(measured, view.settings),
        "modes": _modes(view),
        "modes_told": bool((table["n"] >= FEWEST).any()),
        "without_warned": without_facts(view, warned),
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


def _gate_facts(view: View, gate: Gate, table: pd.DataFrame, flagged: pd.Series | None) -> Facts:
    values = table[gate.column].dropna()
    worst = None
    if len(values):
        at = int((values.argmin if gate.breaks == "below" else values.argmax)())
        row = table.loc[values.index[at]]
        worst = {"value": row[gate.column]} | {name: row[name] for name in POINT}
    return {
        "id": gate.id,
        "threshold": gate.threshold,
        "because": gate.because,
        "n_cells": int(table[f"flag_{gate.id}"].sum()),
        "worst": worst,
        "without": without_facts(view, flagged) if flagged is not None and flagged.any() else None,
    }


def _round_drift(measured: pd.DataFrame, settings: StatisticsSettings) -> Facts | None:
    table = measured.pivot(index=POINT, columns="rep", values=THROUGHPUT)
    logs = logarithms(table.to_numpy(dtype=np.float64))
    block = largest_block(logs)
    if block.shape[1] < 2:
        return None
    # the same block of the rounds' numbers tells which rounds it holds
    rounds = largest_block(np.where(np.isnan(logs), np.nan, table.columns.to_numpy(np.float64)))[0]
    drift = drift_over_rounds(block, settings.seed)
    ends = {"lowest": int(drift.path.argmin()), "highest": int(drift.path.argmax())}
    return {
        "moved": drift.p_value <= 1.0 - settings.confidence,
        "p_value": drift.p_value,
        "monotone": drift.is_monotone,
        "last": float(drift.path[-1]),
    } | {
        name: {"value": float(drift.path[at]), "round": int(rounds[at])}
        for name, at in ends.items()
    }
