"""The description of the tables of repetitions, written from their definitions.

``python -m tools.document_tables > docs/tables.md`` brings the committed page up to date;
a test compares the two.
"""

import sys
from collections.abc import Iterator
from itertools import groupby

from copycost.records.column import KEY, Column, Definition
from copycost.records.columns import CELLS, EVENT_STATUSES
from copycost.studies.round_trips.columns import CURVES, ROUND_TRIPS

_TYPES = {
    "str": "text",
    "int64": "whole number",
    "float64": "number",
    "boolean": "true, false",
}
_INTRODUCTION = """\
# The table of cells

`results/tables/cells.csv` and `results/tables/cells.parquet` hold the same tidy table: one row is
one repetition of one cell, and every repetition of the grid has its row. One that was skipped or
failed has its status and reason, and no measured values. An empty field (CSV) or a null (Parquet)
means that there is no value; 0 is always a measured 0.

{key} name a repetition: no two rows share them, and rows are sorted by them.
What the table is checked for, whenever it is written or read, stands in `check_table` of
`workflow/copycost/records/table.py`. Units are given for numbers; 1 marks a plain ratio.

Read it with `copycost.records.table.read_table`, which checks it and gives every column its type,
or with anything that reads Parquet:

```python
import pandas

cells = pandas.read_parquet("results/tables/cells.parquet")
measured = cells[cells.status == "measured"]
print(measured.groupby(["implementation", "msg_bytes"]).throughput_bits_per_s.median() / 1e9)
```

This page is written from the definition of the columns
(`PYTHONPATH=workflow python -m tools.document_tables > docs/tables.md`).
"""


_ROUND_TRIPS = """\

# The table of round trips

`results/tables/round_trips.csv` has one row per repetition of the study `round_trips`: a client
sends a message and waits for a reply of the same size. Every round trip of the window is measured.
With an interval between requests it is measured from the moment at which its request was due, not
from when it was sent, so that a reply that comes late also counts for the requests that had to wait
for it (leaving these out is known as coordinated omission). TCP_NODELAY is on unless the
configuration says otherwise. Columns that the table of cells has too mean the same here. Read it
with `copycost.studies.round_trips.table.read_round_trips`.
"""
_CURVES = """\

# The table of round-trip percentiles

`results/tables/round_trip_curves.csv` has one row per percentile of each repetition that was
measured. Besides the columns that name the repetition it has those below. Read it with
`copycost.studies.round_trips.table.read_curves`.
"""
_HEAD = "| Column | Type | Unit | Meaning |\n| --- | --- | --- | --- |\n"


def table_page() -> str:
    """Return the Markdown page that describes every column with type, unit and meaning."""
    known = set(CELLS.names)
    return "".join(
        [
            _INTRODUCTION.format(key=", ".join(f"`{name}`" for name in KEY)),
            *_groups(CELLS, set()),
            _ROUND_TRIPS,
            *_groups(ROUND_TRIPS, known),
            _also(ROUND_TRIPS, known),
            _CURVES,
            *_groups(CURVES, known),
        ]
    )


def _groups(definition: Definition, known: set[str]) -> Iterator[str]:
    """Yield a table of columns per group, without those that are described already."""
    columns = [column for column in definition.columns if column.name not in known]
    for group, members in groupby(columns, key=lambda column: column.group):
        rows = "".join(_row(column) for column in members)
        yield f"\n## {group}\n\n{_HEAD}{rows}"
        if group == "Counters":
            statuses = "".join(
                f"| `{name}` | {words} |\n" for name, words in EVENT_STATUSES.items()
            )
            yield (
                "\nA counter has a value where its status is `counted` or `multiplexed`, and none "
                f"otherwise:\n\n| Status | Meaning |\n| --- | --- |\n{statuses}"
            )


def _also(definition: Definition, known: set[str]) -> str:
    names = ", ".join(f"`{name}`" for name in definition.names if name in known)
    return f"\nAs in the table of cells: {names}.\n"


def _row(column: Column) -> str:
    meaning = column.description
    if column.allowed is not None and "see below" not in meaning:
        meaning += f": {', '.join(f'`{value}`' for value in column.allowed)}"
    return f"| `{column.name}` | {_TYPES[column.dtype]} | {column.unit} | {meaning} |\n"


if __name__ == "__main__":
    sys.stdout.write(table_page())
