"""Medians and their bootstrap intervals."""

import numpy as np
import pytest

from copycost.analysis.stats.estimates import median_intervals
from copycost.analysis.stats.settings import StatisticsSettings

SETTINGS = StatisticsSettings()


def test_one_value_has_no_interval_and_equal_ones_have_one_without_width() -> None:
    found = median_intervals(np.array([[3.0]]), SETTINGS)
    assert found.median[0] == 3.0
    assert np.isnan([found.low[0], found.high[0]]).all()
    found = median_intervals(np.full((1, 5), 7.0), SETTINGS)
    assert (found.low[0], found.high[0]) == pytest.approx((7.0, 7.0))


@pytest.mark.parametrize("n", [3, 5, 10])
def test_interval_holds_the_truth_as_often_as_it_says(n: int) -> None:
    values = np.random.default_rng(4).lognormal(0.0, 0.05, size=(4000, n))
    found = median_intervals(values, SETTINGS)
    held = np.mean((found.low <= 1.0) & (found.high >= 1.0))
    assert 0.94 <= held <= 0.985
