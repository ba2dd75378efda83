"""The account of datagrams, from the kernel's own text to the causes."""

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from copycost.hosts.testbeds.testbed import Testbed
from copycost.observers.kernel_counters import (
    LossCounters,
    parse_devices,
    parse_switch,
    waiting_bytes,
)
from copycost.studies.datagrams.records import _cpu_use, account_of

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


def account(
    sent: int,
    receiver: Mapping[str, int],
    sender: Mapping[str, int] | None = None,
    switch: Mapping[str, int] | None = None,
    **how: Any,  # noqa: ANN401
) -> dict[str, int]:
    """Return the account of what two sides and a switch count; a kernel may lack other counters."""
    end = {
        "sender": {"Udp.OutDatagrams": sent, **(sender or {})},
        "receiver": {"Udp.RcvbufErrors": 0, **receiver},
    }
    if switch is not None:
        end["switch"] = dict.fromkeys(("tap.rx_dropped", "tap.tx_dropped", "bridge.dropped"), 0)
        end["switch"] |= switch
    begin = {place: dict.fromkeys(counters, 0) for place, counters in end.items()}
    return account_of({"begin": begin, "stopped": end}, **how)


CAUSES = {"Udp.InDatagrams": 80, "Udp.RcvbufErrors": 12, "Udp.MemErrors": 4,
          "Udp.InCsumErrors": 1, "dev.rx_dropped": 3}  # fmt: skip
FEWER = {"Udp.InDatagrams": 80, "Udp.RcvbufErrors": 10, "dev.rx_dropped": 1, "dev.rx_errors": 2}
GUESTS = {"Udp.InDatagrams": 70, "Udp.RcvbufErrors": 5}
FAR = {"far": True, "messages": 88, "n_connections": 2}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # the same three drops, seen at both ends of a veth pair
        (account(100, CAUSES, {"dev.tx_dropped": 3}),
         {"sent": 100, "received": 80, "lost": 20, "receive_buffer": 12, "socket_memory": 4,
          "device": 3, "other": 1, "unaccounted": 0}),
        # over a network it is another three, and nothing is left that neither machine counted
        (account(100, CAUSES, {"dev.tx_dropped": 3}, far=True), {"device": 6, "unaccounted": -3}),
        # errors of devices explain no more than was lost
        (account(100, FEWER, {"dev.tx_dropped": 2, "dev.tx_errors": 1}, far=True),
         {"device": 6, "unaccounted": 4}),
        (account(100, FEWER, {"dev.tx_dropped": 2, "dev.tx_errors": 10}, far=True),
         {"device": 10, "unaccounted": 0}),
        # both ends of a veth pair are of one kernel, which tells what it drops
        (account(100, FEWER, {"dev.tx_dropped": 2, "dev.tx_errors": 10}), {"device": 2}),
        # of 88 messages on two connections, with four notes and two goodbyes that were said again:
        # that nobody read these is no loss
        (account(94, {"Udp.InDatagrams": 92}, **FAR), {"unaccounted": 0}),
        (account(94, {"Udp.InDatagrams": 91, "Udp.NoPorts": 1}, **FAR), {"unaccounted": 0}),
        (account(94, {"Udp.InDatagrams": 89, "Udp.NoPorts": 2}, **FAR), {"unaccounted": 1}),
        # without what the programs say of themselves, nobody can tell
        (account(94, {"Udp.InDatagrams": 92}, far=True), {"unaccounted": 2}),
        # between guests the TAP devices and the bridge are causes
        (account(100, GUESTS, switch={"tap.tx_dropped": 20, "bridge.dropped": 5}),
         {"receive_buffer": 5, "tap": 20, "bridge": 5, "device": 0, "unaccounted": 0}),
        # of 25 datagrams that lack a packet, devices have dropped 50 packets
        (account(100, GUESTS, switch={"tap.tx_dropped": 40, "bridge.dropped": 10}, packets_each=45),
         {"tap": 20, "bridge": 5, "unaccounted": 0}),
        # a packet costs one datagram at most
        (account(100, GUESTS, switch={"tap.tx_dropped": 10}, packets_each=45),
         {"tap": 10, "unaccounted": 15}),
        (account(100, GUESTS | {"Udp.InDatagrams": 95}, switch={"tap.tx_dropped": 10},
                 packets_each=45), {"tap": 0}),
        # of 40 failures to put packets together, 30 were for want of time: of earlier datagrams
        (account(100, {"Udp.InDatagrams": 96, "Ip.ReasmFails": 40, "Ip.ReasmTimeout": 30},
                 packets_each=7), {"reassembly": 4, "other": 0, "unaccounted": 0}),
        (account(52, {"Udp.InDatagrams": 40, "Udp.RcvbufErrors": 10}), {"unaccounted": 2}),
        (account(48, {"Udp.InDatagrams": 40, "Udp.RcvbufErrors": 10}), {"unaccounted": -2}),
    ],
)  # fmt: skip
def test_causes_add_up_to_what_was_lost(found: dict[str, int], expected: dict[str, int]) -> None:
    told = {name.removeprefix("lost_"): n for name, n in found.items()}
    assert told | expected == told


def test_one_namespace_counts_for_both_sides() -> None:
    counters = {"Udp.OutDatagrams": 5, "Udp.InDatagrams": 4, "Udp.RcvbufErrors": 1}
    nothing = {"sender": dict.fromkeys(counters, 0)}
    found = account_of({"begin": nothing, "stopped": {"sender": counters}})
    assert (found["received"], found["lost_receive_buffer"], found["lost_unaccounted"]) == (4, 1, 0)


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


@pytest.mark.parametrize("uncounted", [None, "sender", "receiver"])
def test_both_sides_go_by_one_clock_which_is_perfs_where_it_counted_both(
    uncounted: str | None,
) -> None:
    # Two streams on two CPUs: the scheduler gives to the receivers what their senders do.
    by_scheduler = {"sender_cpu_percent": 118.8, "receiver_cpu_percent": 80.4}
    perf = {"sender_perf_percent": 156.2, "receiver_perf_percent": 37.0}
    by_perf = {"sender_cpu_percent": 156.2, "receiver_cpu_percent": 37.0, "cpu_clock": "task_clock"}
    unknown = {f"{uncounted}_perf_percent": math.nan} if uncounted else {}
    expected = by_scheduler | {"cpu_clock": "scheduler"} if uncounted else by_perf
    assert _cpu_use(by_scheduler | perf | unknown) == expected
