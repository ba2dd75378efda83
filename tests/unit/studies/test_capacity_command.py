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
from copycost.analysis.tables import summarise
from copycost.stats.settings import StatisticsSettings
from copycost.studies.capacity import least_of, needs_of_cells, needs_of_curves
from copycost.studies.capacity_command import WIDTH


def write_budget(results: Path, study: Study) -> None:
    (results / "cpu_budget").mkdir()
    text = json.dumps(facts_of(study))
    (results / "cpu_budget" / "facts.json").write_text(text, encoding="utf-8")


def write_summary(results: Path, cells: pd.DataFrame) -> Path:
    (results / "tables").mkdir()
    path = results / "tables" / "summary.csv"
    write_table(summarise(cells, StatisticsSettings()), path)
    return path


def plan(results: Path, gbps: object, *options: str) -> int:
    return main(["plan", "--gbps", str(gbps), "--results", str(results), *options])


@pytest.fixture
def budget(tmp_path: Path) -> Path:
    write_budget(tmp_path, Study((Truth(), Truth(testbed="veth", gbps_per_percent=0.2))))
    return tmp_path


PAIR = Truth(testbed="vm_pair", gbps_per_percent=0.05, accelerator="tcg")
RUN = Run(
    implementations=["two_copy", "one_copy"], msg_bytes=[4096, 65536], n_threads=[1, 2],
    noise=0.005, udp=Udp(implementations=["two_copy"], msg_bytes=[65507]),
)  # fmt: skip


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_summary(tmp_path, make_cells(RUN))
    return tmp_path


def rows_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_curves_of_cpu_budget_tell_the_cpus_of_every_testbed(
    budget: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan(budget, 10) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["loopback", "iperf3"], ["veth", "iperf3"]]
    assert lines[3].endswith("points")
    assert plan(budget, 10, "--testbed", "veth", "--json") == 0
    (row,) = rows_of(capsys)
    # 0.2 Gbit/s per %, and 0.7 % at the receiver for one at the sender
    assert row["cpus"] == pytest.approx(0.85, rel=0.02)
    assert row["sender"] == pytest.approx(0.5, rel=0.02)
    assert row["low"] < 0.85 < row["high"]


def test_below_the_least_point_its_cpu_is_enough(budget: Path) -> None:
    need = needs_of_curves(budget / "cpu_budget/facts.json", 1e9)[0]
    assert (need.basis, need.sender) == ("least", pytest.approx(0.1, abs=0.005))
    assert math.isnan(need.low)


def test_a_bend_is_followed_between_points(tmp_path: Path) -> None:
    bent = Study((Truth(bend=0.0006, noise=0.002), Truth(n_threads=2, gbps_per_percent=0.19)))
    write_budget(tmp_path, bent)
    points = facts_of(bent)["curves"][0]["points"]
    rates = {one["limit_percent"]: one["bits_per_s"]["median"] for one in points}
    path = tmp_path / "cpu_budget/facts.json"
    (need,) = (one for one in needs_of_curves(path, (rates[80] + rates[100]) / 2)
               if one.n_threads == 1)  # fmt: skip
    assert need.basis == "points"
    assert 0.8 < need.sender < 1.0
    # of each testbed, what takes the least CPU comes first
    assert [one.n_threads for one in needs_of_curves(path, 8e9)] == [1, 2]


def test_beyond_what_was_measured_it_says_so(
    budget: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan(budget, 100, "--testbed", "veth") == 1
    assert re.search(r"beyond measured +19\.9", capsys.readouterr().out)
    assert plan(budget, 1, "--testbed", "moon") == 1
    assert "what was: loopback, veth; iperf3;" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("other", "", "measure first: ./run, or ./run cpu_budget"),
        ("cpu_budget/facts.json", "{", "make it again: ./run cpu_budget"),
        ("tables/summary.csv", "condition\nveth\n", "summary.csv: it is damaged"),
        ("tables/summary.csv", "n,msg_bytes\nmany,1\n", "summary.csv: it is damaged"),
        ("tables/summary.csv", "n\n\xff\n", "summary.csv: it is damaged"),
    ],
)
def test_what_is_missing_or_damaged_is_an_error_with_the_remedy(
    name: str, text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="latin-1")
    assert plan(tmp_path, 1) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("gbps", ["0", "-1", "inf", "fast"])
