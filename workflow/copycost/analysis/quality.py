"""How clean the measurements were. Flags only: no repetition is left out of any answer."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.compare import compare
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.plain import Facts
from copycost.analysis.view import View, largest_block
from copycost.stats.settings import FloatArray

DISTURBANCES = ("foreign_load", "steal", "throttled", "window_edge_late")
"""Warnings that mean the machine, not the cell, may have made the figure."""

_CELL = ["implementation", "msg_bytes", "n_threads"]


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound that a cell's repetitions should keep; `because` says why there."""

    id: str
    threshold: float
    because: str


SPREAD = Gate("spread", 0.10, "relative standard deviation of the throughput over the rounds")
HALVES = Gate("halves", 0.10, "difference of the window's halves, as a share of their mean")
RETRANSMITS = Gate("retransmits", 1.0, "segments sent twice per gigabyte; the path loses none")
MULTIPLEXED = Gate("multiplexed", 50.0, "percent of the window in which an event was counted")
FEW = Gate("few_repetitions", 3.0, "measured repetitions that an interval should rest on")
GATES = (SPREAD, HALVES, RETRANSMITS, MULTIPLEXED, FEW)


def quality_facts(view: View) -> Facts:
    """Return how many cells break which bound, and what the warned repetitions change.

    Keys
    ----
    n_cells
        Cells with a measurement.
    gates
        Per bound: id, threshold, because, n_cells that break it.

    Warnings
    --------
        Per disturbance: repetitions that came with it; `n_warned` of `n_measured` have any.
    round_drift
        Throughput of the last round over that of the first, over the cells that have all rounds;
        None with a single round.
    without
        The throughput comparisons made again without warned repetitions: status ``none_warned``,
        ``all_warned`` or ``compared``, n_compared and n_changed (another verdict).
    """
    measured = view.measured
    cells = measured.groupby(_CELL, sort=True)
    rates = cells[THROUGHPUT]
    running = cells[["sender_min_running_percent", "receiver_min_running_percent"]].min()
    broken = {
        SPREAD: rates.std() / rates.mean() > SPREAD.threshold,
        # A first half that has a share s of all bytes differs from the second by |2s - 1| x mean.
        HALVES: (4.0 * (cells["first_half_share"].median() - 0.5)).abs() > HALVES.threshold,
        RETRANSMITS: cells["tcp_retransmits"].sum() * 1e9 / cells["received_bytes"].sum()
        >= RETRANSMITS.threshold,
        MULTIPLEXED: running.min(axis=1) < MULTIPLEXED.threshold,
        FEW: cells.size() < FEW.threshold,
    }
    warned = warned_rows(measured)
    return {
        "n_cells": cells.ngroups,
        "gates": [
            {
                "id": gate.id,
                "threshold": gate.threshold,
                "because": gate.because,
                "n_cells": int(broken[gate].sum()),
            }
            for gate in GATES
        ],
        "n_measured": len(measured),
        "n_warned": int(warned.sum()),
        "warnings": {code: n for code in DISTURBANCES if (n := int(_has(measured, code).sum()))},
        "round_drift": _round_drift(measured),
        "without": _without(view, warned),
    }


def warned_rows(measured: pd.DataFrame) -> pd.Series:
    """Return, per row of the cells table, whether the machine disturbed it."""
    warned = pd.Series(False, index=measured.index)
    for code in DISTURBANCES:
        warned |= _has(measured, code)
    return warned


def _has(measured: pd.DataFrame, code: str) -> pd.Series:
    found = [code in str(text).split(";") for text in measured["warnings"]]
    return pd.Series(found, index=measured.index, dtype=bool)


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
