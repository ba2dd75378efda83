"""Statements about groups are right, on simulated runs of known truth."""

import pytest

from tools.simulate_groups import ROUNDS, TRUTHS, simulate
from tools.simulation.noise import INDEPENDENT

BY_NAME = {truth.name: truth for truth in TRUTHS}
N_RUNS = 60


@pytest.mark.parametrize("noise", INDEPENDENT)
@pytest.mark.parametrize("n_rounds", ROUNDS)
@pytest.mark.parametrize("name", ["flat", "flat, one size", "+60 %, then flat", "sizes part"])
def test_hardly_a_statement_is_wrong(name: str, noise: str, n_rounds: int) -> None:
    # Of 60 runs, 5 % are 3; more than 6 would come in one of 30 such tests.
    assert simulate(BY_NAME[name], noise, n_rounds, N_RUNS, seed=1).wrong <= 0.1


@pytest.mark.parametrize("noise", INDEPENDENT)
@pytest.mark.parametrize("n_rounds", ROUNDS)
def test_rise_with_the_threads_is_told(noise: str, n_rounds: int) -> None:
    found = simulate(BY_NAME["+15 % per doubling"], noise, n_rounds, N_RUNS, seed=1)
    assert found.right >= 0.8
