"""Counters of the kernel, from its own text and on this host."""

import os
import time

from setups import HOST

from copycost.hosts.testbeds.testbed import open_testbed
from copycost.observers.kernel_counters import KernelCounters, devices_in, snmp_counts


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
