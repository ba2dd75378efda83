"""From the records of a study to its table, as far as cpu_budget and datagrams go the same way."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.config.cells import Cell
from copycost.measure.drivers.rates import version_of
from copycost.records.column import Definition
from copycost.records.cpu_attribution import use_of
from copycost.records.derive import Row
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.records.table import make_table


def table_of(
    paths: Iterable[Path], row_of: Callable[[Record, Cell], Row], definition: Definition
) -> pd.DataFrame:
    """Return one row per record, in the order of the paths; see `read_all`."""
    rows = read_all(paths, lambda record: row_of(record, cell_of(record)))
    return make_table(rows, definition)


def begin_row(record: Mapping[str, Any], cell: Cell, definition: Definition) -> dict[str, Any]:
    """Return a row with its key, what every record says, and who used CPU time besides the sides.

    There is no value in any other column.
    """
    row: dict[str, Any] = {
        column.name: None if column.dtype == "str" else math.nan for column in definition.columns
    }
    row.update((name, value) for name, value in cell.key.items() if name in definition.key)
    row.update(
        status=record["status"],
        reason=record["reason"],
        remedy=record["remedy"],
        flags=";".join(sorted({warning["code"] for warning in record["warnings"]})) or None,
        **use_of(record),
    )
    driver = record["driver"]
    if driver is not None:
        # our programs are one pair, whatever the number of connections
        row.update(driver_version=version_of(record), process_pairs=driver.get("process_pairs", 1))
    return row
