import re
from pathlib import Path

from documented import documented_columns

from tools.document_tables import table_page

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
RULES = Path(__file__).parents[2] / "workflow" / "rules"


def test_every_table_that_a_rule_writes_is_on_the_page() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in RULES.glob("*.smk"))
    written = set(re.findall(r'"results/tables/(\w+\.csv)"', text))
    assert {"cells.csv", "round_trips.csv", "cpu_budget.csv", "datagrams.csv"} <= written
    assert written <= set(documented_columns())


def test_the_documentation_of_every_table_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == table_page()
