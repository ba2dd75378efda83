"""What the kernel counts of datagrams that are lost, and when receivers have read all."""

from types import SimpleNamespace
from typing import Any, cast

from copycost.hosts.testbeds.testbed import Testbed
from copycost.observers.kernel_counters import (
    LossCounters,
    parse_devices,
    parse_switch,
    waiting_bytes,
)

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
