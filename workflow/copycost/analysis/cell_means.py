"""Means over the cells of a condition, paired by round: of a column, or of its share in another."""

import numpy as np

from copycost.analysis.condition_view import View, complete_block
from copycost.analysis.conditions import POINT
from copycost.stats.estimates import Mean, mean_estimate
from copycost.stats.settings import FloatArray


def mean_over_cells(view: View, part: str, whole: str | None = None) -> Mean | None:
    """Return the mean of a column, or of its share in `whole`, over the cells that have it.

    None where no cell has it in every round that counts (`complete_block`).
    """
    shares = _by_round(view, part)
    if whole is not None:
        below = _by_round(view, whole)
        shares = np.divide(shares, below, out=np.full(below.shape, np.nan), where=below > 0.0)
    cells, rounds = complete_block(shares)
    if not cells.size:
        return None
    return mean_estimate(shares[np.ix_(cells, rounds)].mean(axis=0), view.settings)


def _by_round(view: View, column: str) -> FloatArray:
    """Return a column, shape (n_cells, n_rounds); NaN where a round lacks the cell."""
    wide = view.measured.pivot(index=POINT, columns="rep", values=column)
    return wide.to_numpy(dtype=np.float64, na_value=np.nan)
