"""The description of the tables of cpu_budget and datagrams, written from their definitions.

``python -m tools.document_study_tables > docs/study_tables.md`` brings the committed page up to
date; a test compares the two.
"""

import sys
from collections.abc import Iterator, Mapping

from copycost.studies.cpu_budget.table import COLUMNS as BUDGET_COLUMNS
from copycost.studies.datagrams.table import COLUMNS as DATAGRAM_COLUMNS

_INTRODUCTION = """\
# The tables of the CPU budget and of the datagrams

One row is one repetition, and every repetition of the grid has its row; one that was skipped or
failed has its status and reason, and no measured values. An empty field means that there is no
value; 0 is always a measured 0. The records behind them, `results/raw/{cpu_budget,datagrams}/`,
hold what iperf3 or our programs printed, whole; `workflow/schemas/driven_record.schema.yaml`
describes them.

This page is written from the definitions of the columns
(`PYTHONPATH=workflow python -m tools.document_study_tables > docs/study_tables.md`).
"""
_TABLES: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("cpu_budget.csv", BUDGET_COLUMNS),
    ("datagrams.csv", DATAGRAM_COLUMNS),
)


def page() -> str:
    """Return the Markdown page that describes every column."""
    return "".join(_parts())


def _parts() -> Iterator[str]:
    yield _INTRODUCTION
    for name, columns in _TABLES:
        yield f"\n## results/tables/{name}\n\n| Column | Meaning |\n| --- | --- |\n"
        for column, meaning in columns.items():
            yield f"| `{column}` | {meaning} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
