"""A fixed cost and a cost per byte."""

import numpy as np
import pytest

from copycost.analysis.stats.two_terms import fit_two_terms

SIZES = (64, 512, 1472, 8192, 65507)


@pytest.mark.parametrize("reps", [3, 10])
def test_intervals_hold_the_truth(reps: int) -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(300):
        costs = {s: (1500 + 0.1 * s) * (1 + rng.normal(0, 0.05, reps)) for s in SIZES}
        found = fit_two_terms(costs, 0.95)
        assert found is not None
        fixed = found.fixed_low <= 1500 <= found.fixed_high
        held += fixed and found.per_byte_low <= 0.1 <= found.per_byte_high
    assert 0.90 <= held / 300 <= 1.0


def test_one_disturbed_repetition_of_three_bends_no_line() -> None:
    costs = {size: (1500 + 0.1 * size) * np.array([0.98, 1.0, 1.02]) for size in SIZES}
    costs[8192][2] *= 2.0
    found = fit_two_terms(costs, 0.95)
    assert found is not None
    assert (found.fixed, found.per_byte) == pytest.approx((1500, 0.1))
    assert found.misfit == 0.0


def test_two_sizes_have_terms_without_an_interval_and_one_has_none() -> None:
    found = fit_two_terms({500: np.full(3, 100.0), 1500: np.full(3, 200.0)}, 0.95)
    assert found is not None
    assert (found.fixed, found.per_byte, found.misfit) == pytest.approx((50.0, 0.1, 0.0))
    assert np.isnan([found.fixed_low, found.per_byte_high]).all()
    assert fit_two_terms({64: np.array([100.0, 101.0])}, 0.95) is None


@pytest.mark.parametrize(("spread", "seen"), [(0.0, True), (0.1, True), (0.8, False)])
def test_a_misfit_counts_beyond_what_the_repetitions_leave_open(spread: float, seen: bool) -> None:
    repetitions = 1.0 + spread * np.array([-1.0, 0.0, 1.0])
    costs = {size: (1500 + 0.1 * size) * repetitions for size in SIZES}
    costs[8192] = costs[8192] * 1.6
    found = fit_two_terms(costs, 0.95)
    assert found is not None
    assert (found.misfit > 0.25) is seen
    assert seen or found.misfit == 0.0