def test_what_is_no_bitrate_is_refused(gbps: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--gbps", gbps])
    assert ended.value.code == 2
    assert f"{gbps} is no bitrate; it must be above 0" in capsys.readouterr().err


def test_cpus_are_bitrate_times_the_cost_of_a_byte(results: Path) -> None:
    path = results / "tables" / "summary.csv"
    summary, needs = read_table(path), needs_of_cells(path, 8e9)
    # a byte per nanosecond: CPUs are the nanoseconds of a byte
    assert len(needs) == 2 * 2 * 2 + 2
    for need in needs:
        side = "sender" if need.testbed == "sink" else "both"
        rows = summary[
            (summary["condition"] == need.condition)
            & (summary["implementation"] == need.implementation)
            & (summary["msg_bytes"] == need.msg_bytes)
            & (summary["n_threads"] == need.n_threads)
        ].set_index("metric")
        assert need.cpus == pytest.approx(rows.loc[f"{side}_cpu_ns_per_byte", "median"])
        assert need.most_bits_per_s == rows.loc["throughput_bits_per_s", "median"]
        assert need.low < need.cpus < need.high


def test_only_what_reaches_the_bitrate_is_an_answer(results: Path) -> None:
    needs = needs_of_cells(results / "tables" / "summary.csv", 60e9)
    veth = [need for need in needs if need.condition == "veth"]
    assert {need.is_beyond for need in veth} == {True, False}
    assert all(need.is_beyond == (need.most_bits_per_s < 60e9) for need in veth)
    for need in least_of(veth):
        same = [one for one in veth if one.implementation == need.implementation]
        reached = [one.cpus for one in same if not one.is_beyond]
        assert need.cpus == min(reached)
        # the interval of its cell alone would not allow for the choice
        assert math.isnan(need.low) == (len(reached) > 1)


def test_options_narrow_it(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    narrowed = ["--testbed", "veth", "--implementation", "one_copy", "--size", "64KiB"]
    assert plan(results, 5, *narrowed, "--all") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "In brackets: the interval of the median." in lines
    assert sorted(line.split()[:4] for line in lines if line.startswith("veth")) == [
        ["veth", "one_copy", "64KiB", "1"],
        ["veth", "one_copy", "64KiB", "2"],
    ]
    assert plan(results, 5, *narrowed, "--threads", "2") == 0
    assert "64KiB       2" in capsys.readouterr().out
    assert plan(results, 5, "--threads", "9") == 1
    assert "threads: 1, 2; add it to config.yaml" in capsys.readouterr().err
    assert plan(results, 5000) == 1
    assert capsys.readouterr().out.count("beyond measured") == 4


def test_what_was_measured_at_the_bitrate_replaces_what_is_read_off_full_speed(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(
        (Truth(testbed="veth", implementation="one_copy", gbps_per_percent=0.2),),
        section={"msg_bytes": 65536},
    )
    write_budget(results, study)
    narrowed = ["--testbed", "veth", "--size", "64KiB", "--all", "--implementation", "one_copy"]
    assert plan(results, 5, *narrowed) == 0
    said = capsys.readouterr().out
    cells = [line.split() for line in said.splitlines() if line.startswith("veth")]
    assert sorted((*cell[:4], cell[-1]) for cell in cells) == [
        ("veth", "one_copy", "64KiB", "1", "points"),
        ("veth", "one_copy", "64KiB", "2", "speed"),
    ]


# one guest for either side, and one for both
@pytest.mark.parametrize(
    "changes", [{}, {"testbed": "vm_loopback", "shared": True, "accelerator": "kvm"}]
)
def test_guests_have_their_cpu_inside_and_outside(
    changes: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_budget(tmp_path, Study((replace(PAIR, noise=0.002, **changes),)))
    assert plan(tmp_path, 1, "--json") == 0
    (row,) = rows_of(capsys)
    assert row["cpus"] == pytest.approx(0.34, rel=0.02)
    # 2.5 % outside for one inside
    assert row["outside"] == pytest.approx(0.85, rel=0.02)
    assert row["emulated"] == (not changes)


@pytest.mark.parametrize("accelerator", ["tcg", "kvm"])
def test_cells_in_guests_have_the_hypervisors_cpus_too(
    accelerator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
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
    summary = write_summary(tmp_path, cells)
    cells.to_csv(tmp_path / "tables" / "cells.csv", index=False)
    for need in needs_of_cells(summary, 8e9):
        if need.condition == "veth":
            assert need.outside == pytest.approx(2 * need.cpus, rel=0.02)
        else:
            assert math.isnan(need.outside)
    assert plan(tmp_path, 5) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= WIDTH
    assert "QEMU" in said.splitlines()[1]
    assert ("Emulated: veth." in said) == (accelerator == "tcg")
    assert "Where it is less than inside" not in said
