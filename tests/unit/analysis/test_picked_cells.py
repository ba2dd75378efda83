"""What is told of cells that their own data picked is hardly ever wrong, on runs of known truth."""

import numpy as np
import pytest

from copycost.analysis.unexpected import unexpected_findings
from tools.simulation.unexpected import N_ROUNDS, default_run, simulate

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("noise", ["normal", "two modes of two_copy alone"])
def test_equal_ways_violate_nothing(noise: str) -> None:
    # of 20 runs, 5 % are 1
    assert 20 * simulate(noise, 20, 1).share <= 5


def test_a_case_is_told_with_the_interval_that_its_verdict_rests_on() -> None:
    views = default_run(np.random.default_rng(1), "normal")
    rows = views["veth"].rows
    slower = (rows["implementation"] == "two_copy") & (rows["msg_bytes"] == 65536)
    rows.loc[slower, "throughput_bits_per_s"] /= 2.0
    findings = [one for one in unexpected_findings(views) if one.condition == "veth"]
    (found,) = (one for one in findings if one.verdict != "not violated")
    assert (found.subject, found.verdict) == ("larger_no_slower", "violated")
    assert 0 < (found.n_worse or 0) < (found.n_cells or 0)
    assert 0.0 < (found.high or 0.0) < 1.0
    assert found.n == N_ROUNDS
