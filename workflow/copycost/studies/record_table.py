"""The tables of cpu_budget and datagrams, as far as both are defined and made the same way."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.config.cells import Cell
from copycost.measure.drivers.rates import rates_of, version_of
from copycost.records.column import Column, Definition, grouped, number, text
from copycost.records.columns import OUTCOME
from copycost.records.cpu_attribution import (
    cost_columns,
    costs_of,
    status_columns,
    use_columns,
    use_of,
)
from copycost.records.derive import Row
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.records.table import make_table

FLAGS = text("flags", "Codes of the record's warnings, joined by ;", always=True)
DRIVER_VERSION = text("driver_version", "Version of the driver", always=True)
PROCESS_PAIRS = number("process_pairs", "count", "Senders, each with a receiver", always=True)


def define(
    what: str,
    key: tuple[Column, ...],
    *groups: tuple[Column, ...],
    how: tuple[Column, ...] = (FLAGS, DRIVER_VERSION, PROCESS_PAIRS),
) -> Definition:
    """Return the definition of the table of a study: what is its own, amid what all have."""
    columns = (
        *grouped("Key", *key),
        *OUTCOME,
        *(column for group in groups for column in group),
        *status_columns(),
        *use_columns(),
        *cost_columns(),
        *grouped("How it was measured", *how),
    )
    return Definition(what, columns, key=tuple(column.name for column in key), sorted_by=())


def table_of(
    paths: Iterable[Path], row_of: Callable[[Record, Cell], Row], definition: Definition
) -> pd.DataFrame:
    """Return one row per record, in the order of the paths; see `read_all`."""
    rows = read_all(paths, lambda record: row_of(record, cell_of(record)))
    return make_table(rows, definition)


def begin_row(record: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """Return a row's key, what every record says, and rates and CPU use of a measured one."""
    row = {
        **cell.key,
        **{column.name: record[column.name] for column in OUTCOME},
        "flags": ";".join(sorted({warning["code"] for warning in record["warnings"]})) or None,
        **use_of(record),
    }
    if record["driver"] is not None:
        row["driver_version"] = version_of(record)
        # our programs are one pair, whatever the number of connections
        row["process_pairs"] = record["driver"].get("process_pairs", 1)
    if record["status"] == "measured":
        row |= rates_of(record)
        row |= costs_of(row, row["bits_per_s"] / 8)
    return row
