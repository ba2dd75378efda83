"""The page on the tables is that of the definitions."""

from pathlib import Path

from tools.document_study_tables import page

PAGE = Path(__file__).parents[3] / "docs" / "study_tables.md"


def test_the_committed_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
