"""Counters of the kernel, from its own text and on this host."""

import os
import time
from pathlib import Path

from setups import HOST

from copycost.hosts.testbeds.testbed import open_testbed
from copycost.observers.kernel_counters import KernelCounters, devices_in, snmp_counts


def test_counters_of_the_kernel_are_found_by_name() -> None:
    text = "Tcp: InSegs OutRsts\nTcp: 5 9\nUdp: InErrors\nUdp: 2\nUdpLite: InErrors\nUdpLite: 4\n"
    tcp = {"Tcp.InSegs": 5, "Tcp.OutRsts": 9}
    assert snmp_counts(text, "Tcp") == tcp
    assert snmp_counts(text, "Tcp", "Udp") == tcp | {"Udp.InErrors": 2}


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
    kernel = (Path(__file__).parents[2] / "data/texts/kernel.txt").read_text()
    head = kernel.partition("==> proc/net/dev <==\n")[2].partition("    lo:")[0]
    counts = " ".join(map(str, range(101, 117)))
    assert devices_in(f"{head}    lo: {'1 ' * 16}\n  eth0: {counts}\n")["eth0"] == {
        "rx_packets": 102, "rx_errors": 103, "rx_dropped": 104, "rx_fifo_errors": 105,
        "tx_packets": 110, "tx_errors": 111, "tx_dropped": 112, "tx_fifo_errors": 113,
        "tx_carrier_errors": 115,
    }  # fmt: skip
