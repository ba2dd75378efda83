"""Where a comparison changes sides along the sizes."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.stats.crossover import Crossover, Outcome, find_crossover
from copycost.stats.roots import best_splits, split_roots
from copycost.stats.settings import StatisticsSettings

SETTINGS = StatisticsSettings()
SIZES = tuple(256 * 4**step for step in range(6))
QUIET = np.array([-0.01, 0.0, 0.01])


def crossover_of(
    means: Sequence[float | None],
    rounds: np.ndarray = QUIET,
    statistics: StatisticsSettings = SETTINGS,
) -> Crossover:
    """Return the crossover of these mean log ratios, with the same noise at each size."""
    logs = {
        size: mean + rounds for size, mean in zip(SIZES, means, strict=False) if mean is not None
    }
    return find_crossover(logs, SIZES[: len(means)], statistics)


@pytest.mark.parametrize(
    ("means", "outcome"),
    [
        ([0.2, 0.2, 0.3, 0.2], Outcome.ALWAYS),
        ([-0.2, -0.2, -0.3, -0.2], Outcome.NEVER),
        ([-0.2, -0.1, 0.1, 0.2], Outcome.FROM),
        ([-0.2, 0.1, 0.1, 0.2], Outcome.FROM),
        ([0.2, 0.1, -0.1, -0.2], Outcome.UP_TO),
        ([-0.2, 0.0, 0.1, 0.2], Outcome.FROM),
        ([-0.2, -0.2, 0.2, 0.2, -0.2, -0.2], Outcome.MIXED),
        ([0.0, 0.0, 0.0, 0.0], Outcome.UNDECIDED),
        ([-0.2, -0.2, 0.1, 0.0], Outcome.UNDECIDED),
        ([0.2, 0.0, 0.2, 0.2], Outcome.UNDECIDED),
        ([-0.2, 0.0, -0.2, 0.2, 0.2], Outcome.FROM),
        ([-0.2, -0.2, 0.2, 0.0, 0.2], Outcome.FROM),
        ([0.0, -0.2, 0.2, 0.2], Outcome.UNDECIDED),
        ([-0.2, 0.2, 0.0, -0.2], Outcome.UNDECIDED),
        ([-0.2, -0.2, -0.2, 0.2], Outcome.UNDECIDED),
        ([-0.2, 0.2, -0.2, -0.2], Outcome.UNDECIDED),
        ([None, None], Outcome.NOT_MEASURED),
        ([0.2, None, 0.2, 0.2], Outcome.UNDECIDED),
        ([-0.2, None, 0.2, 0.2], Outcome.FROM),
    ],
)
def test_outcome(means: list[float | None], outcome: Outcome) -> None:
    assert crossover_of(means).outcome is outcome


def test_bracket_and_point_of_a_straight_line() -> None:
    found = crossover_of([-0.3, -0.1, 0.1, 0.3])
    change = found.changes[0]
    assert (change.below_bytes, change.above_bytes) == (1024, 4096)
    assert change.point_bytes == pytest.approx(2048)
    assert change.low_bytes is not None
    assert change.high_bytes is not None
    assert change.low_bytes < 2048 < change.high_bytes
    assert found.share_inside == pytest.approx(1.0, abs=0.01)


def test_lone_size_is_named_and_is_no_reversal() -> None:
    found = crossover_of([-0.2, -0.2, -0.2, 0.2])
    assert found.lone == (SIZES[3],)
    assert found.changes == ()


def test_size_without_a_difference_takes_no_side() -> None:
    plain = crossover_of([-0.2, -0.15, -0.1, 0.2, 0.2]).changes[0]
    found = crossover_of([-0.2, 0.0, -0.1, 0.2, 0.2]).changes[0]
    assert (found.below_bytes, found.above_bytes) == (SIZES[2], SIZES[3])
    assert found.point_bytes == pytest.approx(plain.point_bytes)


def test_one_round_gives_signs_without_interval() -> None:
    found = crossover_of([-0.2, -0.1, 0.1, 0.2], rounds=np.zeros(1))
    assert found.outcome is Outcome.FROM
    assert found.observed_once
    assert found.changes[0].low_bytes is None
    assert found.share_inside is None


def test_missing_sizes_are_named() -> None:
    assert crossover_of([-0.2, None, 0.2, 0.2]).missing == (SIZES[1],)


def test_same_seed_gives_the_same_interval() -> None:
    assert crossover_of([-0.2, 0.0, 0.1, 0.3]) == crossover_of([-0.2, 0.0, 0.1, 0.3])


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6))
def test_turning_the_comparison_around_turns_the_outcome_around(means: list[float]) -> None:
    turned = {
        Outcome.ALWAYS: Outcome.NEVER,
        Outcome.NEVER: Outcome.ALWAYS,
        Outcome.FROM: Outcome.UP_TO,
        Outcome.UP_TO: Outcome.FROM,
    }
    few = StatisticsSettings(resamples=50)  # resamples have no part in an outcome
    one, other = (crossover_of([sign * mean for mean in means], statistics=few) for sign in (1, -1))
    assert turned.get(one.outcome, one.outcome) is other.outcome


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=5, max_size=5), min_size=1, max_size=5),
    st.booleans(),
)
def test_no_other_cut_is_cheaper(curves: list[list[float]], rising: bool) -> None:
    array = np.array(curves)
    cuts, costs = best_splits(array, rising)
    signed = array if rising else -array
    for curve, cut, cost in zip(signed, cuts, costs, strict=True):
        every = [np.maximum(curve[:k], 0).sum() + np.maximum(-curve[k:], 0).sum() for k in range(6)]
        assert cost == pytest.approx(min(every), abs=1e-12)
        assert every[cut] == pytest.approx(min(every), abs=1e-12)


def test_roots_beyond_the_grid_are_infinite() -> None:
    positions = np.arange(3.0)
    curves = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]])
    np.testing.assert_allclose(split_roots(curves, positions, True), [-np.inf, np.inf, 0.5])
