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
