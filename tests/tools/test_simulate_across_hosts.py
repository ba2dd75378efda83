import pytest

from tools.simulate_across_hosts import chance_associations, simulate


@pytest.mark.parametrize("effects", ["normal", "heavy tails (t3)", "two groups"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(effects: str) -> None:
    told = simulate(effects, "normal", n_hosts=10, n_rounds=7, n_runs=300, seed=1)
    assert 0.90 <= told.mean <= 0.99
    assert 0.88 <= told.following <= 0.99
    assert told.found > 0.9


def test_a_spread_that_is_taken_too_small_would_show() -> None:
    told = simulate("normal", "normal", n_hosts=40, n_rounds=7, n_runs=300, seed=1)
    assert 0.90 <= told.spread <= 0.99
    assert told.width == pytest.approx(1.03, abs=0.05), "not wider than need be"


def test_facts_that_have_nothing_to_do_with_it_are_seldom_said_to() -> None:
    assert chance_associations(12, 200, 1) <= 0.09
