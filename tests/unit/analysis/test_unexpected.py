"""How violated expectations are ranked."""

import numpy as np
import pytest

from copycost.analysis.checks import Check
from copycost.analysis.questions.unexpected import _least_violation
from copycost.stats.ratios import paired_ratio

CONFIDENCE = 0.95


def checks_of(means: list[float], spread: float, n_rounds: int, seed: int = 1) -> list[Check]:
    rng = np.random.default_rng(seed)
    logs = [mean + rng.normal(0.0, spread, n_rounds) for mean in means]
    return [Check(paired_ratio(one, CONFIDENCE), {}, one) for one in logs]


def test_share_and_size_count_over_all_comparisons() -> None:
    """16 of 63 by 30 % are less than 15 of 16 by 20 %, whatever one case shows."""
    few = checks_of([0.26] * 16 + [-0.2] * 47, 0.01, 5)
    most = checks_of([0.18] * 15 + [0.0], 0.01, 5)
    found = [_least_violation(checks, 1, CONFIDENCE) for checks in (few, most)]
    assert 0.0 < found[0] < found[1]


def test_accidental_tightness_of_one_case_does_not_lead() -> None:
    """Three rounds that happen to agree are no more certain than the number of cases allows."""
    tight = checks_of([0.4], 0.0005, 3) + checks_of([0.0] * 62, 0.05, 3)
    broad = checks_of([0.15] * 16, 0.03, 3)
    found = [_least_violation(checks, 1, CONFIDENCE) for checks in (tight, broad)]
    assert found[0] < found[1]


@pytest.mark.parametrize("n_rounds", [3, 5, 10])
def test_bound_holds(n_rounds: int) -> None:
    """The least violation is more than the true one in 5 % of the runs at most."""
    means = [0.1] * 4 + [-0.1] * 4 + [0.0] * 4
    true = 0.4 / 12
    found = [
        _least_violation(checks_of(means, 0.04, n_rounds, seed), 1, CONFIDENCE)
        for seed in range(200)
    ]
    assert np.mean(np.array(found) > true) <= 0.08


def test_right_side_alone_is_no_violation() -> None:
    assert _least_violation(checks_of([-0.3] * 5, 0.01, 5), 1, CONFIDENCE) == 0.0
    assert _least_violation(checks_of([-0.3] * 5, 0.01, 5), -1, CONFIDENCE) > 0.2
