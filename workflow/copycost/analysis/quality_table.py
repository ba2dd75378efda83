"""How clean each cell's measurements were: `results/tables/quality.csv`.

Flags only: no repetition is left out of anything for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from copycost.analysis.conditions import CELL, with_condition
from copycost.analysis.log_ratios import logarithms
from copycost.analysis.metrics import THROUGHPUT


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound that a cell's repetitions should keep."""

    id: str
    """Name; the flag's column is ``flag_`` and this."""
    column: str
    """Of the quality table, with the value that is held against the bound."""
    breaks: Literal["above", "at least", "below"]
    """Side of the bound on which a value breaks it."""
    threshold: float
    """In the unit of the value."""

    def broken(self, values: pd.Series) -> pd.Series:
        """Tell which values break the bound; one that was not measured does not."""
        if self.breaks == "above":
            return values > self.threshold
        return values >= self.threshold if self.breaks == "at least" else values < self.threshold


DISTURBANCES = ("foreign_load", "steal", "throttled", "window_edge_late", "odd_numbers")
"""Warnings that mean the machine, not the cell, may have made the figure."""

GATES = (
    Gate("spread", "spread", "above", 0.10),
    Gate("halves", "halves", "above", 0.10),
    Gate("drift", "drift", "above", 0.10),
    # so many segments of 1,448 bytes hold a connection with round trips of 100 us to 12 Gbit/s
    # (Mathis et al., 1997)
    Gate("retransmits", "retransmits_per_gigabyte", "at least", 100.0),
    Gate("multiplexed", "min_running_percent", "below", 50.0),
    Gate("few_repetitions", "n", "below", 2.0),
    *(Gate(code, f"n_{code}", "at least", 1.0) for code in DISTURBANCES),
)
"""The bounds, in the order of the table and the text; `QUALITY` describes the columns."""

_USED = [
    "rep", "warnings", THROUGHPUT, "received_bytes", "first_half_share", "tcp_retransmits",
    "sender_min_running_percent", "receiver_min_running_percent",
]  # fmt: skip


def quality_table(cells: pd.DataFrame, key: Sequence[str] = CELL) -> pd.DataFrame:
    """Return, per cell of the cells table, the values that its bounds look at, and which it breaks.

    One row per cell, sorted; see `copycost.analysis.columns.QUALITY`. The columns of `key` name it.
    """
    cells = with_condition(cells)
    # One number per cell: grouping by it is cheaper than by names.
    codes = cells.groupby([*key], sort=True).ngroup()
    keys = cells[[*key]].assign(cell=codes).drop_duplicates().sort_values("cell")
    is_measured = cells["status"] == "measured"
    measured = cells.loc[is_measured, _USED].assign(cell=codes[is_measured])
    for code in DISTURBANCES:
        measured[f"n_{code}"] = has_warning(measured, code)
    groups = measured.groupby("cell")
    rates = groups[THROUGHPUT]
    running = groups[["sender_min_running_percent", "receiver_min_running_percent"]].min()
    sums = groups[["tcp_retransmits", "received_bytes"]].sum(min_count=1)
    received = sums["received_bytes"].where(sums["received_bytes"] > 0.0)
    found = pd.DataFrame(
        {
            "spread": rates.std() / rates.mean(),
            # A first half with a share s of all bytes differs from the second by |4s - 2| x mean.
            "halves": (4.0 * (groups["first_half_share"].median() - 0.5)).abs(),
            "drift": _drift(measured),
            "retransmits_per_gigabyte": sums["tcp_retransmits"] * 1e9 / received,
            "min_running_percent": running.min(axis=1),
        }
    )
    table = keys.set_index("cell").assign(n=groups.size()).join(found)
    counts = groups[[f"n_{code}" for code in DISTURBANCES]].sum()
    table = table.join(counts)
    whole = ["n", *counts.columns]
    table[whole] = table[whole].fillna(0).astype(np.int64)
    lost = measured[disturbed(measured)].sort_values("rep")
    reps = lost["rep"].astype(str).groupby(lost["cell"]).agg(";".join)
    table["disturbed_reps"] = reps.reindex(table.index, fill_value="").tolist()
    for gate in GATES:
        table[f"flag_{gate.id}"] = gate.broken(table[gate.column]).astype(bool)
    return table.reset_index(drop=True)


def disturbed(measured: pd.DataFrame) -> pd.Series:
    """Return, per row of the cells table, whether the machine disturbed it."""
    found = {code: has_warning(measured, code) for code in DISTURBANCES}
    return pd.DataFrame(found, index=measured.index).any(axis=1)


def disturbances(measured: pd.DataFrame) -> dict[str, int]:
    """Return how many rows of a table came with each disturbance, of those that some row has."""
    counts = {code: int(has_warning(measured, code).sum()) for code in DISTURBANCES}
    return {code: n for code, n in counts.items() if n}


def has_warning(measured: pd.DataFrame, code: str) -> pd.Series:
    """Return, per row of the cells table, whether it came with a warning."""
    found = [code in str(text).split(";") for text in measured["warnings"]]
    return pd.Series(found, index=measured.index, dtype=bool)


def _drift(measured: pd.DataFrame) -> pd.Series:
    """Return how far throughput moved along the line through a cell's rounds, as a share."""
    logs = logarithms(measured[THROUGHPUT].to_numpy(dtype=np.float64))
    rounds = measured[["cell"]].assign(x=measured["rep"].astype(float), y=logs).dropna()
    cell, at = rounds["cell"], rounds.groupby("cell")["x"]
    off = rounds[["x", "y"]] - rounds.groupby("cell")[["x", "y"]].transform("mean")
    covariance, variance = ((off["x"] * off[one]).groupby(cell).sum() for one in ("y", "x"))
    # Two rounds always lie on a line; their difference is spread, not drift.
    span = (at.max() - at.min()).where(at.count() >= 3)
    drift: pd.Series = np.expm1(covariance / variance * span).abs()
    return drift
