"""The independent recomputation finds wrong numbers: in each table, and in the report."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from workflow.conftest import WholeRun

from tools.recompute.power import shares_found
from tools.recompute.tables import wrong_tables
from tools.recompute.text import Checker
from tools.recompute.told import FORMS


@pytest.fixture
def results(whole_run: WholeRun, tmp_path: Path) -> Path:
    """What the recomputation reads, for a test to plant a fault in."""
    to = tmp_path / "results"
    for name in ("raw", "tables", "report/report.qmd", "config.yaml", "host.json", "memory.json"):
        source = whole_run.checkout.path / "results" / name
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, to / name)
        elif source.is_file():
            shutil.copy(source, to / name)
    return to


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("cells", "throughput_bits_per_s"),
        ("cells", "both_cpu_ns_per_byte"),
        ("cells", "reference_throughput_bits_per_s"),
        ("summary", "median"),
        ("summary", "n"),
        ("ratios", "ratio"),
    ],
)
def test_a_wrong_number_in_a_table_is_found(results: Path, table: str, column: str) -> None:
    path = results / "tables" / f"{table}.csv"
    rows = pd.read_csv(path)
    place = rows[column].first_valid_index()
    rows[column] = rows[column].astype(float)
    rows.loc[place, column] *= 1.07
    rows.to_csv(path, index=False)
    wrong = list(wrong_tables(results))
    assert wrong
    assert all(line.startswith(f"{table}.csv: ") for line in wrong)


def test_a_lost_row_is_found(results: Path) -> None:
    path = results / "tables/cells.csv"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]))
    assert list(wrong_tables(results)) == ["cells.csv: 7 rows, 8 records"]


def test_a_wrong_way_in_a_decision_table_is_found(results: Path) -> None:
    path = results / "report/report.qmd"
    text = path.read_text(encoding="utf-8")
    row = re.search(r"^\| 4\u00a0KiB +\| (.*?) \|", text, re.MULTILINE)
    assert row is not None
    place = row.span(1)
    path.write_text(f"{text[: place[0]]}`sendfile`{text[place[1] :]}", encoding="utf-8")
    wrong = [found for found in Checker(results).findings() if found.verdict == "differs"]
    assert {found.section for found in wrong} == {"sec-decisions"}


def test_most_wrong_numbers_of_a_report_are_found(results: Path) -> None:
    shares = shares_found(Checker(results))
    assert shares.keys() == {"sentences", "tables"}
    for found, tried in shares.values():
        assert tried > 15
        assert found / tried > 0.8


def test_what_is_found_does_not_depend_on_the_order_of_the_forms(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> set[tuple[str, str, str, int]]:
        findings = Checker(results).findings()
        return {(one.verdict, one.within, one.text, one.start) for one in findings}

    in_order = found()
    monkeypatch.setattr("tools.recompute.text.FORMS", FORMS[::-1])
    assert found() == in_order
