"""What the checks of the quality table come to, and what would be said without what they flag.

Nothing is ever left out.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import CELL, POINT
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import logarithms
from copycost.analysis.metrics import THROUGHPUT
from copycost.analysis.quality_table import GATES, disturbances, disturbed, quality_table
from copycost.analysis.stats.modes import FEWEST
from copycost.analysis.tables import compare

_PAIR = ["implementation", "baseline", "msg_bytes", "n_threads"]


def flagged_repetitions(measured: pd.DataFrame, quality: pd.DataFrame) -> pd.Series:
    """Return which measured repetitions the checks of a quality table flag.

    A disturbance, halves that differ, retransmits and multiplexing are of a repetition. Spread and
    drift are of a cell; of one that breaks their bound, the repetition furthest from the cell's
    median is taken. Where there are too few repetitions, leaving out some would help nobody, so
    these are not flagged.
    """
    each = quality_table(measured, [*CELL, "rep"])
    own = [f"flag_{gate.id}" for gate in GATES if gate.id != "few_repetitions"]
    of_cell = _has_flag(measured, quality, ["flag_spread", "flag_drift"])
    return _has_flag(measured, each, own) | (_furthest(measured) & of_cell)


def _has_flag(measured: pd.DataFrame, quality: pd.DataFrame, flags: Sequence[str]) -> pd.Series:
    """Return, per repetition, whether it has any of some flags, by its row or its cell's."""
    key = [name for name in (*POINT, "rep") if name in quality]
    flagged = quality.set_index(key)[[*flags]].any(axis=1)
    here = flagged.reindex(pd.MultiIndex.from_frame(measured[key])).to_numpy(dtype=bool)
    return pd.Series(here, measured.index)


def _furthest(measured: pd.DataFrame) -> pd.Series:
    """Return which repetition of each cell is furthest from the cell's median, as a ratio."""
    logs = logarithms(measured[THROUGHPUT].to_numpy(dtype=np.float64))
    rows = measured[POINT].assign(log=logs)
    rows["off"] = (rows["log"] - rows.groupby(POINT)["log"].transform("median")).abs()
    most = rows.groupby(POINT)["off"].transform("max")
    # Of two that are equally far, the first.
    at = rows[rows["off"] == most].drop_duplicates(POINT).index
    return pd.Series(measured.index.isin(at), index=measured.index)


def without_facts(view: View, flagged: pd.Series) -> Facts:
    """Return what the throughput comparisons would say without some repetitions.

    Told is of how many that can be made with and without them the verdict is another. Where one
    round is left, there is no verdict, so no other one; but a comparison made in one round alone
    counts where that round is left.
    """
    if not flagged.any() or flagged.all():
        return {"status": "all" if flagged.any() else "none", "n_compared": 0, "n_changed": 0}
    # not dropped: a comparison with a reference needs no repetition of the reference's own
    out = view.rows.index.isin(flagged.index[flagged])
    kept = view.rows.assign(status=view.rows["status"].mask(out, "skipped"))
    again = compare(kept, view.settings, (THROUGHPUT,))
    both = view.throughput_ratios.merge(again, on=_PAIR, suffixes=("", "_again"))
    both = both[both["n_pairs_again"] >= both["n_pairs"].clip(upper=2)]
    return {
        "status": "compared",
        "n_compared": len(both),
        "n_changed": int((both["verdict"] != both["verdict_again"]).sum()),
    }


def quality_facts(view: View) -> Facts:
    """Return how many cells break which bound, and what the flagged repetitions change."""
    measured = view.measured
    table = quality_table(measured)
    flags = table[[f"flag_{gate.id}" for gate in GATES]]
    medians = view.medians(THROUGHPUT)
    return {
        "n_cells": len(table),
        "n_clean": int((~flags.any(axis=1)).sum()),
        "gates": [
            {"id": gate.id, "n_cells": int(table[f"flag_{gate.id}"].sum())} for gate in GATES
        ],
        "n_measured": len(measured),
        "n_warned": int(disturbed(measured).sum()),
        "warnings": disturbances(measured),
        # cells whose throughputs fall into two clusters, and whether any has enough repetitions
        "modes": medians.loc[medians["n_lower"] > 0, POINT].to_dict("records"),
        "modes_told": bool((table["n"] >= FEWEST).any()),
        "without_flagged": without_facts(view, flagged_repetitions(measured, table)),
    }
