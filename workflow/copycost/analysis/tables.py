"""Reading and writing the tables that are derived from the table of cells, both checked.

Which of them a file holds, its name says.
"""

from pathlib import Path

import pandas as pd

from copycost.analysis.columns import FINDINGS, QUALITY, RATIOS, SUMMARY
from copycost.records import table as tables

_BY_NAME = {"summary": SUMMARY, "ratios": RATIOS, "quality": QUALITY, "findings": FINDINGS}


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Check a table and write it as CSV, numbers in full; see `copycost.records.table`."""
    tables.write_table(table, path, None, _BY_NAME[path.stem])


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote and check it; see `copycost.records.table`."""
    return tables.read_table(path, _BY_NAME[path.stem])
