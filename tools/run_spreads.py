"""How far real runs of the same thing differ, which is what docs/between_runs.md tells.

    PYTHONPATH=workflow python -m tools.run_spreads RESULTS... > docs/between_runs.csv
    PYTHONPATH=workflow python -m tools.run_spreads docs/between_runs.csv

Of several results folders it makes a table of their rounds, and of such a table the spreads.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.compare.runs.folders import read_results
from copycost.compare.runs.samples import (
    CELL,
    QUANTITIES,
    Rounds,
    RunRounds,
    Sides,
    rounds_of,
    sides_of,
)
from copycost.compare.runs.verdicts import spread_of_runs


def collect(folders: Sequence[Path]) -> pd.DataFrame:
    """Return the mean logarithm of each cell in each run, with the scatter of its rounds."""
    rows = []
    runs = [read_results(folder) for folder in folders]
    for quantity in QUANTITIES:
        sides = sides_of([rounds_of(run, quantity) for run in runs], [rounds_of(runs[0], quantity)])
        for number, run in enumerate(sides.a, 1):
            for cell, of in run.items():
                rows += [
                    {"quantity": quantity.name, **dict(zip(CELL, cell, strict=True)),
                     "run": number, "rep": rep, "log": round(float(log), 6)}
                    for rep, log in zip(of.reps, of.logs, strict=True)
                ]  # fmt: skip
    return pd.DataFrame(rows)


def measured_sides(table: pd.DataFrame, quantity: str) -> tuple[RunRounds, ...]:
    """Return the runs that a table of `collect` holds."""
    runs = []
    for _, run in table[table["quantity"] == quantity].groupby("run"):
        found: RunRounds = {}
        for key, part in run.groupby(CELL, sort=False):
            n = len(part)
            found[tuple(key)] = Rounds(  # type: ignore[index]
                tuple(part["rep"]), part["log"].to_numpy(), np.arange(n, dtype=float), ("",) * n
            )
        runs.append(found)
    return tuple(runs)


@dataclass(frozen=True, slots=True)
class Spread:
    """How far runs of one thing differ in a quantity, as standard deviations of logarithms.

    `rounds` is from round to round within a run, of the middle cell; `middle` and `largest` of a
    run's mean from run to run, of the middle cell and of the one with the largest. `beyond_rounds`
    and `whole` are what is left of the middle cell's, and of the mean of all cells, without the
    part that follows from the scatter within runs.
    """

    quantity: str
    n_cells: int
    n_runs: int
    rounds: float
    middle: float
    largest: float
    beyond_rounds: float
    whole: float


def spreads(table: pd.DataFrame) -> list[Spread]:
    """Return the measured spreads of each quantity."""
    told = []
    for quantity in table["quantity"].unique():
        runs = measured_sides(table, quantity)
        found = spread_of_runs(Sides(runs, ()))
        assert found is not None
        cells = np.array([[run[cell].logs.mean() for cell in runs[0]] for run in runs])
        totals = cells.std(axis=0, ddof=1)
        rounds = np.median([of.logs.std(ddof=1) for run in runs for of in run.values()])
        told.append(Spread(
            quantity, len(runs[0]), len(runs), float(rounds), float(np.median(totals)),
            float(totals.max()), found.cell, found.whole,
        ))  # fmt: skip
    return told


def main(arguments: Sequence[str]) -> None:
    """Print a table of the rounds of results folders, or the spreads of such a table."""
    paths = [Path(each) for each in arguments]
    if paths[0].is_dir():
        collect(paths).to_csv(sys.stdout, index=False, lineterminator="\n")
    else:
        told = pd.DataFrame(spreads(pd.read_csv(paths[0])))
        told.to_csv(sys.stdout, index=False, lineterminator="\n", float_format="%.4f")


if __name__ == "__main__":
    main(sys.argv[1:])
