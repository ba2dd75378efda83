"""The control of a run: its reference against itself, measured as every other way is."""

from collections.abc import Mapping, Sequence

import numpy as np

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT
from copycost.analysis.json_values import Facts
from copycost.analysis.log_values import logarithms
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.ratio_facts import ratio_facts, ratio_sign
from copycost.stats.ratios import paired_ratio
from copycost.stats.settings import FloatArray

_NAMES = ("throughput", "cpu_time")


def control_facts(views: Mapping[str, View]) -> Facts | None:
    """Return what a reference came to against itself, None where it was measured nowhere so.

    Every ratio would be 1 but for noise and for what the method itself does.

    Keys
    ----
    implementations
        The reference; several where it changed.
    chance
        Share of the cells' intervals that miss 1 though nothing differs.
    throughput, cpu_time
        Of all cells, and CPU time per byte of both sides or the only one: the keys of
        `ratio_facts`, n being repetitions, each of which counts by itself; n_cells; n_tested,
        cells with an interval of their own, and n_apart, those of them that it shows to differ from
        1; spread, the standard deviation of a repetition's log ratio within its cell (None where
        all cells have one repetition). None where not counted.
    conditions
        Per condition that has such repetitions: slug, throughput and cpu_time.
    """
    columns = {slug: (THROUGHPUT, view.per_byte("cpu_ns")) for slug, view in views.items()}
    logs = {
        slug: {name: _logs(view, one) for name, one in zip(_NAMES, columns[slug], strict=True)}
        for slug, view in views.items()
    }
    logs = {slug: found for slug, found in logs.items() if found["throughput"]}
    if not logs:
        return None
    names = {name for slug in logs for name in views[slug].measured["reference"].dropna()}
    confidence = views[next(iter(logs))].settings.confidence
    whole = {name: [cell for found in logs.values() for cell in found[name]] for name in _NAMES}
    return {
        "implementations": sorted(names),
        "chance": 1.0 - confidence,
        **{name: _came_to(cells, confidence) for name, cells in whole.items()},
        "conditions": [
            {"slug": slug} | {name: _came_to(found[name], confidence) for name in _NAMES}
            for slug, found in logs.items()
        ],
    }


def _logs(view: View, metric: str) -> list[FloatArray]:
    """Return the log ratios of a metric, per cell an array of shape (repetitions,)."""
    rows = view.measured
    if f"reference_{metric}" not in rows:
        return []
    own = rows[rows["implementation"] == rows["reference"]]
    values, beside = (
        logarithms(own[name].to_numpy(np.float64, na_value=np.nan))
        for name in (metric, f"reference_{metric}")
    )
    logs = own[POINT].assign(log=values - beside).dropna()
    return [cell["log"].to_numpy(np.float64) for _, cell in logs.groupby(POINT)]


def _came_to(cells: Sequence[FloatArray], confidence: float) -> Facts | None:
    if not cells:
        return None
    ratios = [paired_ratio(logs, confidence) for logs in cells if logs.size > 1]
    squares = sum(float(((logs - logs.mean()) ** 2).sum()) for logs in cells)
    freedom = sum(logs.size - 1 for logs in cells)
    return ratio_facts(paired_ratio(np.concatenate(cells), confidence)) | {
        "n_cells": len(cells),
        "n_tested": len(ratios),
        "n_apart": sum(ratio_sign(one) != 0 for one in ratios),
        "spread": (squares / freedom) ** 0.5 if freedom else None,
    }
