from pathlib import Path

from tools.document_tables import table_page

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_documentation_of_every_table_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == table_page()
