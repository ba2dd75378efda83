"""The cells of the studies cpu_budget and datagrams, and the paths of their records."""

from typing import Any

import pytest

from copycost.config.settings import Settings
from copycost.config.studies import CpuBudget, Datagrams

SHARED: dict[str, Any] = {
    "enabled": True,
    "implementations": ("iperf3", "two_copy"),
    "n_threads": (1, 2),
    "repetitions": 2,
    "warmup_s": 0.3,
    "duration_s": 1.0,
}
BUDGET = CpuBudget(
    **SHARED,
    testbeds=("veth", "loopback"),
    limiters=("cgroup",),
    limit_percent=(10, 50, 100),
    msg_bytes=131072,
)
DATAGRAMS = Datagrams(**SHARED, testbeds=("veth_udp", "loopback_udp"), msg_bytes=(64, 1472))


@pytest.mark.parametrize(
    ("section", "n_cells", "first"),
    [
        (BUDGET, 2 * 2 * 2 * 2 * 3,
         "cpu_budget/testbed=veth/implementation=iperf3/msg_bytes=131072/n_threads=1"
         "/limiter=cgroup/limit_percent=10/rep=1.json"),
        # on loopback iperf3 alone
        (DATAGRAMS, 2 * 3 * 2 * 2,
         "datagrams/testbed=veth_udp/implementation=iperf3/msg_bytes=64/n_threads=1/rep=1.json"),
    ],
)  # fmt: skip
def test_every_combination_that_can_exist_comes_once_round_by_round(
    section: CpuBudget | Datagrams, n_cells: int, first: str
) -> None:
    cells = section.cells()
    assert len(cells) == len(set(cells)) == n_cells
    assert [cell.rep for cell in cells] == sorted(cell.rep for cell in cells)
    assert cells[0].path == f"results/raw/{first}"
    # its own window, and the run's CPUs and congestion control
    run = Settings(9.0, 9.0, "bbr", "off", 4096, 4096, (3,), (2,), fresh=True)
    own = Settings(0.3, 1.0, "bbr", sender_cpus=(3,), receiver_cpus=(2,))
    assert section.settings(run) == own
