"""Kernel counters and what may have disturbed a window."""

import os
import time
from dataclasses import fields, replace
from typing import Any, cast

import pytest
from sample_records import sample_record
from setups import HOST

from copycost.config.cells import Cell
from copycost.measure.drivers.programs.late_edge_warnings import odd_numbers, own_disturbances
from copycost.measure.window import foreign_cpu_s, load_warnings
from copycost.observers.kernel_counters import (
    KernelCounters,
    KernelSnapshot,
    devices_in,
    snmp_counts,
)
from copycost.testbeds.testbed import open_testbed

SECOND_NS = 10**9
NOTHING: dict[str, int] = dict.fromkeys((field.name for field in fields(KernelSnapshot)), 0)
QUIET = KernelSnapshot(
    **NOTHING | {"busy_ns": 2 * SECOND_NS, "task_ns": 2 * SECOND_NS, "at_ns": SECOND_NS}
)
WINDOW = {
    **{"planned_start_ns": 10**9, "planned_end_ns": 2 * 10**9},
    **{"start_ns": 10**9, "end_ns": 2 * 10**9},
    **{"perf_enable_ns": 100_000, "perf_disable_ns": 100_000},
}


def side(samples: int = 1000, **window: int) -> dict[str, Any]:
    own = WINDOW | window
    return {"window": own, "service_time": {"samples": samples}, "round_trip": None}


def host(irq_time_accounting: bool | None = False) -> dict[str, Any]:
    return {"kernel": {"irq_time_accounting": irq_time_accounting}}


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ({}, []),
        ({"busy_ns": 5 * SECOND_NS // 2, "task_ns": 5 * SECOND_NS // 2}, ["foreign_load"]),
        # one of two accounts tells too much
        ({"busy_ns": 3 * SECOND_NS}, []),
        ({"task_ns": 3 * SECOND_NS}, []),
        # a late look at the host
        ({"busy_ns": 5 * 10**9 // 2, "task_ns": 5 * 10**9 // 2, "at_ns": 5 * 10**9 // 4}, []),
        ({"steal_ns": SECOND_NS // 10, "throttle_count": 3}, ["steal", "throttled"]),
    ],
)
def test_who_took_cpu_time_is_told(kernel: dict[str, int], expected: list[str]) -> None:
    found = load_warnings(2.0, 1.0, replace(QUIET, **kernel), host(), n_cpus=2)
    assert [warning["code"] for warning in found] == expected


@pytest.mark.parametrize(("separate", "foreign_s"), [(False, 0.3), (True, 0.0), (None, 0.3)])
def test_softirq_time_is_ours_if_our_clocks_leave_it_out(
    separate: bool | None, foreign_s: float
) -> None:
    softirq_ns = round(0.3 * SECOND_NS)
    softirq = replace(QUIET, busy_ns=QUIET.busy_ns + softirq_ns, softirq_ns=softirq_ns)
    assert foreign_cpu_s(2.0, 1.0, softirq, host(separate)) == pytest.approx(foreign_s)


@pytest.mark.parametrize(
    ("sender", "lost", "codes"),
    [
        (side(), 0, []),
        (side(99, start_ns=10**9 + 20_000_000), 0, ["window_edge_late", "few_messages"]),
        # of round trips their own samples must be enough
        (side(0) | {"round_trip": {"samples": 5000}}, 0, []),
        (side(0) | {"round_trip": {"samples": 7}}, 0, ["few_messages"]),
        (side(), 3, ["sink_loss"]),
    ],
)
def test_lateness_few_samples_and_losses_before_the_sink_are_named(
    sender: dict[str, Any], lost: int, codes: list[str]
) -> None:
    sink = {"sent_datagrams": 1000, "lost_before_hook": lost}
    found = own_disturbances(sender, side(), sink)
    assert [warning["code"] for warning in found] == codes


def test_counters_of_the_kernel_are_found_by_name() -> None:
    text = (
        "Tcp: InSegs RetransSegs OutRsts\nTcp: 5 7 9\n"
        "Udp: InDatagrams InErrors\nUdp: 1 2\nUdpLite: InErrors\nUdpLite: 4\n"
    )
    tcp = {"Tcp.InSegs": 5, "Tcp.RetransSegs": 7, "Tcp.OutRsts": 9}
    assert snmp_counts(text, "Tcp") == tcp
    assert snmp_counts(text, "Tcp", "Udp") == tcp | {"Udp.InDatagrams": 1, "Udp.InErrors": 2}


def test_the_counters_of_this_host_can_be_read_and_only_grow() -> None:
    counters = KernelCounters()
    counters.heated = {"sender": [0], "receiver": [0]}
    with open_testbed("loopback", HOST) as testbed:
        counters.prepare(testbed)
        counters.window_begins()
        used_s = time.process_time()
        while time.process_time() < used_s + 0.1:
            pass
        counters.window_ends()
        counters.traffic_ends([])
        (difference,) = counters.changes.values()
        found = counters.found()
        counters.close()
    assert found is not None
    assert found["machines"] is None  # both sides are on one
    n_cpus = os.cpu_count() or 1
    # busy for at least as long as we were, and no longer than all CPUs; a tick is 10 ms
    assert 0.07 < difference.busy_ns / 1e9 < n_cpus * difference.at_ns / 1e9 + 0.03
    assert difference.tcp_retransmitted_segments >= 0


def test_packets_that_a_device_lost_are_found_by_its_name() -> None:
    text = (
        "Inter-|   Receive                            |  Transmit\n"
        " face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop "
        "fifo colls carrier compressed\n"
        "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
        "  eth0: 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116\n"
    )
    assert devices_in(text)["eth0"] == {
        "rx_packets": 102, "rx_errors": 103, "rx_dropped": 104, "rx_fifo_errors": 105,
        "tx_packets": 110, "tx_errors": 111, "tx_dropped": 112, "tx_fifo_errors": 113,
        "tx_carrier_errors": 115,
    }  # fmt: skip


def changed(strategy: str = "one_copy", *, messages: int = 0, cpu_ns: int = 0) -> list[str]:
    cell = Cell("streams", "veth", strategy, 65536, 1)
    record = sample_record(strategy)
    sender = record["driver"]["sender"]
    sender["in_window"]["messages"] += messages
    sender["process"]["cpu_ns"] += cpu_ns
    sides = {name: record["driver"][name] for name in ("sender", "receiver")}
    return [one["detail"] for one in odd_numbers(cell, cast("Any", sides))]


def test_numbers_that_were_read_at_two_moments_are_told() -> None:
    assert changed() == []
    assert changed(messages=-2) == [], "what is under way is counted in bytes only"
    assert changed(messages=-5) == ["19995 messages of 65536 bytes are 1310720000 bytes"]
    assert changed(cpu_ns=400_000_000) == [
        "the sender used 1300.0 ms of CPU time, and its CPUs had 1000.0 ms"
    ]
    assert changed("uring_send", cpu_ns=400_000_000) == [], "the kernel has threads for it"
