"""All records of the grid become one checked table."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from copycost.errors import DataError
from copycost.grid.cells import Cell
from copycost.records.derive import derive_row
from copycost.records.reading import read_all
from copycost.records.table import make_table, write_table

_LOG = logging.getLogger(__name__)


def collect_tables(paths: Sequence[Path], csv: Path, parquet: Path) -> pd.DataFrame:
    """Read the records of the grid and write the table of cells, as CSV and as Parquet.

    Parameters
    ----------
    paths
        One record per repetition of the grid; each path says which repetition it has to be.

    Returns
    -------
    pandas.DataFrame
        The table written; one row per path, that of a failed repetition where a record is lost.
    """
    table = make_table(read_all(paths, derive_row))
    write_table(table, csv, parquet)
    return table


def foreign_files(raw: Path, paths: Iterable[Path]) -> tuple[list[Path], int]:
    """Return the files below `raw` that are no records, and the number of records not asked for.

    The latter are left from a larger grid: they are kept, since the grid may grow back, and do not
    enter the table. `paths` begin as `raw` does, both relative or both absolute.
    """
    expected = set(paths)
    foreign: list[Path] = []
    n_outside = 0
    for path in raw.rglob("*"):
        if path in expected or path.is_dir():
            continue
        try:
            Cell.from_path(str(path))
        except DataError:
            foreign.append(path)
        else:
            n_outside += 1
    return sorted(foreign), n_outside


def warn_about_foreign_files(raw: Path, paths: Iterable[Path]) -> list[str]:
    """Log, and return, a sentence per file below `raw` that does not belong there."""
    foreign, n_outside = foreign_files(raw, paths)
    if n_outside:
        _LOG.info("%d records outside of the present grid are left out", n_outside)
    sentences = [
        f"{path}: not a record of copycost; ignored, move it elsewhere" for path in foreign
    ]
    for sentence in sentences:
        _LOG.warning(sentence)
    return sentences
