"""What may be said of groups of ratios."""

import numpy as np
import pytest

from copycost.analysis.stats.ratios import paired_ratio
from copycost.analysis.stats.settings import FloatArray
from copycost.analysis.stats.trend_tests import (
    Change,
    Course,
    path_of,
    paths,
    reversals,
    settled_signs,
)

CONFIDENCE = 0.95


def rounds(mean: float, spread: float, n: int = 5) -> FloatArray:
    """Return log ratios of exactly this mean and standard deviation."""
    values = np.linspace(-1.0, 1.0, n)
    return mean + spread * values / values.std(ddof=1)


def change(start: int, end: int, sign: int) -> Change:
    return Change(start, end, paired_ratio(rounds(0.2 * sign, 0.01), CONFIDENCE))


def test_signs_stand_or_not() -> None:
    found = [rounds(mean, 0.02) for mean in (0.3, -0.3, 0.005)]
    assert settled_signs(found, CONFIDENCE) == [1, -1, 0]


def test_rounds_that_agree_by_chance_do_not_stand() -> None:
    """Of a machine with two states, three rounds in the same ones look like no noise at all."""
    lucky, others = rounds(0.1, 0.0001, 3), [rounds(0.0, 0.1, 3)] * 5
    assert paired_ratio(lucky, CONFIDENCE).p_value < 0.001
    assert settled_signs([lucky], CONFIDENCE) == [1]
    assert settled_signs([lucky, *others], CONFIDENCE) == [0] * 6


@pytest.mark.parametrize(
    ("changes", "course", "told"),
    [
        ([(1, 2, 0), (2, 4, 0), (1, 4, 0)], Course.UNSETTLED, []),
        ([(1, 2, 0), (2, 4, 0), (1, 4, 1)], Course.RISES, [(1, 4)]),
        ([(1, 2, 1), (2, 4, 0), (1, 4, 0)], Course.RISES, [(1, 2)]),
        ([(1, 2, 1), (2, 4, 1), (1, 4, 1)], Course.RISES, [(1, 4)]),
        ([(1, 2, 0), (2, 4, -1), (1, 4, -1)], Course.FALLS, [(1, 4)]),
        ([(1, 2, 1), (2, 4, -1), (1, 4, 0)], Course.TURNS, [(1, 2), (2, 4)]),
        ([(1, 2, -1), (2, 4, 1), (1, 4, 0)], Course.TURNS, [(2, 4), (1, 2)]),
    ],
)
def test_course(
    changes: list[tuple[int, int, int]], course: Course, told: list[tuple[int, int]]
) -> None:
    found = path_of([change(*one) for one in changes])
    assert found.course is course
    assert [(one.start, one.end) for one in found.told] == told


def test_quantities_are_tested_together() -> None:
    """One that stands alone may not among many."""
    lone, nothing = ({(1, 2): rounds(mean, 0.03)} for mean in (0.05, 0.0))
    assert paths({"a": lone}, CONFIDENCE)["a"].course is Course.RISES
    many = paths({"a": lone} | {str(i): nothing for i in range(20)}, CONFIDENCE)
    assert many["a"].course is Course.UNSETTLED


QUIET = np.array([-0.01, 0.0, 0.01, 0.005, -0.005])
LOUD = np.array([-0.3, 0.4, -0.2, 0.5, -0.1])


def test_opposite_signs_at_a_size_and_nothing_less_are_a_reversal() -> None:
    less = [
        [QUIET - 0.2, QUIET - 0.2],
        [QUIET + 0.2, LOUD],  # decided here and undecided there
        [QUIET + 0.1, QUIET + 0.9],
        [QUIET + 0.2],
        [QUIET[:1] + 0.2, QUIET[:1] - 0.2],
        [],
    ]
    rounds = dict(enumerate(less)) | {65536: [QUIET - 0.2, QUIET + 0.2]}
    assert reversals(rounds, CONFIDENCE) == (65536,)
