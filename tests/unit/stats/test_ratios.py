"""Ratios paired by round, and the correction for many of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.stats.ratios import Direction, holm, paired_ratio

LOGS = st.lists(st.floats(-5, 5), min_size=2, max_size=12)


def test_no_round_is_not_measured() -> None:
    assert paired_ratio(np.array([np.nan]), 0.95).direction is Direction.NOT_MEASURED


def test_one_round_is_observed_once() -> None:
    found = paired_ratio(np.log([1.5]), 0.95)
    assert found.direction is Direction.OBSERVED_ONCE
    assert found.value == pytest.approx(1.5)
    assert math.isnan(found.low)


def test_interval_above_one_says_above() -> None:
    assert paired_ratio(np.log([1.5, 1.52, 1.48]), 0.95).direction is Direction.ABOVE


def test_interval_that_holds_one_says_no_difference() -> None:
    assert paired_ratio(np.log([1.3, 0.8, 1.1]), 0.95).direction is Direction.NO_DIFFERENCE


def test_missing_rounds_are_left_out() -> None:
    logs = np.log([1.5, 1.52, 1.48])
    with_gap = paired_ratio(np.insert(logs, 1, np.nan), 0.95)
    assert with_gap == paired_ratio(logs, 0.95)


def test_equal_rounds_are_certain_and_no_ratio_is_no_difference() -> None:
    assert paired_ratio(np.full(3, 0.1), 0.95).direction is Direction.ABOVE
    assert paired_ratio(np.zeros(3), 0.95).direction is Direction.NO_DIFFERENCE


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
    corrected = holm(np.array([0.01, 0.04, 0.03, np.nan, 0.005]))
    np.testing.assert_allclose(corrected, [0.03, 0.06, 0.06, np.nan, 0.02])


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_never_lowers_a_p_value(values: list[float]) -> None:
    corrected = holm(np.array(values, dtype=float))
    assert (corrected >= np.array(values) - 1e-12).all()
    assert (corrected <= 1.0).all()
