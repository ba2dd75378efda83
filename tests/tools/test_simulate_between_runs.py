"""The tool that simulates comparisons of runs: its truths, what it finds in runs."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from copycost.compare.runs.verdicts import MEASURED_SPREAD, Judgement, judge
from tools.simulate_between_runs import (
    CELLS,
    KINDS,
    make_runs,
    measured_sides,
    simulate,
    spreads,
)

TABLE = Path(__file__).parents[2] / "docs" / "between_runs.csv"


def test_equals_are_rarely_told_apart_and_large_differences_are() -> None:
    told = simulate(KINDS[1], "normal", 20, seed=1)
    assert max(told.cells, told.groups, told.whole, told.gate) <= 0.2
    assert told.mixed == 1.0
    alone = simulate(KINDS[0], "normal", 20, seed=1)
    assert alone.cells > 0.5, "rounds alone take any two runs for different"


def test_a_true_difference_of_all_cells_is_seen_by_many_runs() -> None:
    effects = np.full(len(CELLS), math.log(0.8))
    sides, _ = make_runs(np.random.default_rng(1), "normal", KINDS[-1], effects)
    found: Judgement = judge(sides, MEASURED_SPREAD)
    assert found.whole.sign == -1
    assert found.whole.found.ratio == pytest.approx(0.8, rel=0.1)


def test_the_allowance_is_that_of_the_runs_that_were_measured() -> None:
    table = pd.read_csv(TABLE)
    n_runs = len(measured_sides(table, "throughput"))
    assert n_runs - 1 == MEASURED_SPREAD.freedom
    found = list(spreads(table))
    assert [one.quantity for one in found] == ["throughput", "cpu_time", "round_trip"]
    cell, whole = max(one.beyond_rounds for one in found), max(one.whole for one in found)
    assert cell - 0.0005 <= MEASURED_SPREAD.cell <= cell + 0.005
    assert whole - 0.0005 <= MEASURED_SPREAD.whole <= whole + 0.005
