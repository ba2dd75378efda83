"""What the data dictionary says of each table, and what a run's tables have."""

import csv
from pathlib import Path

from copycost.studies.data_dictionary import TABLES


def assert_documented(results: Path, *tables: str) -> None:
    """Hold the tables of a run, these among them, to the data dictionary: exactly its columns."""
    found = {}
    for path in (results / "tables").glob("*.csv"):
        if path.name != "columns.csv":
            with path.open(newline="", encoding="utf-8") as table:
                found[path.name] = tuple(next(csv.reader(table)))
    assert set(tables) <= set(found)
    assert found == {name: TABLES[name].names for name in found}
