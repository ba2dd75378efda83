"""Whether one crossover is at a smaller size than another."""

import math

import numpy as np
import pytest

from copycost.stats.crossover_ratio import Along, CrossoverRatio, _interval, crossover_ratio
from copycost.stats.ratios import Direction
from copycost.stats.settings import StatisticsSettings

SETTINGS = StatisticsSettings()
SIZES = tuple(1024 * 2**step for step in range(8))


def line(root: float, noise: float = 0.01, n_rounds: int = 5, slope: float = 0.2) -> Along:
    """Return a comparison whose log ratio rises through 0 at 2**root bytes."""
    rng = np.random.default_rng([round(root * 10), n_rounds])
    return Along(
        {
            size: slope * (math.log2(size) - root) + rng.normal(0, noise, size=n_rounds)
            for size in SIZES
        },
        SIZES,
    )


def ratio_of(first: Along, second: Along) -> CrossoverRatio:
    found = crossover_ratio(first, second, SETTINGS)
    assert found is not None
    return found


def test_smaller_crossover_is_below() -> None:
    found = ratio_of(line(12.5), line(15.0))
    assert found.direction is Direction.BELOW
    assert found.low is not None
    assert found.high is not None
    assert found.low < 2**-2.5 < found.high < 1.0


def test_turned_around_it_is_above_and_the_inverse() -> None:
    one, other = ratio_of(line(12.5), line(15.0)), ratio_of(line(15.0), line(12.5))
    assert other.direction is Direction.ABOVE
    assert other.value == pytest.approx(1 / one.value)


def test_equal_crossovers_show_no_difference() -> None:
    found = ratio_of(line(13.5, noise=0.03), line(13.5, noise=0.03, n_rounds=6))
    assert found.direction is Direction.NO_DIFFERENCE


def test_identical_curves_are_resampled_independently() -> None:
    found = ratio_of(line(13.5, noise=0.05), line(13.5, noise=0.05))
    assert found.value == 1.0
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.99
    assert found.high > 1.01


def test_one_round_gives_no_interval() -> None:
    found = ratio_of(line(12.5, n_rounds=1), line(15.0))
    assert found.direction is Direction.OBSERVED_ONCE
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("other", [line(5.0), line(30.0), line(13.5, slope=-0.2)])
def test_without_two_crossovers_the_same_way_there_is_no_ratio(other: Along) -> None:
    assert crossover_ratio(line(12.5), other, SETTINGS) is None
    assert crossover_ratio(other, line(12.5), SETTINGS) is None


@pytest.mark.parametrize(
    ("n_below", "n_both", "low", "high"),
    [(0, 0, 0.5, 0.5), (10, 0, None, 0.5), (0, 10, None, None), (1, 1, 0.5, 0.5)],
)
def test_resamples_beyond_the_grid_leave_an_end_open(
    n_below: int, n_both: int, low: float | None, high: float | None
) -> None:
    first, second = np.full(100, 12.0), np.full(100, 13.0)
    first[: n_below + n_both] = -np.inf
    second[n_below : n_below + n_both] = -np.inf
    assert _interval(first, second, SETTINGS) == (low, high)
