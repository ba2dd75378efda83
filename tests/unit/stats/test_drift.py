"""Whether throughput moved with the rounds, on made-up runs of known truth."""

import numpy as np
import pytest

from copycost.stats.drift import drift_over_rounds


@pytest.mark.parametrize(("n_cells", "n_rounds"), [(12, 2), (12, 3)])
def test_rounds_that_do_not_differ_are_hardly_ever_said_to(n_cells: int, n_rounds: int) -> None:
    rng = np.random.default_rng([n_rounds, n_cells])
    shape = (100, n_cells, n_rounds)
    # heavy tails, and cells some of which spread a hundred times as much as others
    noise = 0.01 * rng.standard_t(3, shape) * np.exp(rng.normal(0, 2, (100, n_cells, 1)))
    alarms = np.mean([drift_over_rounds(run, 1).p_value <= 0.05 for run in noise])
    # 100 runs give the share to about 4.4 %.
    assert alarms <= 0.12


def test_a_dip_in_one_round_is_found_in_noise_larger_than_it() -> None:
    logs = np.random.default_rng(1).normal([0.0, -0.1, -0.05], 0.1, (84, 3))
    drift = drift_over_rounds(logs, 1)
    assert drift.p_value < 0.01
    assert not drift.is_monotone
    assert drift.path[0] == 1.0


def test_values_without_any_noise_have_no_drift() -> None:
    assert drift_over_rounds(np.ones((3, 4)), 1).p_value == 1.0
    assert drift_over_rounds(np.ones((3, 2)), 1).p_value == 1.0
