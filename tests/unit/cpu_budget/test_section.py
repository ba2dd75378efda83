"""The grid, its paths and their order."""

import pytest

from copycost.cpu_budget.section import BudgetCell, CpuBudget, priority
from copycost.errors import DataError

SECTION = {
    "enabled": True,
    "drivers": ["iperf3", "two_copy"],
    "testbeds": ["veth", "loopback"],
    "limiters": ["cgroup"],
    "n_streams": [1, 2],
    "limit_percent": [10, 50, 100],
    "message_bytes": 131072,
    "repetitions": 2,
    "warmup_s": 0.3,
    "duration_s": 1.0,
}


def test_every_combination_comes_once_round_by_round() -> None:
    cells = CpuBudget.from_dict(SECTION).cells()
    assert len(cells) == len(set(cells)) == 2 * 2 * 2 * 2 * 3
    assert [cell.rep for cell in cells] == sorted(cell.rep for cell in cells)


def test_a_path_leads_back_to_its_cell() -> None:
    for cell in CpuBudget.from_dict(SECTION).cells():
        assert BudgetCell.from_path(cell.path) == cell


def test_a_path_of_something_else_is_refused() -> None:
    with pytest.raises(DataError, match="no path of a record of cpu_budget"):
        BudgetCell.from_path("results/raw/streams/testbed=veth/rep=1.json")


def test_what_is_offered_grows_with_the_streams() -> None:
    assert BudgetCell("veth", "iperf3", "cgroup", 2, 40, 1).offered_percent == 80


def test_every_round_comes_before_the_next() -> None:
    first = [priority({"limit_percent": n, "rep": 1}, 1) for n in range(100)]
    second = [priority({"limit_percent": n, "rep": 2}, 1) for n in range(100)]
    assert min(first) > max(second)
    assert sorted(first) != first
