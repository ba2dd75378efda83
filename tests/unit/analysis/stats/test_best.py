"""Which of several is the best."""

import math

import numpy as np
import pytest

from copycost.analysis.stats.best import Told, find_best
from copycost.analysis.stats.settings import FloatArray

CONFIDENCE = 0.95
NAN = math.nan


def rounds(*means: float, spread: float = 0.01, n: int = 5) -> FloatArray:
    """Return rounds of these means whose differences scatter, none in step with another."""
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(len(means), n))
    noise -= noise.mean(axis=1, keepdims=True)
    return np.array(means)[:, None] + spread * noise


def test_one_that_is_better_than_every_other_is_the_best() -> None:
    found = find_best(rounds(0.0, 0.3, 0.1), CONFIDENCE)
    assert (found.told, found.members) == (Told.BEST, (1,))
    assert 0.0 < found.p_value < 0.05
    near = find_best(rounds(0.0, 0.3, 0.29), CONFIDENCE)
    assert (near.told, near.members) == (Told.ALIKE, (1, 2))


def test_what_is_shown_to_be_worse_is_left_out() -> None:
    found = find_best(rounds(0.0, 0.3, 0.25, spread=0.1, n=7), CONFIDENCE)
    assert (found.told, found.members) == (Told.OPEN, (1, 2))
    assert found.p_value > 0.05


def test_nothing_is_left_out_that_many_comparisons_show_by_chance() -> None:
    """A p-value of 0.04 stands for one comparison, not for the smallest of three."""
    steps = np.array([-1.0, 0.0, 1.0, -0.5, 0.5])
    best, even = np.zeros(5), np.array([0.1, -0.1, 0.05, -0.05, 0.0])
    worse = best - 0.115 - 0.09 * steps
    two = find_best(np.array([best, worse]), CONFIDENCE)
    assert 0.01 < two.p_value < 0.05
    assert two.told is Told.BEST
    four = find_best(np.array([best, worse, even, -even]), CONFIDENCE)
    assert 1 in four.members


def test_one_round_shows_nothing_but_what_was_seen_and_one_of_a_rival_keeps_it_open() -> None:
    found = find_best(np.array([[0.1], [0.5]]), CONFIDENCE)
    assert (found.told, found.members) == (Told.ONCE, (1,))
    assert math.isnan(found.p_value)
    logs = rounds(0.0, 0.5, 0.2, n=4)
    logs[2, 1:] = NAN
    found = find_best(logs, CONFIDENCE)
    assert (found.told, found.members, found.p_value) == (Told.OPEN, (1, 2), 1.0)


def test_rounds_that_only_one_had_do_not_decide() -> None:
    """Its further rounds were fast ones; in the rounds of both it was the slower one."""
    logs = np.array([[0.0, 0.01, 0.02, 1.0, 1.0], [0.1, 0.12, 0.11, NAN, NAN]])
    assert find_best(logs, CONFIDENCE).members == (1,)


def test_no_spread_one_alone_and_nothing() -> None:
    assert find_best(np.zeros((2, 3)), CONFIDENCE).told is Told.ALIKE
    found = find_best(np.array([[0.0] * 3, [0.1] * 3]), CONFIDENCE)
    assert (found.told, found.members) == (Told.BEST, (1,))
    assert find_best(rounds(0.1), CONFIDENCE).told is Told.ALONE
    with pytest.raises(ValueError, match="nothing"):
        find_best(np.empty((0, 3)), CONFIDENCE)
