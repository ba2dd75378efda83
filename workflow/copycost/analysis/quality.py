"""What the checks of the quality table come to under a condition, and what disturbances change."""

import numpy as np
import pandas as pd

from copycost.analysis.compare import compare
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.plain import Facts
from copycost.analysis.quality_table import (
    DISTURBANCES,
    GATES,
    Gate,
    disturbed,
    has_warning,
    quality_table,
)
from copycost.analysis.view import View, largest_block
from copycost.stats.settings import FloatArray

_CELL = ["implementation", "msg_bytes", "n_threads"]


def quality_facts(view: View) -> Facts:
    """Return how many cells break which bound, and what the warned repetitions change.

    Keys
    ----
    n_cells, n_clean
        Cells with a measurement, and those of them that break no bound.
    gates
        Per bound: id, threshold, because, n_cells that break it, and the worst value with its
        cell; None where it was not measured.
    n_warned, n_measured, warnings
        Repetitions that the machine disturbed, of those measured; and per disturbance.
    round_drift
        Throughput of the last round over that of the first, over the cells that have all rounds;
        None with a single round.
    without
        The throughput comparisons made again without warned repetitions: status ``none_warned``,
        ``all_warned`` or ``compared``, n_compared and n_changed (another verdict).
    """
    measured = view.measured
    warned = disturbed(measured)
    table = quality_table(measured)
    flags = table[[f"flag_{gate.id}" for gate in GATES]]
    return {
        "n_cells": len(table),
        "n_clean": int((~flags.any(axis=1)).sum()),
        "gates": [_gate_facts(gate, table) for gate in GATES],
        "n_measured": len(measured),
        "n_warned": int(warned.sum()),
        "warnings": {
            code: n for code in DISTURBANCES if (n := int(has_warning(measured, code).sum()))
        },
        "round_drift": _round_drift(measured),
        "without": _without(view, warned),
    }


def _gate_facts(gate: Gate, table: pd.DataFrame) -> Facts:
    values = table[gate.column].dropna()
    worst = None
    if len(values):
        at = int((values.argmin if gate.breaks == "below" else values.argmax)())
        row = table.loc[values.index[at]]
        worst = {"value": row[gate.column]} | {name: row[name] for name in _CELL}
    return {
        "id": gate.id,
        "threshold": gate.threshold,
        "because": gate.because,
        "n_cells": int(table[f"flag_{gate.id}"].sum()),
        "worst": worst,
    }


def _round_drift(measured: pd.DataFrame) -> float | None:
    table = measured.pivot(index=_CELL, columns="rep", values=THROUGHPUT)
    values = table.to_numpy(dtype=np.float64)
    logs: FloatArray = np.log(values, out=np.full(values.shape, np.nan), where=values > 0.0)
    block = largest_block(logs)
    if block.shape[1] < 2:
        return None
    means = block.mean(axis=0)
    return float(np.exp(means[-1] - means[0]))


def _without(view: View, warned: pd.Series) -> Facts:
    if not warned.any():
        return {"status": "none_warned", "n_compared": 0, "n_changed": 0}
    if warned.all():
        return {"status": "all_warned", "n_compared": 0, "n_changed": 0}
    kept = view.rows.drop(index=warned.index[warned])
    again = compare(kept, view.settings)
    keys = ["implementation", "baseline", "msg_bytes", "n_threads"]
    both = view.ratios[view.ratios["metric"] == THROUGHPUT].merge(
        again[again["metric"] == THROUGHPUT], on=keys, suffixes=("", "_again")
    )
    both = both[(both["n_pairs"] > 0) & (both["n_pairs_again"] > 0)]
    return {
        "status": "compared",
        "n_compared": len(both),
        "n_changed": int((both["verdict"] != both["verdict_again"]).sum()),
    }
