"""Where a comparison changes sides along the sizes."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.analysis.stats.crossover import Change, Crossover, Outcome, crossover_of_rounds

SIZES = tuple(256 * 4**step for step in range(6))
QUIET = np.array([-0.01, 0.0, 0.01])


def crossover_of(means: Sequence[float | None], rounds: np.ndarray = QUIET) -> Crossover:
    """Return the crossover of these mean log ratios, with the same noise at each size."""
    logs = {
        size: mean + rounds for size, mean in zip(SIZES, means, strict=False) if mean is not None
    }
    return crossover_of_rounds(logs, SIZES[: len(means)], 0.95)


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


def test_place_is_the_bracket_of_two_measured_sizes() -> None:
    change = crossover_of([-0.3, -0.1, 0.1, 0.3]).changes[0]
    assert change == Change(gains=True, below_bytes=1024, above_bytes=4096)
    found = crossover_of([-0.3, None, 0.1, 0.3], rounds=np.zeros(1))
    assert (found.outcome, found.observed_once) == (Outcome.FROM, True)
    assert found.missing == (SIZES[1],)
    change = crossover_of([0.3, 0.1, 0.0, -0.1, -0.3]).changes[0]
    assert change == Change(gains=False, below_bytes=1024, above_bytes=SIZES[3])


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6))
def test_turning_the_comparison_around_turns_the_outcome_around(means: list[float]) -> None:
    turned = {
        Outcome.ALWAYS: Outcome.NEVER,
        Outcome.NEVER: Outcome.ALWAYS,
        Outcome.FROM: Outcome.UP_TO,
        Outcome.UP_TO: Outcome.FROM,
    }
    one, other = (crossover_of([sign * mean for mean in means]) for sign in (1, -1))
    assert turned.get(one.outcome, one.outcome) is other.outcome
