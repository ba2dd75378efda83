"""What folders of results are read, and what is said of those that are none."""

from pathlib import Path

import pandas as pd
import pytest
from unit.compare.runs.made import GRID, Made, write_results

from copycost.__main__ import main
from copycost.compare.runs.facts import compare_runs
from copycost.compare.runs.results import read_results
from copycost.records.columns import CELLS
from copycost.records.record import SCHEMA_VERSION


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["compare", *map(str, arguments)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("copycost: ")
    assert said.count("\n") == 1
    return said


def test_what_is_no_folder_of_results_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write_results(tmp_path / "a")
    assert "has no tables/cells.csv" in refused(capsys, a, tmp_path / "nowhere")
    record = a / "raw" / "streams" / "rep=1.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"schema_version": 3}', encoding="utf-8")
    said = f"{a}: its records have schema version 3, and this copycost reads {SCHEMA_VERSION}"
    assert said in refused(capsys, a, tmp_path / "nowhere")
    record.write_text('{"repetitions": [1]}', encoding="utf-8")
    assert "have schema version None, and" in refused(capsys, a, tmp_path / "nowhere")
    b = write_results(tmp_path / "b")
    path = b / "tables" / "cells.csv"
    pd.read_csv(path).drop(columns="throughput_bits_per_s").to_csv(path, index=False)
    assert "columns missing: throughput_bits_per_s" in refused(capsys, b, a)


@pytest.mark.parametrize(
    ("name", "text"),
    [("host.json", "{"), ("host.json", "[]"), ("host.json", "[" * 100_000), ("config.yaml", "a: ["),
     ("config.yaml", "a: " + "[" * 100_000), ("config.yaml", None)],
)  # fmt: skip
def test_a_damaged_description_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | None
) -> None:
    a, b = (write_results(tmp_path / side) for side in "ab")
    (b / name).unlink()
    if text is not None:
        (b / name).write_text(text, encoding="utf-8")
    assert f"{b / name}: cannot be read as names and values" in refused(capsys, a, b)


def test_facts_that_are_something_else_are_none(tmp_path: Path) -> None:
    a, b = (write_results(tmp_path / str(seed), Made(seed, 9000 * seed)) for seed in (1, 2))
    (b / "host.json").write_text('{"identity": 1}', encoding="utf-8")
    (b / "guest.json").write_text('{"virtual": {"spec": 1, "kernel": [2]}}', encoding="utf-8")
    facts = compare_runs([read_results(a)], [read_results(b)])
    assert facts["sides"]["b"][0]["kernel"] == "unknown"


def test_what_has_nothing_to_compare_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, copy = (write_results(tmp_path / name) for name in ("a", "copy"))
    assert "are the same repetitions, as of a copy" in refused(capsys, a, copy)
    other = {"changes": {"msg_bytes": [256]}, "udp": None, "trips": None, "start_s": 9000}
    b = write_results(tmp_path / "b", Made(**other))
    assert "no cell is common to all of their runs" in refused(capsys, a, b)
    nullable = [column.name for column in CELLS.columns if column.nullable and not column.always]
    columns = dict.fromkeys(nullable) | {"sender_cpus": "0,1"}
    changes = {"skipped": {"veth": "no namespaces"}}
    c = write_results(tmp_path / "c", Made(trips=None, udp=None, changes=changes, columns=columns))
    assert "no repetition was measured" in refused(capsys, a, c)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a"], "1 folder given; name two, A and B"),
        (["a", "b", "c"], "3 folders given"),
        (["a", "a"], "a is named twice"),
        (["a", "b", "--with", "c", "a"], "a is named twice"),
        (["a", "a", "--with", "b"], "is named twice"),
    ],
)
def test_sides_that_are_none_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, *words)


def test_a_gate_that_one_round_could_never_fail_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = {"changes": GRID | {"repetitions": 1}, "trips": None}
    a = write_results(tmp_path / "a", Made(**once))
    b = write_results(tmp_path / "b", Made(start_s=9000, **once))
    said = refused(capsys, a, b, "--fail-if", "slower:5%")
    assert "one round of one run has no interval" in said
    said = refused(capsys, a, b, "--fail-if", "longer:5%")
    assert "no cell in common that tells it" in said
