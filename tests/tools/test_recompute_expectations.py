import math

import numpy as np
import pytest

from tools.recompute.estimates import ratio
from tools.recompute.expectations import Case, Fared


def case(name: str, *ratios: float) -> Case:
    """Return a comparison with these ratios, a round each."""
    return Case(np.log(np.array(ratios)), (name,), (4096,), (1,), None)


HELD = case("held", 0.5, 0.51, 0.49, 0.5)
WIDE = case("wide", 1.5, 2.5, 1.2, 3.4)
SURE = case("sure", 1.3, 1.31, 1.32, 1.3)


def fared(*against: Case) -> Fared:
    """Return how an expectation fared that is violated above 1, out of 20 comparisons in all."""
    cases = [(one, ratio(one.logs, 0.95, 20)) for one in against]
    return Fared([HELD, WIDE, SURE], 1, 0, cases, 1)


def test_the_strongest_case_is_the_one_that_is_surely_furthest_off() -> None:
    strongest, found = fared(WIDE, SURE).strongest
    assert strongest is SURE
    # corrected for the others, so wider than that of one
    assert found.low < 1.29
    assert found.value == pytest.approx(math.exp(SURE.logs.mean()))


def test_what_holds_counts_as_nothing_in_how_far_it_is_violated() -> None:
    assert fared(SURE).mean == pytest.approx(SURE.logs.mean() / 3)
