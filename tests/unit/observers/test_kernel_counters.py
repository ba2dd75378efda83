"""Counters of the kernel, from its own text and on this host, and when receivers have read all."""

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from setups import HOST

from copycost.hosts.testbeds.testbed import Testbed, open_testbed
from copycost.observers.kernel_counters import (
    KernelCounters,
    LossCounters,
    devices_in,
    parse_devices,
    parse_switch,
    snmp_counts,
    waiting_bytes,
)


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


DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo
    lo: 100 1 0 2 0 0 0 0 100 1 0 3 0 0 0 0
sender:123456 99 6 4 7 0 0 0 5 1 9 5 8 0 1 0
"""
UDP = """\
   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
  100: 020012C6:1451 010012C6:A1B2 01 00000000:00001200 00:00000000 00000000     0        0 1 2 0 0
  101: 020012C6:1452 010012C6:A1B3 01 00000000:00000010 00:00000000 00000000     0        0 1 2 0 0
  102: 020012C6:0035 00000000:0000 07 00000000:0000FFFF 00:00000000 00000000     0        0 1 2 0 0
"""
SWITCH = """\
Inter-|   Receive                                                |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo
    lo: 0 0 0 9 0 0 0 0 0 0 0 9 0 0 0 0
bridge: 0 0 0 1 0 0 0 0 0 0 0 2 0 0 0 0
  tapa: 0 0 0 4 0 0 0 0 0 0 0 10 0 0 0 0
  tapb: 0 0 0 0 0 0 0 0 0 0 0 20 0 0 0 0
"""


def test_devices_and_sockets_are_read_from_their_tables() -> None:
    assert parse_devices(DEV) == {
        "dev.rx_dropped": 6, "dev.tx_dropped": 8, "dev.rx_errors": 7, "dev.tx_errors": 9,
    }  # fmt: skip
    assert parse_devices(DEV, "lo") == {
        "dev.rx_dropped": 2, "dev.tx_dropped": 3, "dev.rx_errors": 0, "dev.tx_errors": 0,
    }  # fmt: skip
    found = {"tap.rx_dropped": 4, "tap.tx_dropped": 30, "bridge.dropped": 3}
    assert parse_switch(SWITCH) == found
    # only our sockets' queues count
    assert waiting_bytes(UDP, [0x1451, 0x1452]) == 0x1210
    assert waiting_bytes(UDP, [0x1453]) == 0


class Counted:
    """A host whose counters say one thing after the other."""

    clock_uncertainty_ns = 0

    def __init__(self, *snmp: dict[str, int]) -> None:
        self.left = list(snmp)

    def reader(self, paths: list[str]) -> "Counted":
        return self

    def read(self) -> tuple[int, dict[str, str]]:
        now = self.left.pop(0)
        of_ip = ("InReceives", "ReasmReqds")
        of_udp = ("InDatagrams", "InErrors", "NoPorts", "OutDatagrams")
        snmp = "".join(
            f"{title}: {' '.join(names)}\n{title}: {' '.join(str(now.get(n, 0)) for n in names)}\n"
            for title, names in (("Ip", of_ip), ("Udp", of_udp))
        )
        sockets = UDP.replace("00001200", "00000000")
        return 0, {"proc/net/snmp": snmp, "proc/net/dev": DEV, "proc/net/udp": sockets}


def drained(sender: Counted, receiver: Counted) -> bool:
    counters = LossCounters()
    hosts: Any = {"sender": sender, "receiver": receiver}
    bed = SimpleNamespace(hosts=hosts, own_namespaces=True, switch=None, devices={}, guests=())
    counters.prepare(cast("Testbed", bed))
    return counters._await_drained([0x1451])


def test_packets_by_which_the_other_machine_is_asked_are_none_of_the_datagrams() -> None:
    asked = [{"InReceives": n, "InDatagrams": 7} for n in range(3)]
    assert drained(Counted(*[{"OutDatagrams": 9}] * 3), Counted(*asked))


def test_who_still_sends_is_waited_for() -> None:
    # nothing comes in between two looks, which slow senders may leave time for
    sender = Counted(*({"OutDatagrams": n} for n in (0, 1, 2, 2)))
    assert drained(sender, Counted(*[{"InDatagrams": 1}] * 4))
    assert sender.left == []
