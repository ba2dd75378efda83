"""Ratios paired by round, and the correction for many of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.analysis.stats.ratios import (
    Direction,
    family_ratios,
    holm,
    paired_ratio,
    simultaneous_ratio,
)

LOGS = st.lists(st.floats(-5, 5), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("ratios", "direction"),
    [
        ([np.nan], Direction.NOT_MEASURED),
        ([1.5], Direction.OBSERVED_ONCE),
        ([1.5, 1.52, 1.48], Direction.ABOVE),
        ([1.3, 0.8, 1.1], Direction.NO_DIFFERENCE),
        ([1.1, 1.1, 1.1], Direction.ABOVE),
        ([1.0, 1.0, 1.0], Direction.NO_DIFFERENCE),
    ],
)
def test_direction_is_told_by_the_interval(ratios: list[float], direction: Direction) -> None:
    found = paired_ratio(np.log(ratios), 0.95)
    assert found.direction is direction
    assert math.isnan(found.low) == (len(ratios) == 1)


def test_known_t_interval() -> None:
    # t(0.975, 2) = 4.30265; mean 0.1, standard error 0.1 / sqrt(3)
    found = paired_ratio(np.array([0.0, 0.1, 0.2]), 0.95)
    assert math.log(found.high) == pytest.approx(0.1 + 4.30265 * 0.1 / math.sqrt(3), rel=1e-5)


@settings(deadline=None, derandomize=True)
@given(LOGS)
def test_turning_the_ratio_around_turns_the_verdict_around(logs: list[float]) -> None:
    one = paired_ratio(np.array(logs), 0.95)
    other = paired_ratio(-np.array(logs), 0.95)
    assert one.value == pytest.approx(1 / other.value)
    assert one.p_value == pytest.approx(other.p_value)
    turned = {Direction.ABOVE: Direction.BELOW, Direction.BELOW: Direction.ABOVE}
    assert one.direction is turned.get(other.direction, other.direction)


@settings(deadline=None, derandomize=True)
@given(LOGS)
def test_p_value_and_interval_agree(logs: list[float]) -> None:
    found = paired_ratio(np.array(logs), 0.95)
    if abs(found.p_value - 0.05) > 1e-6:
        assert (found.p_value < 0.05) == (found.direction is not Direction.NO_DIFFERENCE)


def test_holm_known_example() -> None:
    corrected = holm(np.array([0.01, 0.04, 0.03, np.nan, 0.005, 0.6, 0.7]))
    np.testing.assert_allclose(corrected, [0.05, 0.12, 0.12, np.nan, 0.03, 1.0, 1.0])


@settings(deadline=None, derandomize=True)
@given(st.lists(st.lists(st.floats(-0.2, 0.2), min_size=4, max_size=4), min_size=1, max_size=9))
def test_intervals_of_a_family_say_what_corrected_p_values_say(rows: list[list[float]]) -> None:
    family = family_ratios(np.array(rows), 0.95)
    corrected = holm(np.array([one.p_value for one in family]))
    near = np.abs(corrected - 0.05) < 1e-9
    assert [one.sign != 0 for one in family] == list(corrected < 0.05) or near.any()


def test_what_stands_alone_need_not_stand_when_picked() -> None:
    rounds = np.array([0.1, 0.2, 0.15])
    assert simultaneous_ratio(rounds, 1, 0.95) == paired_ratio(rounds, 0.95)
    assert paired_ratio(rounds, 0.95).direction is Direction.ABOVE
    picked = simultaneous_ratio(rounds, 28, 0.95)
    assert picked.direction is Direction.NO_DIFFERENCE
    assert picked.p_value == pytest.approx(28 * paired_ratio(rounds, 0.95).p_value)
    assert picked.value == paired_ratio(rounds, 0.95).value
