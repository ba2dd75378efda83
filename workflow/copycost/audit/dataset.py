"""A foreign table as data: one row per repetition, SI units, and how precise its digits are."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.audit.mapping import FileMapping, Meaning
from copycost.audit.message import Message
from copycost.audit.quantities import DATASET, IMPLEMENTATION, REP, SIZE, THREADS

KEYS = (DATASET, IMPLEMENTATION, SIZE, THREADS, REP)
CELL = (DATASET, IMPLEMENTATION, SIZE, THREADS)


@dataclass(frozen=True)
class Dataset:
    """Measurements that somebody else made.

    Attributes
    ----------
    name
        What the report calls it: the file's name without its ending.
    path, digest
        The file, and the SHA-256 of its content.
    table
        One row per repetition: the columns of `KEYS`, then one column per quantity that the file
        has, in SI units (bits per second, seconds, bytes, counts), NaN where it has no value.
    steps
        For each quantity the smallest step that the digits of a value tell; same rows.
    times
        When each row was measured: `start` and `end` [s since some moment], NaN where not told.
    meanings
        What became of each column of the file.
    implementations
        The file's name of an implementation to the report's.
    notes
        What had to be decided, dropped or assumed.
    mapping
        The mapping file's content.
    copycost_cells
        The file itself, where it is a table of cells of copycost.
    """

    name: str
    path: Path
    digest: str
    table: pd.DataFrame
    steps: pd.DataFrame
    times: pd.DataFrame
    meanings: tuple[Meaning, ...]
    implementations: dict[str, str]
    notes: tuple[Message, ...]
    mapping: FileMapping
    copycost_cells: pd.DataFrame | None = None

    @property
    def quantities(self) -> list[str]:
        """Return the quantities that the file has, in the order of its columns."""
        return [str(name) for name in self.table.columns if name not in KEYS]

    def has(self, quantity: str) -> bool:
        """Tell whether any cell has a value of a quantity."""
        return quantity in self.table and bool(self.table[quantity].notna().any())

    def is_counted(self, quantity: str) -> bool:
        """Tell whether a quantity was measured; what reads 0 throughout was not."""
        return self.has(quantity) and bool((self.table[quantity].fillna(0.0) != 0.0).any())

    @property
    def datasets(self) -> list[str]:
        """Return the names in the column `dataset`, in the file's order."""
        return [str(name) for name in self.table[DATASET].unique()]


def moved_bytes(table: pd.DataFrame) -> pd.Series:
    """Return the bytes that each repetition moved: as told, or from throughput and duration."""
    told = _column(table, "bytes")
    computed = _column(table, "throughput") * _column(table, "duration") / 8.0
    by_messages = _column(table, "messages") * table[SIZE]
    return told.fillna(computed).fillna(by_messages)


def _column(table: pd.DataFrame, name: str) -> pd.Series:
    if name in table:
        return table[name]
    return pd.Series(np.nan, index=table.index)
