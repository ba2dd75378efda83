"""Runs that measure on where comparisons are open are not wrong more often than they say."""

import csv
from pathlib import Path

import numpy as np
import pytest

from copycost.config.alpha_spending import FEWEST_ROUNDS
from copycost.stats.ratios import Direction, paired_ratio
from tools.simulate_stopping import CONFIDENCE, NOISES, TIMES, _verdict, main, simulate

TABLE = Path(__file__).parents[2] / "docs/simulation_stopping.csv"


@pytest.mark.slow
def test_looking_again_sees_too_much_with_plain_intervals_and_not_as_a_run_does() -> None:
    found = simulate("normal", 16, 25, 1)
    # 400 comparisons of equals give a share to about 1 %
    assert found.again > 0.09
    assert found.here < 0.07
    assert found.other < 0.07
    assert found.best < 0.1  # of 50 answers
    assert found.found > found.found_once - 0.03


def test_verdicts_are_those_of_the_intervals_of_ratios() -> None:
    rng = np.random.default_rng(1)
    signs = {Direction.ABOVE: 1, Direction.BELOW: -1}
    for shift in np.linspace(-1, 1, 50):
        values = rng.normal(shift, 0.5, size=4)
        direction = paired_ratio(values, 0.95).direction
        assert _verdict(values, 0.95) == signs.get(direction, 0)


def test_the_command_prints_every_noise_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "1", "--seed", "7"]) == 0
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [(row["noise"], int(row["time"])) for row in rows] == [
        (name, time) for name in NOISES for time in TIMES
    ]


def test_published_runs_that_look_again_keep_their_promise() -> None:
    with TABLE.open(newline="", encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if int(row["time"]) > FEWEST_ROUNDS]
    assert rows
    for row in rows:
        assert float(row["here"]) <= 1.0 - CONFIDENCE + 0.01  # a standard error is 0.4 %
        assert float(row["best"]) <= 1.0 - CONFIDENCE + 0.02  # and 1.1 %
        assert float(row["again"]) > float(row["here"])
