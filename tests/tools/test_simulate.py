"""What is said of a run keeps what it promises, on simulated runs of known truth."""

import csv
import math

import numpy as np
import pytest

from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.unexpected import unexpected_findings
from copycost.compare.runs.results import QUANTITIES
from copycost.compare.runs.verdicts import MEASURED_SPREAD, judge
from tools.simulate import main
from tools.simulation import (
    across_hosts,
    between_runs,
    claims,
    crossovers,
    decisions,
    groups,
    honest_tables,
    shares,
    stopping,
    unexpected,
)
from tools.simulation.noise import DRIFT, INDEPENDENT
from tools.simulation.truths import STREAM_SIZES, truth, truths, with_added_sizes

pytestmark = pytest.mark.slow

SETTINGS = StatisticsSettings()
FEW_AND_MANY = pytest.mark.parametrize("n_rounds", [3, 10])
"""The fewest and the most rounds of those in docs/simulation_*.csv."""


def test_a_simulation_is_printed_as_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stopping", "--runs", "1", "--seed", "7"]) == 0
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [(row["noise"], int(row["time"])) for row in rows] == [
        (name, time) for name in stopping.NOISES for time in stopping.TIMES
    ]


@pytest.mark.parametrize(
    "name", ["lines", "bends at L1 and L2", "steps at pages", "steps at segments"]
)
@pytest.mark.parametrize("noise", INDEPENDENT)
def test_brackets_hold_the_truth_whatever_the_cost_curve(name: str, noise: str) -> None:
    plain = truth(name, STREAM_SIZES)
    found = [
        crossovers.simulate(one, noise, 0.05, n_rounds, 50, SETTINGS.seed)
        for one in (plain, with_added_sizes(plain))
        for n_rounds in crossovers.ROUNDS
    ]
    n_named = sum(row.n_named for row in found)
    assert n_named > 100
    assert sum(row.n_held for row in found) / n_named >= 0.95


def test_wrong_shapes_are_hardly_ever_told() -> None:
    for one in truths():
        found = [
            crossovers.simulate(one, "normal", 0.05, n, 20, SETTINGS.seed)
            for n in crossovers.ROUNDS
        ]
        assert sum(row.n_wrong for row in found) / sum(row.n_runs for row in found) <= 0.05


def test_dependence_is_told_where_it_is_and_hardly_elsewhere() -> None:
    found = [row for row in shares.dependence(10, SETTINGS) if row.noise != DRIFT]
    elsewhere = [row for row in found if not row.is_so]
    assert sum(row.n_yes for row in elsewhere) / sum(row.n_runs for row in elsewhere) <= 0.01
    many = [row for row in found if row.is_so and row.n_rounds >= 7]
    assert sum(row.n_yes for row in many) / sum(row.n_runs for row in many) >= 0.9


def test_starts_within_a_repetition_make_up_for_two_modes_of_the_starts() -> None:
    # of 1600 intervals, the standard error is 0.7 %
    held = {(row.what[0], row.noise, row.n_rounds): row.n_yes / row.n_runs
            for row in shares.pairs(8, SETTINGS)}  # fmt: skip
    assert held["1", "two modes of one side", 3] < 0.93 < held["4", "two modes of one side", 3]
    assert min(held.values()) > 0.9


def test_intervals_of_extremes_hold_the_truth_if_they_allow_for_the_choice() -> None:
    found = {(row.what, row.noise, row.n_rounds): row for row in shares.extremes(60, SETTINGS)}
    allowing = found["all cells alike: interval that allows for the choice", "normal", 5]
    plain = found["all cells alike: interval of one cell", "normal", 5]
    assert allowing.n_yes / allowing.n_runs >= 0.95
    assert plain.n_yes < allowing.n_yes


@pytest.mark.parametrize("effects", ["normal", "heavy tails (t3)", "two groups"])
def test_intervals_over_hosts_hold_the_truth_about_as_often_as_they_say(effects: str) -> None:
    told = across_hosts.simulate(effects, "normal", n_hosts=10, n_rounds=7, n_runs=300, seed=1)
    assert 0.90 <= told.mean <= 0.99
    assert 0.88 <= told.following <= 0.99
    assert told.found > 0.9
    if effects == "normal":  # what is taken too small would show in many
        told = across_hosts.simulate(effects, "normal", n_hosts=40, n_rounds=7, n_runs=300, seed=1)
        assert 0.90 <= told.spread <= 0.99
        assert told.width == pytest.approx(1.03, abs=0.05), "not wider than need be"


def test_no_honest_table_raises_more_than_a_question() -> None:
    # small ones and a large one, and such with a dozen large messages in a window
    for seed in (1, 2, 3, 41, 50, 72, 98):
        findings = honest_tables.findings_of(honest_tables.honest_table(seed))
        assert honest_tables.false_alarms(findings) == []


