"""Intervals of ratios that were picked out of many."""

import math

import numpy as np
import pytest

from copycost.stats.ratios import Direction, paired_ratio, simultaneous_ratio


@pytest.mark.parametrize("n_rounds", [3, 7])
def test_the_highest_of_many_is_held_as_often_as_promised(n_rounds: int) -> None:
    rng = np.random.default_rng(5)
    spreads = rng.uniform(0.005, 0.1, size=20)
    held = plain = 0
    for _ in range(400):
        cells = rng.normal(0.0, spreads[:, None], size=(20, n_rounds))
        best = cells[cells.mean(axis=1).argmax()]
        found = simultaneous_ratio(best, 20, 0.95)
        held += found.low <= 1.0 <= found.high
        plain += paired_ratio(best, 0.95).low <= 1.0
    assert held / 400 >= 0.95
    assert plain / 400 < 0.93  # which is why the other is needed


def test_one_of_one_was_not_picked() -> None:
    rounds = np.array([0.1, 0.2, 0.15])
    assert simultaneous_ratio(rounds, 1, 0.95) == paired_ratio(rounds, 0.95)


def test_what_stands_alone_need_not_stand_when_picked() -> None:
    rounds = np.array([0.1, 0.2, 0.15])
    assert paired_ratio(rounds, 0.95).direction is Direction.ABOVE
    picked = simultaneous_ratio(rounds, 28, 0.95)
    assert picked.direction is Direction.NO_DIFFERENCE
    assert picked.p_value == pytest.approx(28 * paired_ratio(rounds, 0.95).p_value)
    assert picked.value == paired_ratio(rounds, 0.95).value


def test_one_round_has_no_interval_either_way() -> None:
    found = simultaneous_ratio(np.array([0.3]), 5, 0.95)
    assert found.direction is Direction.OBSERVED_ONCE
    assert math.isnan(found.low)
    assert math.isnan(found.p_value)


def test_nothing_to_pick_from_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        simultaneous_ratio(np.array([0.1, 0.2]), 0, 0.95)
