from pathlib import Path

from copycost.records.columns import COLUMNS
from copycost.studies.round_trips.columns import CURVES, ROUND_TRIPS
from tools.document_tables import table_page

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_documentation_is_up_to_date_and_names_every_column() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == table_page()
    for column in (*COLUMNS, *ROUND_TRIPS.columns, *CURVES.columns):
        assert f"| `{column.name}` |" in page
        assert not column.description.endswith(".")
