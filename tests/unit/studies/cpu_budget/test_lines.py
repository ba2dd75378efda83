"""The table; the linear range and the plans, on curves with a known truth."""

from dataclasses import replace
from pathlib import Path

import pytest
from budgets import Study, Truth, facts_of, table_of
from skipped_records import save

from copycost.config.cells import Cell
from copycost.stats.settings import StatisticsSettings
from copycost.studies.capacity import Plan, plan_for
from copycost.studies.cpu_budget.points import LinearRange, linear_range, points_of
from copycost.studies.cpu_budget.records import collect

SETTINGS = StatisticsSettings(0.95, 500, 1)


LIMITS = (10, 25, 40, 60, 80, 100)


def range_of(truth: Truth) -> LinearRange | None:
    return linear_range(points_of(table_of(Study((truth,))), SETTINGS), "sender", 0.95)


def test_a_straight_curve_is_linear_throughout() -> None:
    found = range_of(Truth())
    assert found
    assert (found.limits, found.beyond) == (LIMITS, ())
    assert found.line.slope_low < 0.28e9 < found.line.slope_high


def test_a_bend_ends_the_range_and_the_rest_is_named() -> None:
    found = range_of(Truth(bend=0.0006, noise=0.002))
    assert found
    assert found.limits[0] == 10
    assert found.beyond
    assert found.limits + found.beyond == LIMITS


def test_saturated_points_are_left_out_and_two_points_are_no_line() -> None:
    found = range_of(Truth(ceiling=14.0))
    assert found
    assert (found.limits, found.beyond) == (LIMITS[:3], ())
    assert range_of(Truth(ceiling=8.0)) is None


def test_a_plan_on_the_line_holds_the_truth() -> None:
    plan = _plan(Study(), 14e9)
    assert plan.basis == "line"
    assert plan.sender
    assert plan.receiver
    low, high = plan.sender.low, plan.sender.high
    assert low is not None
    assert high is not None
    assert low < 50.0 < high
    assert plan.receiver.percent == pytest.approx(35.0, rel=0.02)


def test_a_plan_beyond_the_highest_has_no_answer() -> None:
    plan = _plan(Study(), 29e9)
    assert (plan.basis, plan.sender) == ("beyond", None)
    assert plan.highest_bits_per_s == pytest.approx(28e9, rel=0.05)


def test_a_plan_off_the_line_is_bounded_by_measured_points() -> None:
    least = _plan(Study(), 1e9)
    assert least.sender
    assert (least.basis, least.sender.low) == ("least", None)
    assert least.sender.percent == pytest.approx(10.0, abs=0.5)
    bent = Study((Truth(bend=0.0006, noise=0.002),))
    curve = facts_of(bent)["curves"][0]
    rates = {one["limit_percent"]: one["bits_per_s"]["median"] for one in curve["points"]}
    between = _plan(bent, (rates[80] + rates[100]) / 2)
    assert between.sender
    assert between.basis == "points"
    assert 80 < between.sender.percent < 100


def _plan(study: Study, bits_per_s: float) -> Plan:
    (plan,) = plan_for(facts_of(study), bits_per_s, "loopback")
    return plan


def test_a_plan_takes_no_more_than_a_stream_can_use() -> None:
    facts = facts_of(Study((Truth(noise=0.2),)))
    top = facts["curves"][0]["lines"]["sender"]["most_bits_per_s"]
    (plan,) = plan_for(facts, 0.999 * top, "loopback")
    assert plan.basis == "line"
    assert plan.sender is not None
    assert plan.sender.high == 100.0


def test_the_plan_with_the_least_cpu_comes_first() -> None:
    facts = facts_of(Study((Truth(), Truth(n_threads=2, gbps_per_percent=0.19))))
    first, second = plan_for(facts, 10e9, "loopback")
    assert (first.n_threads, second.n_threads) == (1, 2)


def test_clocks_that_differ_on_one_curve_are_not_hidden_by_the_others() -> None:
    alike = Truth(perf=0.999, receiver_perf=0.999)
    apart = Truth(n_threads=2, perf=1.15, receiver_perf=0.75)
    clocks = facts_of(Study((alike, replace(alike, testbed="veth"), apart)))["clocks"]
    for side, ratio in (("sender", 1.15), ("receiver", 0.75)):
        assert clocks[side]["median_ratio"] == pytest.approx(ratio)
        assert (clocks[side]["testbed"], clocks[side]["n_threads"]) == ("loopback", 2)


def test_every_record_has_a_row(tmp_path: Path) -> None:
    cell = Cell(
        "cpu_budget", "loopback", "iperf3", 131072, 2, rep=1, limiter="cgroup", limit_percent=20
    )
    table = collect(save(tmp_path, one) for one in (cell, replace(cell, rep=2)))
    assert table["rep"].tolist() == [1, 2]
    assert set(table["status"]) == {"skipped"}
    assert set(table["offered_percent"]) == {40.0}
