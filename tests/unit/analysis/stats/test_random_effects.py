import math

import numpy as np
import pytest

from copycost.analysis.stats.random_effects import across_hosts, outlying


def test_hosts_that_differ_as_their_rounds_tell_have_no_spread_of_their_own() -> None:
    effects = np.array([0.1, 0.12, 0.11, 0.09, 0.1])
    told = across_hosts(effects, np.full(5, 0.05), 0.95)
    assert told.spread == 0.0
    assert told.low < 0.104 < told.high


def test_the_spread_is_what_rounds_do_not_explain() -> None:
    rng = np.random.default_rng(1)
    effects = 0.3 * rng.normal(size=4000) + 0.1 * rng.normal(size=4000)
    told = across_hosts(effects, np.full(4000, 0.1), 0.95)
    assert told.spread == pytest.approx(0.3, rel=0.05)
    assert told.spread_low < 0.3 < told.spread_high
    # of all true effects 95 % lie within
    assert told.next_high - told.next_low == pytest.approx(2 * 1.96 * 0.3, rel=0.05)


def test_a_host_that_lies_off_is_found_and_how_far_unless_it_was_measured_badly() -> None:
    effects = np.array([0.1, 0.11, 0.09, 0.1, 0.12, 0.08, 2.0, np.nan])
    errors = np.full(8, 0.01)
    beyond = outlying(effects, errors, 0.95)
    assert np.flatnonzero(np.nan_to_num(beyond)).tolist() == [6]
    assert 0 < beyond[6] < 2
    assert math.isnan(beyond[7])
    errors[6] = 1.5
    assert outlying(effects, errors, 0.95)[6] == 0.0
