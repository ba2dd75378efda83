"""Tables of measurements that were honestly made, and what an audit finds in a table.

They are those of `tools.simulation.honest_tables`: noise with heavy tails, kinks in the curves,
digits as authors print them.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.mapping import FileMapping
from copycost.compare.audit.plausibility import Finding, check_plausibility
from copycost.compare.audit.reader import read_dataset
from copycost.records.columns import COLUMNS
from copycost.records.table import write_table
from tools.simulation.honest_tables import World, table_of

SIZES = (1024, 4096, 16384, 65536, 262144, 1048576)
GUESSED = FileMapping()
PUBLISHED = Path(__file__).parents[4] / "data" / "published"


def honest(
    repetitions: int = 3,
    digits: int | None = 5,
    seed: int = 5,
    noise: str = "heavy",
    level: float = 0.02,
    sizes: tuple[int, ...] = SIZES,
) -> pd.DataFrame:
    """Return a noisy table with all columns, each with noise of its own."""
    world = World(
        sizes=sizes, threads=(1, 2, 4, 8), names=("two_copy", "one_copy", "zero_copy"),
        repetitions=repetitions, noise=noise, level=level, roughness=0.03, limit=None,
        digits=digits, duration_s=5.0, alike=False,
    )  # fmt: skip
    table = table_of(world, np.random.default_rng(seed))
    return table if repetitions > 1 else table.drop(columns="rep")


def read_frame(table: pd.DataFrame, folder: Path, mapping: FileMapping = GUESSED) -> Dataset:
    """Write a table as CSV and read it as a foreign one."""
    path = folder / "made.csv"
    table.to_csv(path, index=False)
    return read_dataset(path, mapping)


def write_cells(cells: pd.DataFrame, folder: Path) -> Path:
    """Write cells of copycost as its own runs do; return the CSV file."""
    cells = cells.reindex(columns=[column.name for column in COLUMNS])
    cells = cells.astype({column.name: column.dtype for column in COLUMNS})
    write_table(cells, folder / "cells.csv", folder / "cells.parquet")
    return folder / "cells.csv"


def findings_of(table: pd.DataFrame, folder: Path) -> list[Finding]:
    """Return what the checks find in a table."""
    return check_plausibility(read_frame(table, folder))
