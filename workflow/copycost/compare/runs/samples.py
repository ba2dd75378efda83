"""The repetitions of both sides as logarithms: by run, round and cell."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.log_ratios import logarithms
from copycost.compare.runs.folders import COSTS, ROUND_TRIP, THROUGHPUT, Results
from copycost.config.testbeds import receives_on
from copycost.stats.settings import FloatArray

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
class RunLogs:
    """One quantity of a run: natural logarithms of shape (n_rounds, n_cells), NaN in gaps.

    `starts` has the same shape: when each repetition began [ns, CLOCK_MONOTONIC]. `boots` are the
    boots of the host in which they were measured.
    """

    logs: FloatArray
    starts: FloatArray
    boots: frozenset[str]

    def round_means(self, columns: Sequence[int]) -> FloatArray:
        """Return the mean over some cells in each round; shape (n,) without NaN.

        The cells of a round share what the machine did meanwhile, so that not they but their rounds
        are independent. A round that some of the cells lack is that of the others, each around its
        own mean; one that most lack is left out.
        """
        logs = self.logs[:, columns]
        means = np.nanmean(logs, axis=0)
        most = 2 * np.isfinite(logs).sum(axis=1) > len(columns)
        residuals = np.nanmean((logs - means)[most], axis=1)
        found: FloatArray = means.mean() + residuals - residuals.mean()
        return found

    def mean(self, columns: Sequence[int]) -> float:
        """Return the mean over some cells, each of which counts alike."""
        return float(np.nanmean(self.logs[:, columns], axis=0).mean())


@dataclass(frozen=True)
class Sides:
    """One quantity of all runs of both sides, in the `cells` that every run has."""

    cells: Sequence[Cell]
    a: tuple[RunLogs, ...]
    b: tuple[RunLogs, ...]


def sides_of(
    a: Sequence[Results], b: Sequence[Results], quantity: Quantity, left_out: Collection[Cell] = ()
) -> Sides:
    """Return both sides in the cells that all their runs have, but for those that are left out."""
    sides = [[_measured(run, quantity) for run in runs] for runs in (a, b)]
    common = set.intersection(*(cells_of(rows) for side in sides for rows in side))
    cells = sorted(common.difference(left_out))
    if not cells:
        return Sides((), (), ())
    one, other = (tuple(_run_logs(rows, cells) for rows in side) for side in sides)
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


def _run_logs(rows: pd.DataFrame, cells: Sequence[Cell]) -> RunLogs:
    by_cell = rows.set_index(["rep", *CELL]).sort_index()
    columns = pd.MultiIndex.from_tuples(cells, names=CELL)
    logs, starts = (
        by_cell[name].unstack(CELL).reindex(columns=columns).dropna(how="all").to_numpy(np.float64)
        for name in ("log", "start_ns")
    )
    return RunLogs(logs, starts, frozenset(rows["boot_id"]))


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


def are_interleaved(one: RunLogs, other: RunLogs) -> bool:
    """Tell whether, in every cell, the k-th rounds of both came before the next round of either.

    Only then does a round of one share the state of the machine with one of the other, so that
    pairing them is right. Rounds of two boots never do.
    """
    if len(one.boots | other.boots) > 1:
        return False
    for columns in zip(one.starts.T, other.starts.T, strict=True):
        a, b = (starts[np.isfinite(starts)] for starts in columns)
        if not 2 <= a.size == b.size:
            return False
        if not (np.maximum(a, b)[:-1] < np.minimum(a, b)[1:]).all():
            return False
    return True
