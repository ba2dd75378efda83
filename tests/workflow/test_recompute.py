"""Nothing differs where an untouched run is recomputed, and changed numbers are named."""

import csv
import io
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from workflow.conftest import WholeRun

from tools.recompute.numbers import n_without_source, wrong_numbers
from tools.recompute.rebuild import differences, rebuild
from tools.recompute.tables import wrong_tables

N_CHANGED = 300
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
    assert list(differences(whole_run.checkout.path / "results", again)) == []


def test_numbers_changed_at_random_are_named(results: Path, again: Path) -> None:
    rng = random.Random(27)
    kinds = ("facts.json", "tables/*.csv", "figures/**/*.csv", "report/report.qmd")
    changed: list[str] = []
    for kind in kinds:
        places = [
            (path, place)
            for path in sorted(results.glob(kind))
            for place in PLACES[path.suffix](path.read_text(encoding="utf-8"))[0]
        ]
        picked = rng.sample(places, N_CHANGED // len(kinds))
        for path in {path for path, _ in picked}:
            of_it = [place for other, place in picked if other == path]
            text = path.read_text(encoding="utf-8")
            path.write_text(PLACES[path.suffix](text, *of_it)[1], encoding="utf-8")
            name = path.relative_to(results).as_posix()
            changed += [f"{name}: {place} is " for place in of_it]
    said = list(differences(results, again))
    named = [place for place in changed if any(line.startswith(place) for line in said)]
    assert len(changed) == N_CHANGED
    assert len(named) >= TO_BE_NAMED * N_CHANGED, set(changed) - set(named)
    assert len(said) == len(named), "nothing else is"


def other(number: str) -> str:
    """Return another number that is written alike."""
    return re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), number, count=1)


def in_json(text: str, *changed: str) -> tuple[list[str], str]:
    """Return the places of all numbers, and the text with those at some places changed."""
    found: list[str] = []

    def look(value: Any, place: str) -> Any:  # noqa: ANN401
        if isinstance(value, dict | list):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            parts = {key: look(part, f"{place}.{key}".lstrip(".")) for key, part in inner}
            return parts if isinstance(value, dict) else list(parts.values())
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.append(place)
            return type(value)(other(repr(value))) if place in changed else value
        return value

    made = look(json.loads(text), "")
    return found, json.dumps(made)


def in_table(text: str, *changed: str) -> tuple[list[str], str]:
    rows = list(csv.reader(io.StringIO(text)))
    places = {
        f"line {number}, {name}": (row, column)
        for number, row in enumerate(rows[1:], start=2)
        for column, name in enumerate(rows[0])
        if re.fullmatch(r"-?\d[\d.e+-]*", row[column])
    }
    for row, column in (places[place] for place in changed):
        row[column] = other(row[column])
    to = io.StringIO()
    csv.writer(to, lineterminator="\n").writerows(rows)
    return list(places), to.getvalue()


def in_lines(text: str, *changed: str) -> tuple[list[str], str]:
    lines = text.split("\n")
    places = {
        f"line {number}": number - 1
        for number, line in enumerate(lines, start=1)
        if re.search(r"\d", line)
    }
    for place in changed:
        lines[places[place]] = other(lines[places[place]])
    return list(places), "\n".join(lines)


PLACES: dict[str, Callable[..., tuple[list[str], str]]] = {
    ".json": in_json,
    ".csv": in_table,
    ".qmd": in_lines,
}


WRONG = {"cells": "both_cpu_ns_per_byte", "summary": "median", "ratios": "ratio"}


def test_a_wrong_number_in_a_table_is_found(results: Path) -> None:
    for table, column in WRONG.items():
        path = results / "tables" / f"{table}.csv"
        rows = pd.read_csv(path)
        place = rows[column].first_valid_index()
        rows[column] = rows[column].astype(float)
        rows.loc[place, column] *= 1.07
        rows.to_csv(path, index=False)
    assert {line.partition(".csv: ")[0] for line in wrong_tables(results)} == WRONG.keys()


def test_printed_numbers_read_as_the_values_of_their_sources(results: Path) -> None:
    assert list(wrong_numbers(results)) == []
    n_without, n = n_without_source(results)
    # versions, dates, digests and the configuration, which a small report has most of
    assert n_without < 0.4 * n
    path = results / "report/numbers.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        to = csv.DictWriter(file, rows[0], lineterminator="\n")
        to.writeheader()
        to.writerows(row | {"printed": other(row["printed"])} for row in rows)
    with_digits = sum(bool(re.search(r"\d", row["printed"])) for row in rows)
    assert len(list(wrong_numbers(results))) >= TO_BE_NAMED * with_digits


def test_a_lost_row_is_found(results: Path) -> None:
    path = results / "tables/cells.csv"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]))
    assert list(wrong_tables(results)) == ["cells.csv: 7 rows, 8 records"]


def test_a_wrong_answer_is_found(results: Path) -> None:
    path = results / "facts.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    row = facts["conditions"]["loopback"]["decisions"]["rows"][0]
    row["fastest"]["ways"], row["price"]["low"] = ["sendfile"], 9.0
    path.write_text(json.dumps(facts), encoding="utf-8")
    place = "facts.json: conditions.loopback.decisions.rows[0]"
    found = sorted(line.split(" is ")[0] for line in wrong_tables(results))
    assert found == [f"{place}.fastest.ways", f"{place}.price.low"]


def test_nothing_is_measured_again(results: Path, tmp_path: Path) -> None:
    next((results / "raw").rglob("rep=1.json")).unlink()
    with pytest.raises(ValueError, match="cannot be made into a report without measuring"):
        rebuild(results, tmp_path / "checkout")
