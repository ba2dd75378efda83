"""The repetitions of both sides as logarithms by cell, run and round."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

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

    Of several columns the first is taken, or the second where nobody receives.
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
"""Throughput of streams, CPU time of both sides per byte (where nobody receives, the sender's),
and the median round trip."""


@dataclass(frozen=True)
class Rounds:
    """The measured rounds of one cell in one run, in the order of their numbers.

    `logs` are natural logarithms of their values, `starts` when each began [ns, CLOCK_MONOTONIC];
    both have shape (n,).
    """

    reps: tuple[int, ...]
    logs: FloatArray
    starts: FloatArray
    boots: tuple[str, ...]


RunRounds = dict[Cell, Rounds]
"""A run: its cells, each with its rounds."""


@dataclass(frozen=True)
class Sides:
    """One quantity of all runs of both sides, in the cells that every run has."""

    a: tuple[RunRounds, ...]
    b: tuple[RunRounds, ...]

    @property
    def cells(self) -> list[Cell]:
        """Return the cells, sorted."""
        return sorted(self.a[0])


def rounds_of(results: Results, quantity: Quantity, left_out: Collection[Cell] = ()) -> RunRounds:
    """Return what a run has measured of a quantity, but for cells that are left out."""
    rows = results.repetitions
    nothing = pd.Series(np.nan, index=rows.index)
    columns: list[pd.Series] = [rows.get(name, nothing) for name in quantity.columns]
    values = columns[0]
    if len(columns) > 1:
        values = values.where(rows["testbed"].map(receives_on), columns[1])
    rows = rows.assign(log=logarithms(values.to_numpy(dtype=np.float64, na_value=np.nan)))
    found: RunRounds = {}
    for key, part in rows[rows["log"].notna()].sort_values("rep").groupby(CELL, sort=False):
        if (cell := _cell_of(key)) not in left_out:
            logs, starts = (part[name].to_numpy(np.float64) for name in ("log", "start_ns"))
            reps = tuple(int(rep) for rep in part["rep"])
            found[cell] = Rounds(reps, logs, starts, tuple(part["boot_id"]))
    return found


def sides_of(a: Sequence[RunRounds], b: Sequence[RunRounds]) -> Sides:
    """Return both sides with the cells that all their runs have."""
    common = sorted(set.intersection(*(set(run) for run in (*a, *b))))
    return Sides(*(tuple({cell: run[cell] for cell in common} for run in runs) for runs in (a, b)))


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
    found = rows[CELL].drop_duplicates()
    return {_cell_of(row) for row in found.itertuples(index=False, name=None)}


def _cell_of(key: Any) -> Cell:  # noqa: ANN401 - values of `CELL`, as pandas has them
    study, condition, implementation, msg_bytes, n_threads = key
    return str(study), str(condition), str(implementation), int(msg_bytes), int(n_threads)


def are_interleaved(one: Rounds, other: Rounds) -> bool:
    """Tell whether the k-th rounds of two runs were measured together, before the next of either.

    Only then does a round of one share the state of the machine with one of the other, so that
    pairing them is right. Rounds of two boots never do.
    """
    if not 2 <= len(one.reps) == len(other.reps) or len({*one.boots, *other.boots}) > 1:
        return False
    starts = np.array([one.starts, other.starts])
    return bool((starts.max(axis=0)[:-1] < starts.min(axis=0)[1:]).all())


def together(run: RunRounds, cells: Sequence[Cell]) -> Rounds:
    """Return several cells of a run as one: in each round the mean of their logarithms.

    The cells of a round share what the machine did meanwhile, so that not they but their rounds
    are independent. A round that some of the cells lack is that of the others, each around its own
    mean; one that most lack is left out.
    """
    first = run[cells[0]]
    if all(run[cell].reps == first.reps for cell in cells):
        logs, starts = (
            np.array([getattr(run[cell], name) for cell in cells]) for name in ("logs", "starts")
        )
        return Rounds(first.reps, logs.mean(axis=0), starts.min(axis=0), first.boots)
    by_rep, began = (
        pd.concat([pd.Series(getattr(run[cell], name), run[cell].reps) for cell in cells], axis=1)
        for name in ("logs", "starts")
    )
    kept = by_rep.index[2 * by_rep.notna().sum(axis=1) > len(cells)].sort_values()
    means = by_rep.mean()
    residuals = (by_rep - means).loc[kept].mean(axis=1).to_numpy()
    return Rounds(
        tuple(kept),
        float(means.mean()) + residuals - residuals.mean(),
        began.loc[kept].min(axis=1).to_numpy(),
        first.boots[: len(kept)],
    )
