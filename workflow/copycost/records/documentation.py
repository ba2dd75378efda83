"""The description of the table of cells, written from its definition.

``python -m copycost.records.documentation > docs/tables.md`` brings the committed page up to date;
a test compares the two.
"""

import sys
from itertools import groupby

from copycost.records.columns import COLUMNS, EVENT_STATUSES, KEY, Column

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
(`PYTHONPATH=workflow python -m copycost.records.documentation > docs/tables.md`).
"""


def table_page() -> str:
    """Return the Markdown page that describes every column with type, unit and meaning."""
    parts = [_INTRODUCTION.format(key=", ".join(f"`{name}`" for name in KEY))]
    for group, columns in groupby(COLUMNS, key=lambda column: column.group):
        rows = "".join(_row(column) for column in columns)
        parts.append(
            f"\n## {group}\n\n| Column | Type | Unit | Meaning |\n| --- | --- | --- | --- |\n{rows}"
        )
        if group == "Counters":
            statuses = "".join(
                f"| `{name}` | {words} |\n" for name, words in EVENT_STATUSES.items()
            )
            parts.append(
                "\nA counter has a value where its status is `counted` or `multiplexed`, and none "
                f"otherwise:\n\n| Status | Meaning |\n| --- | --- |\n{statuses}"
            )
    return "".join(parts)


def _row(column: Column) -> str:
    meaning = column.description
    if column.allowed is not None and "see below" not in meaning:
        meaning += f": {', '.join(f'`{value}`' for value in column.allowed)}"
    return f"| `{column.name}` | {_TYPES[column.dtype]} | {column.unit} | {meaning} |\n"


if __name__ == "__main__":
    sys.stdout.write(table_page())
