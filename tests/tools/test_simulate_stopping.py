"""Runs that measure on where comparisons are open are not wrong more often than they say."""

from pathlib import Path

import numpy as np
import pytest

from copycost.config.looks import FEWEST_ROUNDS
from copycost.stats.ratios import Direction, paired_ratio
from tools.simulate_stopping import CONFIDENCE, NOISES, TIMES, _verdict, main, simulate

PAGE = Path(__file__).parents[2] / "docs/stopping.md"


@pytest.mark.slow
def test_looking_again_sees_too_much_with_plain_intervals_and_not_as_a_run_does() -> None:
    found = simulate("normal", 16, 25, 1)
    # 400 comparisons of equals give a share to about 1 %
    assert found.again > 0.09
    assert found.here < 0.07
    assert found.other < 0.07
    assert found.found > found.found_once - 0.03


def test_verdicts_are_those_of_the_intervals_of_ratios() -> None:
    rng = np.random.default_rng(1)
    signs = {Direction.ABOVE: 1, Direction.BELOW: -1}
    for shift in np.linspace(-1, 1, 50):
        values = rng.normal(shift, 0.5, size=4)
        direction = paired_ratio(values, 0.95).direction
        assert _verdict(values, 0.95) == signs.get(direction, 0)


def test_page_states_the_command_and_every_row(tmp_path: Path) -> None:
    path = tmp_path / "stopping.md"
    assert main(["--runs", "1", "--seed", "7", "--page", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert "tools.simulate_stopping --runs 1 --seed 7 --page docs/stopping.md" in text
    assert [row[:2] for row in rows_of(text)] == [
        [name, str(time)] for name in NOISES for time in TIMES
    ]


def test_published_runs_that_look_again_keep_their_promise() -> None:
    rows = [row for row in rows_of(PAGE.read_text(encoding="utf-8")) if int(row[1]) > FEWEST_ROUNDS]
    assert rows
    for row in rows:
        again, here = (float(row[column].rstrip("%")) / 100 for column in (3, 4))
        assert here <= 1.0 - CONFIDENCE + 0.01  # a standard error is 0.4 %
        assert again > here


def rows_of(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("| ") and "%" in line]
    return [[word.strip() for word in line.strip("|").split("|")] for line in lines]
