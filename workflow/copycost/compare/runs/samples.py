"""The repetitions of both sides as logarithms: by run, round and cell."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.log_ratios import logarithms
from copycost.analysis.stats.settings import FloatArray
from copycost.compare.runs.folders import COSTS, ROUND_TRIP, THROUGHPUT, Results
from copycost.config.testbeds import receives_on

CELL = ["study", "condition", "implementation", "msg_bytes", "n_threads"]
"""Columns that name a cell."""

Cell = tuple[str, str, str, int, int]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity that runs are compared by: its columns, and words for a lower and a higher one.

    Of two columns the second is that of cells where nobody receives.
    """

    name: str
    columns: tuple[str, ...]
    words: tuple[str, str]
    more_is_better: bool = False


QUANTITIES = (
    Quantity("throughput", (THROUGHPUT,), ("slower", "faster"), more_is_better=True),
    Quantity("cpu_time", COSTS, ("cheaper", "more expensive")),
    Quantity("round_trip", (ROUND_TRIP,), ("shorter", "longer")),
)
"""Throughput of streams, CPU time of both sides per byte, and the median round trip."""


@dataclass(frozen=True)
class Sides:
    """One quantity of all runs of both sides, in the `cells` that every run has.

    A run is an array of natural logarithms of shape (n_rounds, n_cells), NaN where a round lacks a
    cell.
    """

    cells: Sequence[Cell]
    a: tuple[FloatArray, ...]
    b: tuple[FloatArray, ...]


def round_means(run: FloatArray, columns: Sequence[int]) -> FloatArray:
    """Return the mean over some cells of a run in each round; shape (n,) without NaN.

    The cells of a round share what the machine did meanwhile, so that not they but their rounds are
    independent. A round that some of the cells lack is that of the others, each around its own
    mean; one that most lack is left out.
    """
    logs = run[:, columns]
    means = np.nanmean(logs, axis=0)
    most = 2 * np.isfinite(logs).sum(axis=1) > len(columns)
    residuals = np.nanmean((logs - means)[most], axis=1)
    found: FloatArray = means.mean() + residuals - residuals.mean()
    return found


def run_mean(run: FloatArray, columns: Sequence[int]) -> float:
    """Return the mean over some cells of a run, each of which counts alike."""
    return float(np.nanmean(run[:, columns], axis=0).mean())


def sides_of(
    a: Sequence[Results], b: Sequence[Results], quantity: Quantity, left_out: Collection[Cell] = ()
) -> Sides:
    """Return both sides in the cells that all their runs have, but for those that are left out."""
    sides = [[_measured(run, quantity) for run in runs] for runs in (a, b)]
    common = set.intersection(*(cells_of(rows) for side in sides for rows in side))
    cells = sorted(common.difference(left_out))
    if not cells:
        return Sides((), (), ())
    one, other = (tuple(_logs_of(rows, cells) for rows in side) for side in sides)
    return Sides(cells, one, other)


def _measured(results: Results, quantity: Quantity) -> pd.DataFrame:
    """Return the repetitions that tell a quantity, with its logarithm in the column `log`."""
    rows = results.repetitions
    nothing = pd.Series(np.nan, index=rows.index)
    columns: list[pd.Series] = [rows.get(name, nothing) for name in quantity.columns]
    values = columns[0]
    for other in columns[1:]:
        values = values.where(rows["testbed"].map(receives_on), other)
    rows = rows.assign(log=logarithms(values.to_numpy(dtype=np.float64, na_value=np.nan)))
    return rows[rows["log"].notna()]


def _logs_of(rows: pd.DataFrame, cells: Sequence[Cell]) -> FloatArray:
    by_rep = rows.pivot(index="rep", columns=CELL, values="log")
    by_rep = by_rep.reindex(columns=pd.MultiIndex.from_tuples(cells, names=CELL))
    return by_rep.dropna(how="all").to_numpy(np.float64)


def shared_cells(a: Sequence[Results], b: Sequence[Results]) -> set[Cell]:
    """Return the cells of which both sides have the very same repetition.

    A run that goes on from another one's records measures only what changed; to compare the rest
    of it would be to compare records with themselves.
    """
    when = [*CELL, "boot_id", "start_ns"]
    one, other = (pd.concat([run.repetitions[when] for run in runs]) for runs in (a, b))
    return cells_of(one.merge(other, on=when))


def cells_of(rows: pd.DataFrame) -> set[Cell]:
    """Return the cells that repetitions are of."""
    return set(rows[CELL].itertuples(index=False, name=None))
