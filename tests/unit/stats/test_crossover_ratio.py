"""Whether one crossover is at a smaller size than another."""

import pytest

from copycost.stats.crossover import Change, Crossover, CrossoverRatio, Outcome, crossover_ratio
from copycost.stats.ratios import Direction


def crossover(below: int, above: int, outcome: Outcome = Outcome.FROM) -> Crossover:
    change = Change(outcome is Outcome.FROM, below, above)
    return Crossover(outcome, False, (below, above), (), (), (), (change,))


def ratio_of(first: Crossover, second: Crossover) -> CrossoverRatio:
    found = crossover_ratio(first, second)
    assert found is not None
    return found


def test_bracket_below_the_other_is_a_smaller_size() -> None:
    found = ratio_of(crossover(2048, 8192), crossover(16384, 49152))
    assert found.direction is Direction.BELOW
    assert (found.low, found.high) == (2048 / 49152, 0.5)
    turned = ratio_of(crossover(16384, 49152), crossover(2048, 8192))
    assert turned.direction is Direction.ABOVE
    assert (turned.low, turned.high) == (2.0, 24.0)


def test_brackets_that_touch_do_not_overlap() -> None:
    assert ratio_of(crossover(4, 16), crossover(16, 64)).direction is Direction.BELOW


@pytest.mark.parametrize("other", [(4, 16), (8, 32), (1, 64), (8, 12)])
def test_overlapping_brackets_show_no_difference(other: tuple[int, int]) -> None:
    found = ratio_of(crossover(4, 16), crossover(*other))
    assert found.direction is Direction.NO_DIFFERENCE
    assert found.low < 1.0 < found.high


@pytest.mark.parametrize(
    "other",
    [
        crossover(4, 16, Outcome.UP_TO),
        Crossover(Outcome.ALWAYS, False, (4, 16), (), (), (), ()),
        Crossover(Outcome.UNDECIDED, False, (4, 16), (), (), (), ()),
    ],
)
def test_without_two_crossovers_the_same_way_there_is_no_ratio(other: Crossover) -> None:
    assert crossover_ratio(crossover(4, 16), other) is None
    assert crossover_ratio(other, crossover(4, 16)) is None
