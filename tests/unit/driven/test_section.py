"""The grids of the driven studies, the paths of their records, and their order."""

from typing import Any

import pytest

from copycost.config.cpu_budget import CpuBudget
from copycost.config.datagrams import Datagrams
from copycost.config.driven import DrivenSection, priority_of
from copycost.errors import DataError

SHARED: dict[str, Any] = {
    "enabled": True,
    "drivers": ["iperf3", "two_copy"],
    "n_streams": [1, 2],
    "repetitions": 2,
    "warmup_s": 0.3,
    "duration_s": 1.0,
}
BUDGET = CpuBudget.from_dict(
    SHARED
    | {
        "testbeds": ["veth", "loopback"],
        "limiters": ["cgroup"],
        "limit_percent": [10, 50, 100],
        "message_bytes": 131072,
    }
)
DATAGRAMS = Datagrams.from_dict(
    SHARED | {"testbeds": ["veth_udp", "loopback"], "datagram_bytes": [64, 1472]}
)


@pytest.mark.parametrize(
    ("section", "n_cells"),
    [
        (BUDGET, 2 * 2 * 2 * 2 * 3),
        (DATAGRAMS, 2 * 3 * 2 * 2),  # on loopback iperf3 alone
    ],
)
def test_every_combination_that_can_exist_comes_once_round_by_round(
    section: DrivenSection, n_cells: int
) -> None:
    cells = section.cells()
    assert len(cells) == len(set(cells)) == n_cells
    assert [cell.rep for cell in cells] == sorted(cell.rep for cell in cells)


@pytest.mark.parametrize("section", [BUDGET, DATAGRAMS])
def test_a_path_leads_back_to_its_cell(section: DrivenSection) -> None:
    for cell, path in zip(section.cells(), section.paths(), strict=True):
        assert type(cell).from_path(f"/elsewhere/{path}") == cell


def test_a_record_lies_in_a_folder_for_each_part_of_its_cell() -> None:
    assert BUDGET.paths()[0] == (
        "results/raw/cpu_budget/testbed=veth/driver=iperf3/limiter=cgroup/n_streams=1"
        "/limit_percent=10/rep=1.json"
    )
    assert DATAGRAMS.paths()[0] == (
        "results/raw/datagrams/testbed=veth_udp/driver=iperf3/datagram_bytes=64/n_streams=1"
        "/rep=1.json"
    )


@pytest.mark.parametrize(
    "path",
    [
        "results/raw/streams/testbed=veth/rep=1.json",
        "results/raw/cpu_budget/testbed=veth/driver=iperf3/limiter=cgroup/n_streams=two"
        "/limit_percent=10/rep=1.json",
    ],
)
def test_a_path_of_something_else_is_refused(path: str) -> None:
    with pytest.raises(DataError, match="no path of a record of cpu_budget"):
        type(BUDGET.cells()[0]).from_path(path)


def test_what_is_offered_grows_with_the_streams() -> None:
    offered = {(c.n_streams, c.limit_percent, c.offered_percent) for c in BUDGET.cells()}
    assert {(1, 50, 50), (2, 50, 100), (2, 100, 200)} < offered


def test_every_round_comes_before_the_next() -> None:
    first = [priority_of({"limit_percent": n, "rep": 1}, 1) for n in range(100)]
    second = [priority_of({"limit_percent": n, "rep": 2}, 1) for n in range(100)]
    assert min(first) > max(second)
    assert sorted(first) != first
