"""The intervals and claims keep what they promise, on simulated runs of known truth."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from copycost.stats.ratios import paired_ratio
from copycost.stats.settings import StatisticsSettings
from tools.simulate import SIZES, TRUTHS, _ratio_coverage, main, simulate
from tools.simulate_ratio import simulate_ratio

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


@pytest.mark.parametrize(("roots", "told"), [((12.6, 15.1), 0.9), ((14.2, 14.2), 0.0)])
def test_ratio_of_crossovers_holds_the_truth(roots: tuple[float, float], told: float) -> None:
    found = simulate_ratio(roots, 0.05, 10, 200, SETTINGS)
    # 200 runs give the share to about 3 %.
    assert 0.91 <= found.coverage <= 1.0
    assert found.told_apart >= told
    assert found.wrong <= 0.08


def test_command_writes_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "deeper" / "simulation.csv"
    assert main(["--runs", "2", "--resamples", "100", "--output", str(output)]) == 0
    rows = list(csv.DictReader(output.read_text(encoding="utf-8").splitlines()))
    assert {row["truth"] for row in rows} == set(BY_NAME)
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 1


def test_page_states_the_command_and_every_row(tmp_path: Path) -> None:
    path = tmp_path / "simulation.md"
    assert main(["--runs", "2", "--resamples", "100", "--seed", "7", "--page", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert "--runs 2 --resamples 100 --seed 7" in text
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert "## Is one crossover at a smaller size than another?" in text
    assert [name for name in rows if name in BY_NAME] == [
        name for name in BY_NAME for _ in range(9)
    ]


def test_ratio_coverage_is_that_of_the_intervals_of_ratios() -> None:
    truth = BY_NAME["from, steep"]
    runs = np.random.default_rng(3).normal(0, 0.1, size=(20, len(SIZES), 4))
    runs += np.array(truth.log_ratios)[:, None]
    held = [
        found.low <= math.exp(log_ratio) <= found.high
        for rounds in runs
        for log_ratio, values in zip(truth.log_ratios, rounds, strict=True)
        if (found := paired_ratio(values, SETTINGS.confidence))
    ]
    assert _ratio_coverage(truth, runs, SETTINGS) == pytest.approx(np.mean(held))
