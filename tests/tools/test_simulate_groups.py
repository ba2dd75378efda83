"""Statements about groups are right, on simulated runs of known truth."""

import math

import pytest

from tools.simulate_groups import NOISES, ROUNDS, TRUTHS, main, page, simulate

BY_NAME = {truth.name: truth for truth in TRUTHS}
N_RUNS = 60


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_rounds", ROUNDS)
@pytest.mark.parametrize("name", ["flat", "flat, one size", "+60 %, then flat", "sizes part"])
def test_hardly_a_statement_is_wrong(name: str, noise: str, n_rounds: int) -> None:
    # Of 60 runs, 5 % are 3; more than 6 would come in one of 30 such tests.
    assert simulate(BY_NAME[name], noise, n_rounds, N_RUNS, seed=1).wrong <= 0.1


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_rounds", ROUNDS)
def test_rise_with_the_threads_is_told(noise: str, n_rounds: int) -> None:
    found = simulate(BY_NAME["+15 % per doubling"], noise, n_rounds, N_RUNS, seed=1)
    assert found.right >= 0.8


def test_page_states_the_result() -> None:
    found = [simulate(BY_NAME[name], "normal", 3, 2, seed=1) for name in ("flat", "sizes part")]
    text = page(found, 2, 1)
    assert "| flat | normal | 3 |" in text
    assert math.isnan(found[0].right)


def test_command_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "1"]) == 0
    assert capsys.readouterr().out.count("\n| ") == 2 + len(TRUTHS) * len(NOISES) * len(ROUNDS)
