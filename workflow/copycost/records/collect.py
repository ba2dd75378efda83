"""All records of the grid become one checked table."""

import logging
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from copycost.config.cells import Cell
from copycost.errors import DataError
from copycost.records.derive import derive_row
from copycost.records.reading import read_all
from copycost.records.table import make_table, write_table

_LOG = logging.getLogger(__name__)


def collect_tables(paths: Sequence[Path], csv: Path, parquet: Path) -> pd.DataFrame:
    """Read the records of the grid and write the table of cells, as CSV and as Parquet.

    It has a row per path, which says which repetition it has to be; that of a failed one where a
    record is lost.
    """
    table = make_table(read_all(paths, derive_row))
    write_table(table, csv, parquet)
    return table


def foreign_files(raw: Path) -> list[str]:
    """Log, and return, a sentence per file below `raw` that is no record, and is not looked at.

    Records that are not asked for are left from a larger grid, which may grow back.
    """
    sentences = []
    for path in sorted(raw.rglob("*")):
        try:
            Cell.from_path(str(path))
        except DataError:
            if path.is_file():
                sentences.append(f"{path}: not a record of copycost; ignored, move it elsewhere")
                _LOG.warning(sentences[-1])
    return sentences
