"""The tool that simulates comparisons of runs: its truths, what it finds in runs."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from copycost.compare.runs.verdicts import MEASURED_SPREAD, Judgement, judge, unit_of
from tools.simulate_between_runs import (
    CELLS,
    KINDS,
    make_runs,
    measured_sides,
    prior_freedom,
    simulate,
    spreads,
)

TABLE = Path(__file__).parents[2] / "docs" / "between_runs.csv"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_runs_are_those_of_their_kind(kind: object) -> None:
    sides, _ = make_runs(np.random.default_rng(1), "normal", kind, np.zeros(len(CELLS)))
    assert (len(sides.a), len(sides.b)) == (kind.n_a, kind.n_b)
    assert len(sides.a[0][CELLS[0]].reps) == kind.n_rounds
    expected = "runs" if kind.n_a + kind.n_b > 2 else "paired rounds" if kind.in_turn else "rounds"
    assert unit_of(sides) == expected


def test_runs_differ_by_what_was_measured() -> None:
    kind = replace(KINDS[1], n_a=400, n_rounds=1)
    sides, _ = make_runs(np.random.default_rng(1), "normal", kind, np.zeros(len(CELLS)))
    wholes = np.array([np.mean([run[cell].logs[0] for cell in CELLS]) for run in sides.a])
    # one round each scatters too, by 6 % in the middle cell
    within = np.var([[run[cell].logs[0] for cell in CELLS] for run in sides.a], axis=0).mean()
    expected = MEASURED_SPREAD.whole**2 + (within - MEASURED_SPREAD.whole**2) / len(CELLS)
    assert np.var(wholes) == pytest.approx(expected, rel=0.25)


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


def test_freedom_is_that_of_the_distribution_that_variances_come_from() -> None:
    rng = np.random.default_rng(1)
    truth = 8.0
    spreads = truth / rng.chisquare(truth, 4000)
    seen = spreads * rng.chisquare(5, 4000) / 5
    assert prior_freedom(seen, 5) == pytest.approx(truth, rel=0.2)
    assert prior_freedom(rng.chisquare(5, 4000) / 5, 5) > 100
