"""One ratio over many cells, and what is picked from many ratios."""

import itertools

import numpy as np
import pandas as pd
import pytest

from copycost.analysis.ratio_facts import cell_counts, judged_together

SIZES, THREADS, N_ROUNDS = (64, 1024, 16384, 65536), (1, 2), 3


def logs_of(means: dict[tuple[int, int], float], noise: float, seed: int = 1) -> pd.DataFrame:
    """Return log ratios of cells by size and threads, a column per round."""
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_tuples(means, names=["msg_bytes", "n_threads"])
    values = np.array(list(means.values()))[:, None]
    return pd.DataFrame(values + rng.normal(0.0, noise, (len(means), N_ROUNDS)), index=index)


def halved(axis: int, sign: int) -> dict[tuple[int, int], float]:
    """Return means that lie on one side for the lower half along an axis, then on the other."""
    cells = itertools.product(SIZES, THREADS)
    middle = (SIZES[2], THREADS[1])[axis]
    return {cell: 0.1 * (sign if cell[axis] >= middle else -sign) for cell in cells}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("axis", "name"), [(0, "msg_bytes"), (1, "n_threads")])
def test_halves_on_different_sides_are_told_with_the_side_of_the_larger_one(
    axis: int, name: str, sign: int
) -> None:
    found = cell_counts(logs_of(halved(axis, sign), noise=0.01), 0.95)
    assert found["halves"] == [{"axis": name, "sign": sign}]
    assert (found["n_above"], found["n_below"], found["contradict"]) == (4, 4, True)


def test_cells_of_which_none_is_sure_contradict_each_other_by_halves() -> None:
    # each cell is off by much from round to round, for which another makes up in every half
    means = halved(0, 1)
    off = np.outer([1, -1, -1, 1] * 2, [0.2, -0.2, 0.0])
    logs = logs_of(means, noise=0.005) + off
    found = cell_counts(logs, 0.95)
    assert (found["n_above"], found["n_below"]) == (0, 0)
    assert found["contradict"]
    assert found["halves"] == [{"axis": "msg_bytes", "sign": 1}]


def test_in_runs_without_any_effect_hardly_anything_is_named() -> None:
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(200):
        tables = {pair: pd.DataFrame(rng.normal(0.0, 0.05, (4, 8))) for pair in range(12)}
        named += any(found["sign"] for found in judged_together(tables, 0.95).values())
    assert named <= 16, "one by one, it is something in about half of them"
