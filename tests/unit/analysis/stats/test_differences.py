"""Differences of mean logarithms against scipy's tests, and where there is no error."""

import math

import numpy as np
import pytest
from scipy import stats

from copycost.analysis.stats.differences import (
    LogDifference,
    pooled_difference,
    welch_difference,
    with_run_spread,
)

RNG = np.random.default_rng(1)
A, B = RNG.normal(0.0, 0.1, 5), RNG.normal(0.2, 0.3, 7)


def test_welch_is_that_of_scipy() -> None:
    found = welch_difference(A, B)
    expected = stats.ttest_ind(B, A, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.freedom == pytest.approx(expected.df)
    assert np.log(found.interval(0.9)) == pytest.approx(expected.confidence_interval(0.9))
    assert found.ratio == pytest.approx(math.exp(B.mean() - A.mean()))


def test_pooled_is_students_test() -> None:
    expected = stats.ttest_ind(B, A)
    assert pooled_difference(A, B).p_value == pytest.approx(expected.pvalue)
    alone = pooled_difference(A, B[:1])
    assert alone.freedom == 4
    assert alone.error == pytest.approx(A.std(ddof=1) * math.sqrt(1 / 5 + 1))


@pytest.mark.parametrize(
    "found",
    [
        welch_difference(A[:1], B),
        pooled_difference(A[:1], B[:1]),
        with_run_spread(welch_difference(A[:1], B), 0.1, 5),
    ],
)
def test_what_has_no_scatter_has_no_interval(found: LogDifference) -> None:
    assert not found.has_interval
    assert math.isnan(found.p_value)
    assert all(map(math.isnan, found.interval(0.95)))


def test_values_that_do_not_scatter_are_equal_or_not() -> None:
    same = np.zeros(3)
    assert welch_difference(same, same).p_value == 1.0
    assert welch_difference(same, same + 1.0).p_value == 0.0
    assert welch_difference(same, same + 1.0).interval(0.95) == (math.e, math.e)


def test_the_spread_of_runs_adds_to_the_variance_and_its_freedom_to_the_rest() -> None:
    plain = welch_difference(A, B)
    known = with_run_spread(plain, 0.2, math.inf)
    assert known.error**2 == pytest.approx(plain.error**2 + 2 * 0.2**2)
    assert known.freedom > plain.freedom
    vague = with_run_spread(plain, 0.2, 3.0)
    assert 3.0 < vague.freedom < known.freedom
    assert with_run_spread(plain, 0.0, 5.0).p_value == pytest.approx(plain.p_value)