def test_equal_runs_are_rarely_told_apart_and_large_differences_are() -> None:
    alone, single, *_ = between_runs.KINDS
    told = between_runs.simulate(single, "normal", 20, seed=1)
    assert max(told.cells, told.groups, told.whole, told.gate) <= 0.2
    assert told.mixed == 1.0
    told = between_runs.simulate(alone, "normal", 5, seed=1)
    assert told.cells == 1.0, "rounds alone take any two runs for different"


def test_a_true_difference_of_all_cells_is_seen_by_many_runs() -> None:
    effects = np.full(len(between_runs.CELLS), math.log(0.8))
    rng, many = np.random.default_rng(1), between_runs.KINDS[-1]
    whole = judge(between_runs.make_runs(rng, "normal", many, effects), MEASURED_SPREAD).whole
    assert whole.sign == -1
    assert whole.found.ratio == pytest.approx(0.8, rel=0.1)


def test_the_allowance_is_that_of_the_runs_that_were_measured() -> None:
    found = [between_runs.measured_spread(one.name) for one in QUANTITIES]
    assert {one.n_runs - 1 for one in found} == {MEASURED_SPREAD.freedom}
    cell, whole = max(one.beyond_rounds for one in found), max(one.whole for one in found)
    assert cell - 0.0005 <= MEASURED_SPREAD.cell <= cell + 0.005
    assert whole - 0.0005 <= MEASURED_SPREAD.whole <= whole + 0.005


@pytest.mark.parametrize("case", claims.cases(), ids=lambda case: f"{case.kind}, {case.truth}")
def test_hardly_a_verdict_on_a_claim_is_wrong(case: claims.Case) -> None:
    # 60 runs at 5 % have 10 or more wrong ones in 1 of 2000 cases.
    assert claims.simulate(case, "heavy tails", 3, 60, 1).wrong < 10 / 60


@FEW_AND_MANY
@pytest.mark.parametrize(
    ("name", "right"),
    [("two alike", None), ("two alike and far ahead", None), ("lines and bends", 0.99),
     ("one ahead by 10 %", 0.9)],
)  # fmt: skip
def test_hardly_a_row_of_a_decision_table_is_wrong_and_the_best_way_is_named(
    name: str, right: float | None, n_rounds: int
) -> None:
    (one,) = (one for one in decisions.TRUTHS if one.name == name)
    found = decisions.simulate(one, "normal", n_rounds, 40, seed=1)
    # Of 280 rows, 5 % are 14; more than 25 would come in one of 200 such tests.
    assert found.wrong <= 0.09
    assert found.lost <= 0.09
    # Of 40 tables, 5 % are 2.
    assert found.wrong_settled <= 0.175
    assert right is None or n_rounds == 3 or found.right > right, "enough rounds tell it"


@pytest.mark.parametrize("noise", INDEPENDENT)
@FEW_AND_MANY
@pytest.mark.parametrize(
    "name", ["flat", "flat, one size", "+60 %, then flat", "sizes part", "+15 % per doubling"]
)
def test_hardly_a_statement_on_a_group_is_wrong_and_a_rise_is_told(
    name: str, noise: str, n_rounds: int
) -> None:
    (one,) = (one for one in groups.TRUTHS if one.name == name)
    found = groups.simulate(one, noise, n_rounds, 60, seed=1)
    # Of 60 runs, 5 % are 3; more than 6 would come in one of 30 such tests.
    assert found.wrong <= 0.1
    assert found.right >= 0.8 or name != "+15 % per doubling"


def test_looking_again_sees_too_much_with_plain_intervals_and_not_as_a_run_does() -> None:
    found = stopping.simulate("normal", 16, 25, 1)
    # 400 comparisons of equals give a share to about 1 %
    assert found.again > 0.09
    assert found.here < 0.07
    assert found.other < 0.07
    assert found.best < 0.1  # of 50 answers
    assert found.found > found.found_once - 0.03


@pytest.mark.parametrize("noise", ["normal", unexpected.ONE_SIDE])
def test_equal_ways_violate_no_expectation(noise: str) -> None:
    # A chance of 5 % gives 2 of 10 runs or more in one of 12 such tests, 50 % in 99 of 100.
    assert unexpected.simulate(noise, 10, 1).share <= 0.1


def test_a_case_is_told_with_the_interval_that_its_verdict_rests_on() -> None:
    views = unexpected.default_run(np.random.default_rng(1), "normal")
    rows = views["veth"].rows
    slower = (rows["implementation"] == "two_copy") & (rows["msg_bytes"] == 65536)
    rows.loc[slower, "throughput_bits_per_s"] /= 2.0
    findings = [one for one in unexpected_findings(views) if one.condition == "veth"]
    (found,) = (one for one in findings if one.verdict != "not violated")
    assert (found.subject, found.verdict) == ("larger_no_slower", "violated")
    assert 0 < (found.n_worse or 0) < (found.n_cells or 0)
    assert 0.0 < (found.high or 0.0) < 1.0
    assert found.n == unexpected.N_ROUNDS
