"""Whether it depends on a setting which of two is better."""

import numpy as np
import pytest

from copycost.stats.trend_tests import reversals

QUIET = np.array([-0.01, 0.0, 0.01, 0.005, -0.005])


def test_opposite_signs_at_a_size_are_a_reversal() -> None:
    rounds = {1024: [QUIET - 0.2, QUIET - 0.2], 65536: [QUIET - 0.2, QUIET + 0.2]}
    assert reversals(rounds, 0.95) == (65536,)


def test_decided_here_and_undecided_there_is_none() -> None:
    loud = np.array([-0.3, 0.4, -0.2, 0.5, -0.1])
    assert reversals({1024: [QUIET + 0.2, loud], 65536: [QUIET - 0.2, loud]}, 0.95) == ()


def test_ratio_of_one_sign_and_different_size_is_none() -> None:
    assert reversals({1024: [QUIET + 0.1, QUIET + 0.9]}, 0.95) == ()


@pytest.mark.parametrize("rounds", [[QUIET + 0.2], [QUIET[:1] + 0.2, QUIET[:1] - 0.2], []])
def test_one_setting_or_one_round_shows_nothing(rounds: list[np.ndarray]) -> None:
    assert reversals({1024: rounds}, 0.95) == ()


@pytest.mark.parametrize("n_rounds", [3, 5, 7, 10])
@pytest.mark.parametrize("slope", [0.0, 0.05])
def test_where_nothing_depends_on_the_setting_it_is_hardly_ever_said(
    n_rounds: int, slope: float
) -> None:
    rng = np.random.default_rng([n_rounds, round(100 * slope)])
    spreads = 0.03 * np.exp(rng.normal(0, 0.8, size=(7, 4)))
    truth = slope * np.arange(-3, 4)
    n_false = 0
    for _ in range(300):
        cells = truth[:, None, None] + rng.normal(0, spreads[:, :, None], size=(7, 4, n_rounds))
        n_false += bool(reversals({4**k: list(cells[k]) for k in range(7)}, 0.95))
    assert n_false / 300 <= 0.05
