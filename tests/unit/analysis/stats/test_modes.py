"""Two clusters are told from noise, and noise is hardly ever taken for two clusters."""

import numpy as np
import pytest

from copycost.analysis.stats.modes import SHARE_HELD, gap_p_values, two_modes
from tools.simulation.modes import CALIBRATED, CLUSTERS, false_alarms, power, ratio_coverage


@pytest.mark.parametrize("name", CALIBRATED)
@pytest.mark.parametrize("n", [3, 5, 7, 12])
def test_noise_is_hardly_ever_taken_for_two_clusters(name: str, n: int) -> None:
    # 300 runs give 5 % to about 1.3 %.
    assert false_alarms(CALIBRATED[name], n, 300, scale=0.1) <= 0.09


@pytest.mark.parametrize(("n", "found"), [(3, 0.0), (5, 0.15), (7, 0.4), (12, 0.85)])
def test_two_clusters_far_apart_are_found(n: int, found: float) -> None:
    share = power(100.0, n, 300, scale=0.02)
    assert share >= found
    assert (share > 0.0) == (n >= 5)


def test_what_hardly_differs_is_equal_or_not_known_is_no_cluster() -> None:
    logs = np.log(np.array([1.0, 1.0001, 0.9999, 1.05, 1.0501, 1.0499, 1.0502]))
    assert two_modes([logs], 0.95) == [0]
    assert two_modes([4 * logs], 0.95) == [3]
    assert two_modes([np.zeros(7), np.full(7, np.nan), np.empty(0)], 0.95) == [0, 0, 0]


def test_more_cells_ask_for_a_wider_gap() -> None:
    logs = np.log([1.0, 1.01, 0.99, 1.5, 1.52, 1.51, 1.49])
    quiet = [np.random.default_rng(at).normal(0, 0.01, 7) for at in range(5000)]
    assert two_modes([logs], 0.95) == [3]
    assert two_modes([logs, *quiet], 0.95)[0] == 0


def test_p_values_fall_with_the_gap_and_end_where_nothing_was_simulated() -> None:
    found = gap_p_values(np.array([0.0, 5.0, 20.0, 1e6]), 7)
    assert (np.diff(found) < 0).all()
    assert found[-1] == pytest.approx(1e-4)
    # between two simulated numbers of repetitions, the one that asks for more decides
    between = gap_p_values(np.array([30.0]), 17)
    assert between >= gap_p_values(np.array([30.0]), 15)


@pytest.mark.parametrize("n", SHARE_HELD)
def test_intervals_hold_as_seldom_as_the_limits_say(n: int) -> None:
    least = min(ratio_coverage(apart, n, 20_000) for apart in CLUSTERS)
    assert least == pytest.approx(SHARE_HELD[n], abs=0.01)
