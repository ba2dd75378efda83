"""Verdicts on claims are wrong as rarely as they promise, on tables of known truth."""

import pytest

from tools.simulate_claims import Case, cases, simulate

CASES = cases()
N_RUNS = 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}, {case.truth}")
def test_hardly_a_verdict_is_wrong(case: Case) -> None:
    # 60 runs at 5 % have 10 or more wrong ones in 1 of 2000 cases.
    assert simulate(case, "heavy tails", 3, N_RUNS).wrong < 10 / N_RUNS


def test_what_is_far_inside_or_outside_is_decided() -> None:
    said = {"compare": {"metric": "throughput", "implementation": "one_copy", "with": "two_copy",
                        "is": "more"}}  # fmt: skip
    inside = Case("more", "far inside", said, False, [0.3] * 8)
    outside = Case("more", "far outside", said, True, [-0.3] * 8)
    assert simulate(inside, "normal", 5, N_RUNS).wrong > 0.95
    assert simulate(outside, "normal", 5, N_RUNS).wrong > 0.95
