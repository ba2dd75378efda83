"""The description of all tables, written from their definitions.

``python -m tools.document_tables > docs/tables.md`` brings the committed page up to date;
a test compares the two.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from copycost.analysis.columns import QUALITY, RATIOS, SUMMARY
from copycost.records.column import Column, Definition
from copycost.records.columns import CELLS, EVENT_STATUSES
from copycost.records.parties import GUEST_STATUSES
from copycost.studies.cpu_budget.columns import CPU_BUDGET
from copycost.studies.datagrams.columns import DATAGRAMS
from copycost.studies.profile.columns import SHARES
from copycost.studies.round_trips.columns import CURVES, ROUND_TRIPS
from copycost.studies.simulated.columns import FUNCTIONS as SIMULATED_FUNCTIONS
from copycost.studies.simulated.columns import SIMULATED

_TYPES = {
    "str": "text",
    "int64": "whole number",
    "float64": "number",
    "bool": "true, false",
    "boolean": "true, false",
}
_INTRODUCTION = """\
# The tables

In `results/tables/`. An empty field (CSV) or a null (Parquet) means that there is no value; 0 is
always a measured 0. Units are given for numbers; 1 marks a plain ratio. What a table is checked
for, whenever it is written or read, stands in `check_table` of
`workflow/copycost/records/table.py`: among others that no two rows share what names a row, that
numbers are finite and within their bounds, and that a repetition that was skipped or failed has its
reason and no measured values.

This page is written from the definitions of the columns, which stand beside the code that makes
each table (`PYTHONPATH=workflow python -m tools.document_tables > docs/tables.md`).
"""


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the page: its files, what one row is, and its definition."""

    files: str
    about: str
    definition: Definition


_CELLS = """\
`cells.csv` and `cells.parquet` hold the same tidy table: one row is one repetition of one cell, and
every repetition of the grid has its row. Read it with `copycost.records.table.read_table`, which
checks it and gives every column its type, or with anything that reads Parquet:

```python
import pandas

cells = pandas.read_parquet("results/tables/cells.parquet")
measured = cells[cells.status == "measured"]
print(measured.groupby(["implementation", "msg_bytes"]).throughput_bits_per_s.median() / 1e9)
```
"""
_ROUND_TRIPS = """\
One row per repetition of the study `round_trips`: a client sends a message and waits for a reply of
the same size. Every round trip of the window is measured. With an interval between requests it is
measured from the moment at which its request was due, not from when it was sent, so that a reply
that comes late also counts for the requests that had to wait for it (leaving these out is known as
coordinated omission). TCP_NODELAY is on unless the configuration says otherwise.
"""
_CURVES = "One row per percentile of each repetition of `round_trips` that was measured.\n"
_SUMMARY = """\
One row per cell and metric, a column of the table of cells: its median over the repetitions.
"""
_RATIOS = """\
One row per cell, pair of implementations and metric, also where nothing was measured: two
implementations compared, by their ratios to the reference beside them where they have one, else in
the same round. Where nobody receives, costs are the sender's alone.
"""
_QUALITY = """\
One row per cell: how clean its measurements were, with a flag per check. No repetition is left out
of anything for them.
"""
_DRIVEN = """\
One row per repetition of the study `{study}`, in the order of the grid. The records behind it,
`results/raw/{study}/`, hold what iperf3 or our programs printed, whole.
"""
_SHARES = """\
One row per cell, side and {about}: shares of its samples and what they come to, median over the
repetitions, with intervals where there are two or more. [profile.md](profile.md) says more.
"""
_SIMULATED = """\
One row per cell of the study `simulated` and side: what a model of the caches counts in a guest
that runs our programs and a kernel. No times, and no repetitions, since two runs count the same.
The records behind it are `results/raw/simulated/`.
"""
_SIMULATED_FUNCTIONS = """\
One row per cell of the study `simulated`, side and function of the kernel that ran in the window.
"""
_TABLES = (
    _Table("cells.csv, cells.parquet", _CELLS, CELLS),
    _Table("summary.csv", _SUMMARY, SUMMARY),
    _Table("ratios.csv", _RATIOS, RATIOS),
    _Table("quality.csv", _QUALITY, QUALITY),
    _Table("round_trips.csv", _ROUND_TRIPS, ROUND_TRIPS),
    _Table("round_trip_curves.csv", _CURVES, CURVES),
    _Table("cpu_budget.csv", _DRIVEN.format(study="cpu_budget"), CPU_BUDGET),
    _Table("datagrams.csv", _DRIVEN.format(study="datagrams"), DATAGRAMS),
    _Table("simulated.csv", _SIMULATED, SIMULATED),
    _Table("simulated_functions.csv", _SIMULATED_FUNCTIONS, SIMULATED_FUNCTIONS),
    *(
        _Table(f"{name}.csv", _SHARES.format(about=shares.key[-1].replace("_", " ")), shares)
        for name, shares in SHARES.items()
    ),
)
_STATUSES = (
    (
        EVENT_STATUSES,
        "A counter has a value where its status is `counted` or `multiplexed`, and none otherwise",
    ),
    (GUEST_STATUSES, "A guest has values where its status is `counted`, and none otherwise"),
)
_HEAD = "| Column | Type | Unit | Meaning |\n| --- | --- | --- | --- |\n"


def table_page() -> str:
    """Return the Markdown page that describes every column with type, unit and meaning."""
    known: set[Column] = set()
    return "".join([_INTRODUCTION, *(part for table in _TABLES for part in _parts(table, known))])


def _parts(table: _Table, known: set[Column]) -> Iterator[str]:
    """Yield the description of a table, of columns that are not known yet, which it adds."""
    columns = table.definition.columns
    yield f"\n## {table.files}\n\n{table.about}"
    key = ", ".join(f"`{name}`" for name in table.definition.key)
    yield f"\nA row is named by {key}.\n"
    if above := [f"`{column.name}`" for column in columns if column in known]:
        yield f"\nAs in the tables above: {', '.join(above)}.\n"
    yield from _groups([column for column in columns if column not in known])
    known.update(columns)


def _groups(columns: Sequence[Column]) -> Iterator[str]:
    """Yield the columns, a table per group."""
    for group, found in groupby(columns, key=lambda column: column.group):
        members = list(found)
        rows = "".join(_row(column) for column in members)
        yield f"\n### {group}\n\n{_HEAD}{rows}"
        for statuses, words in _STATUSES:
            if any(column.allowed == tuple(statuses) for column in members):
                lines = "".join(f"| `{name}` | {what} |\n" for name, what in statuses.items())
                yield f"\n{words}:\n\n| Status | Meaning |\n| --- | --- |\n{lines}"


def _row(column: Column) -> str:
    meaning = column.description
    if column.allowed is not None and "see below" not in meaning:
        meaning += f": {', '.join(f'`{value}`' for value in column.allowed)}"
    return f"| `{column.name}` | {_TYPES[column.dtype]} | {column.unit} | {meaning} |\n"


if __name__ == "__main__":
    sys.stdout.write(table_page())
