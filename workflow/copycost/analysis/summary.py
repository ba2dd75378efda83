"""Medians and intervals per cell: `results/tables/summary.csv`."""

import numpy as np
import pandas as pd

from copycost.analysis.metrics import SUMMARISED
from copycost.stats.medians import median_intervals
from copycost.stats.settings import StatisticsSettings

CELL = ["study", "testbed", "implementation", "msg_bytes", "n_threads"]
"""Columns that name a cell."""


def summarise(cells: pd.DataFrame, settings: StatisticsSettings) -> pd.DataFrame:
    """Return the median, its interval and the number of repetitions of every cell and metric.

    Parameters
    ----------
    cells
        The cells table: one row per repetition.

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric, sorted: the columns of `CELL`, then metric; n (repetitions
        with a value), n_failed, n_skipped; median, low, high (unit of the metric; NaN where n is
        0, low and high also where n is 1); confidence (0 to 1).
    """
    status = cells["status"]
    counts = (
        cells.assign(
            n_failed=(status == "failed").astype("int64"),
            n_skipped=(status == "skipped").astype("int64"),
        )
        .groupby(CELL, sort=True)[["n_failed", "n_skipped"]]
        .sum()
    )
    measured = cells[status == "measured"]
    parts = [_summarise_metric(measured, metric, counts, settings) for metric in SUMMARISED]
    table = pd.concat(parts, ignore_index=True)
    table["metric"] = pd.Categorical(table["metric"], categories=list(SUMMARISED))
    table = table.sort_values([*CELL, "metric"], kind="stable", ignore_index=True)
    table["metric"] = table["metric"].astype(str)
    return table


def _summarise_metric(
    measured: pd.DataFrame, metric: str, counts: pd.DataFrame, settings: StatisticsSettings
) -> pd.DataFrame:
    known = measured.loc[measured[metric].notna(), [*CELL, metric]]
    sizes = known.groupby(CELL, sort=True).size()
    table = counts.copy()
    table["n"] = sizes.reindex(table.index, fill_value=0).astype("int64")
    for column in ("median", "low", "high"):
        table[column] = np.nan
    # Cells with the same number of repetitions share one draw of resamples.
    per_row = known.groupby(CELL, sort=True)[metric].transform("size")
    for n, rows in known.groupby(per_row, sort=True):
        ordered = rows.sort_values(CELL, kind="stable")
        matrix = ordered[metric].to_numpy(dtype=np.float64).reshape(-1, int(str(n)))
        keys = pd.MultiIndex.from_frame(ordered[CELL].drop_duplicates())
        found = median_intervals(matrix, settings)
        table.loc[keys, "median"] = found.median
        table.loc[keys, "low"] = found.low
        table.loc[keys, "high"] = found.high
    if metric.endswith("_share"):
        table[["low", "high"]] = table[["low", "high"]].clip(0.0, 1.0)
    table["metric"] = metric
    table["confidence"] = settings.confidence
    order = [*CELL, "metric", "n", "n_failed", "n_skipped", "median", "low", "high", "confidence"]
    return table.reset_index()[order]
