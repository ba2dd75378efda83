"""The intervals and claims keep what they promise, on simulated runs of known truth."""

import csv
from pathlib import Path

import pytest

from copycost.stats.settings import StatisticsSettings
from copycost.stats.simulate import TRUTHS, main, simulate

SETTINGS = StatisticsSettings(resamples=500)
BY_NAME = {truth.name: truth for truth in TRUTHS}


@pytest.mark.parametrize("name", ["from, steep", "up to"])
def test_intervals_hold_the_truth_at_ten_rounds(name: str) -> None:
    found = simulate(BY_NAME[name], 0.05, 10, 300, SETTINGS)
    # 300 runs give the share to about 2.5 %.
    assert 0.93 <= found.ratio_coverage <= 0.97
    assert 0.90 <= found.crossover_coverage <= 0.99
    assert found.claimed > 0.9


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("n_rounds", [3, 10])
def test_wrong_shapes_are_hardly_ever_claimed(name: str, n_rounds: int) -> None:
    assert simulate(BY_NAME[name], 0.15, n_rounds, 60, SETTINGS).wrongly_claimed < 0.025


def test_command_writes_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "deeper" / "simulation.csv"
    assert main(["--runs", "2", "--resamples", "100", "--output", str(output)]) == 0
    rows = list(csv.DictReader(output.read_text(encoding="utf-8").splitlines()))
    assert {row["truth"] for row in rows} == set(BY_NAME)
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 1
