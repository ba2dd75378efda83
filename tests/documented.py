"""What docs/tables.md says of each table, and what a run's tables have."""

import csv
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs/tables.md"

_SECTION = re.compile(r"^## (.+\.csv.*)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
_ABOVE = re.compile(r"^As in the tables above: (.*)\.$", re.MULTILINE)
# four cells: a row of two is of the table of statuses
_ROW = re.compile(r"^\| `(\w+)` \| [^|]* \| [^|]* \| .* \|$", re.MULTILINE)


def documented_columns() -> dict[str, list[str]]:
    """Return the columns that the page describes, sorted, by the name of a table's CSV file."""
    found = {}
    for title, text in _SECTION.findall(PAGE.read_text(encoding="utf-8")):
        above = re.findall(r"`(\w+)`", " ".join(_ABOVE.findall(text)))
        for name in re.findall(r"\w+\.csv", title):
            found[name] = sorted([*above, *_ROW.findall(text)])
    return found


def columns_of_run(results: Path) -> dict[str, list[str]]:
    """Return the columns of every CSV file in a run's results/tables, sorted, by its name."""
    found = {}
    for path in sorted((results / "tables").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as table:
            found[path.name] = sorted(next(csv.reader(table)))
    return found


def assert_documented(results: Path, *tables: str) -> None:
    """Hold the tables of a run, these among them, to the page: exactly their columns."""
    found = columns_of_run(results)
    assert set(tables) <= set(found)
    page = documented_columns()
    assert found == {name: page.get(name) for name in found}
