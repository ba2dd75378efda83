"""Nothing differs where an untouched run is recomputed, and changed numbers are named."""

import csv
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from workflow.conftest import WholeRun

from tools.recompute.numbers import without_source, wrong_numbers
from tools.recompute.rebuild import differences, rebuild
from tools.recompute.tables import wrong_tables

TO_BE_NAMED = 0.95


@pytest.fixture(scope="module")
def again(whole_run: WholeRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results that are made again of the records of the whole run."""
    folder = tmp_path_factory.mktemp("again")
    return rebuild(whole_run.checkout.path / "results", folder / "checkout")


@pytest.fixture
def results(whole_run: WholeRun, tmp_path: Path) -> Path:
    """Results for a test to plant a fault in."""
    to = tmp_path / "results"
    shutil.copytree(whole_run.checkout.path / "results", to)
    return to


def test_an_untouched_run_follows_from_its_records(whole_run: WholeRun, again: Path) -> None:
    results = whole_run.checkout.path / "results"
    assert list(differences(results, again)) == list(wrong_tables(results)) == []


# a number in a file of each kind that is compared, and what is said of its place
CHANGED = {
    "facts.json": (r'"n_measured": (\d+)', r"[\w.\[\]]*n_measured"),
    "tables/summary.csv": (r"\n[^\n]*?(\d+\.\d+)", r"line 2, \w+"),
    "figures/loopback/speed_and_cost.csv": (r"\n[^\n]*?(\d+\.\d+)", r"line 2, \w+"),
    "report/report.qmd": (r"(\d+) KiB", r"line \d+"),
}


def test_a_changed_number_is_named_in_every_kind_of_file(results: Path, again: Path) -> None:
    for name, (number, _) in CHANGED.items():
        path = results / name
        text = path.read_text(encoding="utf-8")
        found = re.search(number, text)
        assert found is not None, name
        path.write_text(text[: found.start(1)] + other(found[1]) + text[found.end(1) :])
    said = sorted(differences(results, again))
    assert len(said) == len(CHANGED), "nothing else is named"
    for line, (name, (_, place)) in zip(said, sorted(CHANGED.items()), strict=True):
        assert re.match(f"{name}: {place} is ", line)


def other(number: str) -> str:
    """Return another number that is written alike."""
    return re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), number, count=1)


WRONG = {"cells": "both_cpu_ns_per_byte", "summary": "median", "ratios": "ratio"}


def test_a_wrong_number_in_a_table_and_a_wrong_answer_are_found(results: Path) -> None:
    for table, column in WRONG.items():
        path = results / "tables" / f"{table}.csv"
        rows = pd.read_csv(path)
        place = rows[column].first_valid_index()
        rows[column] = rows[column].astype(float)
        rows.loc[place, column] *= 1.07
        rows.to_csv(path, index=False)
    path = results / "facts.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    row = facts["conditions"]["loopback"]["decisions"]["rows"][0]
    row["fastest"]["subject"], row["price"]["low"] = "sendfile", 9.0
    path.write_text(json.dumps(facts), encoding="utf-8")
    found = list(wrong_tables(results))
    answers = sorted(line.split(" is ")[0] for line in found if line.startswith("facts.json: "))
    place = "facts.json: conditions.loopback.decisions.rows[0]"
    assert answers == [f"{place}.fastest.subject", f"{place}.price.low"]
    tables = {line.partition(".csv: ")[0] for line in found if "facts.json: " not in line}
    assert tables == WRONG.keys()


def test_printed_numbers_read_as_the_values_of_their_sources(results: Path) -> None:
    assert list(wrong_numbers(results)) == []
    assert list(without_source(results)) == []
    path = results / "report/numbers.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        to = csv.DictWriter(file, rows[0], lineterminator="\n")
        to.writeheader()
        to.writerows(row | {"printed": other(row["printed"])} for row in rows)
    with_digits = sum(bool(row["source"] and re.search(r"\d", row["printed"])) for row in rows)
    assert len(list(wrong_numbers(results))) >= TO_BE_NAMED * with_digits
