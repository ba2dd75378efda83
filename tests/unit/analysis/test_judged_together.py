"""What is picked from many ratios: judged with all that it could have been picked from."""

import numpy as np
import pandas as pd

from copycost.analysis.ratio_facts import judged_together

N_RUNS, N_PAIRS, N_CELLS, N_ROUNDS = 200, 12, 4, 8


def test_in_runs_without_any_effect_hardly_anything_is_named() -> None:
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(N_RUNS):
        tables = {
            pair: pd.DataFrame(rng.normal(0.0, 0.05, (N_CELLS, N_ROUNDS)))
            for pair in range(N_PAIRS)
        }
        named += any(found["sign"] for found in judged_together(tables, 0.95).values())
    assert named <= 0.08 * N_RUNS, "one by one, it is something in about half of them"


def test_the_interval_is_the_one_that_the_sign_rests_on() -> None:
    rng = np.random.default_rng(2)
    tables = {
        pair: pd.DataFrame(rng.normal(0.005 * pair, 0.05, (N_CELLS, N_ROUNDS)))
        for pair in range(20)
    }
    tables[20] = pd.DataFrame(np.full((N_CELLS, N_ROUNDS), np.nan))
    found = judged_together(tables, 0.95)
    assert list(found) == list(range(20)), "what no cell has is left out"
    assert all((one["sign"] == 0) == (one["low"] <= 1.0 <= one["high"]) for one in found.values())
    assert {one["sign"] for one in found.values()} == {0, 1}
