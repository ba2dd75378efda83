"""The data dictionary has every table that a rule writes, and every column with its meaning."""

import csv
import re
from pathlib import Path

from copycost.studies.data_dictionary import TABLES, columns_csv

RULES = Path(__file__).parents[3] / "workflow/rules"


def test_every_table_that_a_rule_writes_is_in_the_dictionary() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in RULES.glob("*.smk"))
    written = set(re.findall(r'"results/tables/(\w+\.csv)"', text))
    assert {"cells.csv", "round_trips.csv"} <= written
    # one rule, for either study
    assert (written | {"cpu_budget.csv", "datagrams.csv"}) - {"columns.csv"} <= set(TABLES)


def test_a_column_is_told_with_its_unit_and_the_meaning_of_its_values() -> None:
    rows = {(row["table"], row["column"]): row for row in csv.DictReader(columns_csv().split("\n"))}
    assert len(rows) == sum(len(definition.columns) for definition in TABLES.values())
    assert rows["cells.csv", "window_s"]["unit"] == "s"
    status = rows["cells.csv", "sender_cycles_status"]
    assert "not_supported: this host has no such counter; " in status["values"]
    assert rows["cells.csv", "status"]["values"] == "measured; skipped; failed"
