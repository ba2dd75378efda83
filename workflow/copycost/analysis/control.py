"""The control of a run: its reference against itself, measured as every other implementation is."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import logarithms
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts
from copycost.analysis.stats.ratios import paired_ratio
from copycost.analysis.stats.settings import FloatArray


def control_facts(views: Mapping[str, View]) -> Facts | None:
    """Return what the reference's throughput came to against itself, and how it drifted."""
    rows = {slug: view.measured for slug, view in views.items()}
    confidence = next((view.settings.confidence for view in views.values()), 0.0)
    found = control_of(rows, "throughput", THROUGHPUT, confidence)
    return found and found | {"drift": drift_of(rows)}


def drift_of(measured: Mapping[str, pd.DataFrame]) -> Facts | None:
    """Return how far the reference's throughput moved within the run, None where none can tell.

    As standard deviations of the logarithm: from repetition to repetition of a cell, which follow
    one another within seconds, and from cell to cell, minutes away and with the same reference,
    without what the repetitions of a cell account for.
    """
    level, point = f"reference_{THROUGHPUT}", ["condition", "msg_bytes", "n_threads"]
    parts = [
        one[[*POINT, level]].assign(condition=slug)
        for slug, one in measured.items()
        if level in one
    ]
    if not parts:
        return None
    rows = pd.concat(parts).dropna(subset=[level])
    rows["log"] = logarithms(rows[level].to_numpy(np.float64))
    cells = rows.groupby([*point, "implementation"])["log"].agg(["mean", "var", "size"])
    cells = cells[cells["size"] > 1]
    apart = cells.groupby(point)["mean"].var().dropna()
    if apart.empty:
        return None
    between = float(apart.mean() - (cells["var"] / cells["size"]).mean())
    return {"within": float(cells["var"].mean()) ** 0.5, "between": max(between, 0.0) ** 0.5}


def control_of(
    measured: Mapping[str, pd.DataFrame], quantity: str, column: str, confidence: float
) -> Facts | None:
    """Return what a reference came to against itself, None where it was measured nowhere so.

    Every ratio would be 1 but for noise and for what the method itself does. Read are, per
    condition (slug), its measured repetitions, and the column that a quantity is in.
    """
    logs = {slug: found for slug, rows in measured.items() if (found := _logs(rows, column))}
    if not logs:
        return None
    names = {name for slug in logs for name in measured[slug]["reference"].dropna()}
    return {
        "implementations": sorted(names),  # several where the reference changed
        "chance": 1.0
        - confidence,  # share of the cells' intervals that miss 1 without a difference
        quantity: _came_to([one for found in logs.values() for one in found], confidence),
        "conditions": [
            {"slug": slug, quantity: _came_to(found, confidence)} for slug, found in logs.items()
        ],
    }


def _logs(rows: pd.DataFrame, metric: str) -> list[FloatArray]:
    """Return the log ratios of a metric, per cell an array of shape (repetitions,)."""
    if f"reference_{metric}" not in rows:
        return []
    own = rows[rows["implementation"] == rows["reference"]]
    values, beside = (
        logarithms(own[name].to_numpy(np.float64, na_value=np.nan))
        for name in (metric, f"reference_{metric}")
    )
    logs = own[POINT].assign(log=values - beside).dropna()
    return [cell["log"].to_numpy(np.float64) for _, cell in logs.groupby(POINT)]


def _came_to(cells: Sequence[FloatArray], confidence: float) -> Facts:
    """Return the ratio over all repetitions, and how many cells are shown to differ from 1."""
    ratios = [paired_ratio(logs, confidence) for logs in cells if logs.size > 1]
    return ratio_facts(paired_ratio(np.concatenate(cells), confidence)) | {
        "n_tested": len(ratios),
        "n_apart": sum(one.sign != 0 for one in ratios),
    }
