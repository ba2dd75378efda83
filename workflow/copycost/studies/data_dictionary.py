"""The data dictionary of a run: what each column of its tables is, from their definitions."""

import csv
import io
from collections.abc import Mapping
from types import MappingProxyType

from copycost.analysis.columns import FINDINGS, QUALITY, RATIOS, SUMMARY
from copycost.records.column import Column, Definition
from copycost.records.columns import CELLS, EVENT_STATUSES
from copycost.records.cpu_attribution import GUEST_STATUSES
from copycost.studies.cpu_budget.records import CPU_BUDGET
from copycost.studies.datagrams.records import DATAGRAMS
from copycost.studies.profile.columns import SHARES
from copycost.studies.round_trips.table import CURVES, ROUND_TRIPS
from copycost.studies.simulated.counts import FUNCTIONS, SIMULATED

TABLES: Mapping[str, Definition] = MappingProxyType(
    {
        "cells.csv": CELLS,
        "summary.csv": SUMMARY,
        "ratios.csv": RATIOS,
        "quality.csv": QUALITY,
        "findings.csv": FINDINGS,
        "round_trips.csv": ROUND_TRIPS,
        "round_trip_curves.csv": CURVES,
        "cpu_budget.csv": CPU_BUDGET,
        "datagrams.csv": DATAGRAMS,
        "simulated.csv": SIMULATED,
        "simulated_functions.csv": FUNCTIONS,
        **{f"{name}.csv": definition for name, definition in SHARES.items()},
    }
)
"""The definition of each CSV file in results/tables."""

_HEAD = ("table", "column", "key", "type", "unit", "group", "meaning", "values")


def columns_csv() -> str:
    """Return the data dictionary as CSV, a row per table and column."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEAD)
    for table, definition in TABLES.items():
        for column in definition.columns:
            key = "key" if column.name in definition.key else ""
            writer.writerow((table, column.name, key, column.dtype, column.unit, column.group,
                             column.description, _values(column)))  # fmt: skip
    return text.getvalue()


def _values(column: Column) -> str:
    """Return the only texts that a column may have, each with its meaning where it has one."""
    for statuses in (EVENT_STATUSES, GUEST_STATUSES):
        if column.allowed == tuple(statuses):
            return "; ".join(f"{name}: {meaning}" for name, meaning in statuses.items())
    return "; ".join(column.allowed or ())
