import math

import numpy as np
import pytest

from tools.recompute.expectations import Case, Fared


def case(name: str, *ratios: float) -> Case:
    """Return a comparison with these ratios, a round each."""
    return Case(np.log(np.array(ratios)), (name,), (4096,), (1,), None)


HELD = case("held", 0.5, 0.51, 0.49, 0.5)
WIDE = case("wide", 1.5, 2.5, 1.2, 3.4)
SURE = case("sure", 1.3, 1.31, 1.32, 1.3)


def fared(*against: tuple[Case, bool]) -> Fared:
    """Return how an expectation fared that is violated above 1."""
    return Fared([HELD, WIDE, SURE], 1, 0, [*against], 1, 0.95)


def test_the_strongest_case_is_the_one_that_is_surely_furthest_off() -> None:
    strongest, ratio = fared((WIDE, False), (SURE, True)).strongest
    assert strongest is SURE
    # of three picked from, so wider than that of one
    assert ratio.low < 1.295
    assert ratio.value == pytest.approx(math.exp(SURE.logs.mean()))


def test_what_holds_counts_as_nothing_in_how_far_it_is_violated_at_least() -> None:
    least = fared((SURE, True)).least
    assert 0 < least < math.log(1.3) / 3
    other = Fared([HELD, SURE], 1, 0, [(SURE, True)], 1, 0.95)
    assert other.least > least


def test_the_cases_that_stand_are_counted() -> None:
    assert fared((WIDE, False), (SURE, True)).sure == 1
