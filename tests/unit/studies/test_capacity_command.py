"""The command ``plan``: every way from its cost at full speed, or as cpu_budget measured it."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from budgets import Study, Truth, facts_of
from synthetic import Run, Udp, make_cells

from copycost.__main__ import main
from copycost.analysis.columns import read_table, write_table
from copycost.analysis.metrics import SUMMARISED_OF_GUESTS
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import summarise
from copycost.records.files import write_json
from copycost.studies.capacity_command import WIDTH

Said = pytest.CaptureFixture[str]
PAIR = Truth(testbed="vm_pair", gbps_per_percent=0.05, accelerator="tcg")
RUN = Run(
    implementations=["two_copy", "one_copy"], msg_bytes=[4096, 65536], n_threads=[1, 2],
    noise=0.005, udp=Udp(implementations=["two_copy"], msg_bytes=[65507]),
)  # fmt: skip


def write_budget(results: Path, study: Study) -> None:
    write_json(facts_of(study), results / "cpu_budget" / "facts.json")


def write_summary(results: Path, cells: pd.DataFrame) -> None:
    (results / "tables").mkdir()
    write_table(summarise(cells, StatisticsSettings()), results / "tables" / "summary.csv")


def plan(results: Path, gbps: object, *options: str) -> int:
    return main(["plan", "--gbps", str(gbps), "--results", str(results), *options])


def rows_of(said: Said, results: Path, gbps: float, *options: str) -> list[dict[str, Any]]:
    plan(results, gbps, "--json", *options)
    rows: list[dict[str, Any]] = json.loads(said.readouterr().out)
    return rows


@pytest.fixture
def budget(tmp_path: Path) -> Path:
    write_budget(tmp_path, Study((Truth(), Truth(testbed="veth", gbps_per_percent=0.2))))
    return tmp_path


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_summary(tmp_path, make_cells(RUN))
    return tmp_path


def test_curves_of_cpu_budget_tell_the_cpus_of_every_testbed(budget: Path, capsys: Said) -> None:
    assert plan(budget, 10) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["loopback", "iperf3"], ["veth", "iperf3"]]
    assert lines[3].endswith("points")
    (row,) = rows_of(capsys, budget, 10, "--testbed", "veth")
    # 0.2 Gbit/s per %, and 0.7 % at the receiver for one at the sender
    assert row["cpus"] == pytest.approx(0.85, rel=0.02)
    assert row["sender"] == pytest.approx(0.5, rel=0.02)
    assert row["low"] < 0.85 < row["high"]
    # below the least point its CPU is enough
    least = rows_of(capsys, budget, 1)[0]
    assert (least["basis"], least["sender"]) == ("least", pytest.approx(0.1, abs=0.005))
    assert least["low"] is None


def test_a_bend_is_followed_between_points(tmp_path: Path, capsys: Said) -> None:
    bent = Study((Truth(bend=0.0006, noise=0.002),))
    write_budget(tmp_path, bent)
    points = facts_of(bent)["curves"][0]["points"]
    rates = {one["limit_percent"]: one["bits_per_s"]["median"] for one in points}
    (row,) = rows_of(capsys, tmp_path, (rates[80] + rates[100]) / 2e9)
    assert row["basis"] == "points"
    assert 0.8 < row["sender"] < 1.0


def test_many_cpus_are_written_in_full(tmp_path: Path, capsys: Said) -> None:
    write_budget(tmp_path, Study((Truth(n_threads=128, gbps_per_percent=0.2),)))
    assert plan(tmp_path, 2000) == 0
    assert re.search(r" 17\d \(1[67]\d-1[78]\d\) +\d+ +25\d\d ", capsys.readouterr().out)


def test_beyond_what_was_measured_it_says_so(budget: Path, capsys: Said) -> None:
    assert plan(budget, 100, "--testbed", "veth") == 1
    assert re.search(r"beyond measured +19\.9", capsys.readouterr().out)
    assert plan(budget, 1, "--testbed", "moon") == 1
    assert "what was: loopback, veth; iperf3;" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("other", "", "measure first: ./run, or ./run cpu_budget"),
        ("cpu_budget/facts.json", '{"left_out": "a fault"}', "measure first: ./run"),
        ("cpu_budget/facts.json", "{", "make it again: ./run cpu_budget"),
        ("cpu_budget/facts.json", '{"curves": [{}]}', "facts.json: it is damaged"),
        ("cpu_budget/facts.json", "[]", "facts.json: it is damaged"),
        ("tables/summary.csv", "condition\nveth\n", "summary.csv: it is damaged"),
        ("tables/summary.csv", "n,msg_bytes\nmany,1\n", "summary.csv: it is damaged"),
        ("tables/summary.csv", "n\n\xff\n", "summary.csv: it is damaged"),
    ],
)
def test_what_is_missing_or_damaged_is_an_error_with_the_remedy(
    name: str, text: str, told: str, tmp_path: Path, capsys: Said
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="latin-1")
    assert plan(tmp_path, 1) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("gbps", ["0", "inf", "fast"])
def test_what_is_no_bitrate_is_refused(gbps: str, capsys: Said) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--gbps", gbps])
    assert ended.value.code == 2
    assert f"{gbps} is no bitrate; it must be above 0" in capsys.readouterr().err


def test_cpus_are_bitrate_times_the_cost_of_a_byte(results: Path, capsys: Said) -> None:
    key = ["condition", "implementation", "msg_bytes", "n_threads"]
    summary = read_table(results / "tables" / "summary.csv").set_index([*key, "metric"])
    rows = rows_of(capsys, results, 8, "--all")
    assert len(rows) == 2 * 2 * 2 + 2
    for row in rows:
        metric = f"{'sender' if row['testbed'] == 'sink' else 'both'}_cpu_ns_per_byte"
        # a byte per nanosecond: CPUs are the nanoseconds of a byte
        of_byte = summary.loc[(*(row[name] for name in key), metric), "median"]
        assert row["cpus"] == pytest.approx(of_byte)


def test_only_what_reaches_the_bitrate_is_an_answer(results: Path, capsys: Said) -> None:
    every = rows_of(capsys, results, 60, "--testbed", "veth", "--all")
    assert all((row["basis"] == "beyond") == (row["most_bits_per_s"] < 60e9) for row in every)
    reached = [row for row in every if row["basis"] != "beyond"]
    assert 0 < len(reached) < len(every)
    for least in rows_of(capsys, results, 60, "--testbed", "veth"):
        same = [row for row in reached if row["implementation"] == least["implementation"]]
        assert least["cpus"] == min(row["cpus"] for row in same)
        # the interval of its cell alone would not allow for the choice
        assert (least["low"] is None) == (len(same) > 1)


def test_options_narrow_it(results: Path, capsys: Said) -> None:
    narrowed = ["--testbed", "veth", "--implementation", "one_copy", "--size", "64KiB"]
    assert plan(results, 5, *narrowed, "--all") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "In brackets: the interval of the median." in lines
    assert sorted(line.split()[:4] for line in lines if line.startswith("veth")) == [
        ["veth", "one_copy", "64KiB", "1"],
        ["veth", "one_copy", "64KiB", "2"],
    ]
    (row,) = rows_of(capsys, results, 5, *narrowed, "--threads", "2")
    assert row["n_threads"] == 2
    assert plan(results, 5, "--threads", "9") == 1
    assert "threads: 1, 2; add it to config.yaml" in capsys.readouterr().err
    assert plan(results, 5000) == 1
    assert capsys.readouterr().out.count("beyond measured") == 4


def test_what_was_measured_at_the_bitrate_replaces_what_is_read_off_full_speed(
    results: Path, capsys: Said
) -> None:
    curve = Truth(testbed="veth", implementation="one_copy", gbps_per_percent=0.2)
    write_budget(results, Study((curve,), section={"msg_bytes": 65536}))
    narrowed = ["--testbed", "veth", "--size", "64KiB", "--all", "--implementation", "one_copy"]
    rows = rows_of(capsys, results, 5, *narrowed)
    assert {row["n_threads"]: row["basis"] for row in rows} == {1: "points", 2: "speed"}


# one guest for either side, and one for both
@pytest.mark.parametrize(
    "changes", [{}, {"testbed": "vm_loopback", "shared": True, "accelerator": "kvm"}]
)
def test_guests_have_their_cpu_inside_and_outside(
    changes: dict[str, Any], tmp_path: Path, capsys: Said
) -> None:
    write_budget(tmp_path, Study((replace(PAIR, noise=0.002, **changes),)))
    (row,) = rows_of(capsys, tmp_path, 1)
    assert row["cpus"] == pytest.approx(0.34, rel=0.02)
    # 2.5 % outside for one inside
    assert row["outside"] == pytest.approx(0.85, rel=0.02)
    assert row["emulated"] == (not changes)


@pytest.mark.parametrize("accelerator", ["tcg", "kvm"])
def test_cells_in_guests_have_the_hypervisors_cpus_too(
    accelerator: str, tmp_path: Path, capsys: Said
) -> None:
    cells = make_cells(RUN)
    inside = cells["testbed"] == "veth"
    cells["accelerator"] = cells["testbed"].where(~inside, accelerator).where(inside)
    for side in ("sender", "receiver"):
        cost = cells[f"{side}_cpu_ns_per_byte"]
        cells[f"{side}_hypervisor_cpu_ns_per_byte"] = (2.0 * cost).where(inside)
    for column in SUMMARISED_OF_GUESTS:
        if column not in cells:
            cells[column] = math.nan
    write_summary(tmp_path, cells)
    cells.to_csv(tmp_path / "tables" / "cells.csv", index=False)
    for row in rows_of(capsys, tmp_path, 8):
        if row["condition"] == "veth":
            assert row["outside"] == pytest.approx(2 * row["cpus"], rel=0.02)
        else:
            assert row["outside"] is None
    assert plan(tmp_path, 5) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= WIDTH
    assert "QEMU" in said.splitlines()[1]
    assert ("Emulated: veth." in said) == (accelerator == "tcg")
    assert "Where it is less than inside" not in said
