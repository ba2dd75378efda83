"""The studies of iperf3 in emulated guests, for real: what they and their hypervisors use.

On a busy machine a repetition may fail for want of CPU; that is asked for again a few times.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import guests
import pytest
from measured.failures_support import host_facts
from measured.repetitions import Found, attempted, needs_iperf3

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.hosts.guest.image import agent_image
from copycost.observers.hypervisor import THREAD_KINDS
from copycost.studies.cpu_budget.records import measure_budget
from copycost.studies.cpu_budget.records import row_of as budget_row
from copycost.studies.datagrams.records import measure_datagrams
from copycost.studies.datagrams.records import row_of as datagram_row

pytestmark = [
    pytest.mark.usefixtures("our_daemon"),
    pytest.mark.needs_guests,
    pytest.mark.slow,
    needs_iperf3,
]
SETTINGS = Settings(warmup_s=0.3, duration_s=1.0, congestion_control="reno")
TRIES = 4


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The facts of a guest, as far as a repetition of iperf3 asks for them."""
    image = agent_image(guests.kernel(), ["virtio_net"], ["ip", "iperf3", "cpulimit"])
    spec = guests.spec_of(image, tmp_path_factory.mktemp("guest"))
    facts = host_facts(None)
    virtual = {"unavailable": None, "spec": asdict(spec), "kernel": {"release": "any"}}
    return {**facts, "cpu": facts["cpu"] | {"cpus_online": 1}, "virtual": virtual}


def measured(folder: Path, cell: Cell, peer: Found, measure: Callable[..., Any]) -> Found:
    """Return the record of a repetition that was measured."""
    for _ in range(TRIES):
        record = attempted(folder, cell, measure=measure, settings=SETTINGS, peer=peer)
        if record["status"] == "measured":
            return record
    pytest.fail(f"not once measured: {record['reason']}")


@pytest.mark.parametrize("limiter", ["cgroup", "cpulimit"])
def test_a_limit_between_two_guests_is_told_inside_and_outside(
    limiter: str, peer: Found, tmp_path: Path
) -> None:
    cell = Cell("cpu_budget", "vm_pair", "iperf3", 131072, 1, limiter=limiter, limit_percent=30)
    record = measured(tmp_path, cell, peer, measure_budget)
    seen = record["observed"]["hypervisor"]
    assert [guest["sides"] for guest in seen["guests"]] == [["sender"], ["receiver"]]
    for guest in seen["guests"]:
        assert guest["accelerator"] == "tcg"
        assert guest["vcpu_threads"] == 1
        assert guest["threads"]["vcpu"]["cpu_ns"] > 0
        # QEMU's main loop carries the packets where vhost does not
        assert guest["threads"]["io"]["cpu_ns"] > 0
        assert guest["threads"]["vhost"]["cpu_ns"] == 0
        outside = sum(guest["threads"][kind]["cpu_ns"] for kind in THREAD_KINDS)
        assert outside <= 1.1 * seen["machine"]["busy_ns"]
    row = budget_row(record, cell)
    assert row["accelerator"] == "tcg"
    assert row["bits_per_s"] > 0
    assert 0 < row["sender_cpu_percent"] < (45 if limiter == "cgroup" else 100)
    assert row["sender_hypervisor_cpu_percent"] > 0
    assert row["sender_hypervisor_cpu_ns_per_byte"] > 0


@pytest.mark.parametrize("testbed", ["vm_pair_udp", "vm_host_udp"])
def test_datagrams_from_a_guest_are_accounted_for(
    testbed: str, peer: Found, tmp_path: Path
) -> None:
    cell = Cell("datagrams", testbed, "iperf3", 1000, 1)
    unaccounted = []
    for _ in range(4):  # an emulated guest that is held up may lose some where nobody counts
        record = measured(tmp_path, cell, peer, measure_datagrams)
        begin = record["observed"]["datagrams"]["begin"]
        assert list(begin) == ["sender", "receiver", "switch"]
        assert set(begin["switch"]) == {"tap.rx_dropped", "tap.tx_dropped", "bridge.dropped"}
        row = datagram_row(record, cell)
        assert row["packets_each"] == 1
        assert row["sent"] >= row["received"] > 0
        unaccounted.append(row["lost_unaccounted"])
        if not row["drained"] or unaccounted[-1] == 0:
            return
    pytest.fail(f"unaccounted for, each time: {unaccounted}")


def test_one_guest_for_both_sides_is_counted_once(peer: Found, tmp_path: Path) -> None:
    cell = Cell(
        "cpu_budget", "vm_loopback", "iperf3", 131072, 1, limiter="cpulimit", limit_percent=100
    )
    record = measured(tmp_path, cell, peer, measure_budget)
    (guest,) = record["observed"]["hypervisor"]["guests"]
    assert guest["sides"] == ["sender", "receiver"]
    row = budget_row(record, cell)
    assert row["receiver_guest_status"] == "same_guest"
