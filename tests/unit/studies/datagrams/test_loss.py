"""The account of datagrams, from the kernel's own text to the causes."""

import math
from types import SimpleNamespace
from typing import Any, cast

import pytest

from copycost.observers.loss_counters import (
    LossCounters,
    parse_devices,
    parse_snmp,
    parse_switch,
    waiting_bytes,
)
from copycost.studies.datagrams.loss import Account, account_of
from copycost.studies.datagrams.table import _cpu_use
from copycost.testbeds.testbed import Testbed

SNMP = """\
Ip: Forwarding DefaultTTL InReceives InDiscards OutDiscards
Ip: 2 64 56729 0 0
Icmp: InMsgs InErrors
Icmp: 4 0
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors MemErrors
Udp: 16168 0 40554 1 40554 0 0 0
UdpLite: InDatagrams NoPorts
UdpLite: 7 7
"""
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


USUAL = (
    "Udp.OutDatagrams", "Udp.InDatagrams", "Udp.RcvbufErrors", "Udp.MemErrors",
    "Udp.InCsumErrors", "Udp.NoPorts", "Ip.InDiscards", "dev.rx_dropped", "dev.tx_dropped",
)  # fmt: skip


def moments(*, drained: bool = True, **places: dict[str, int]) -> dict[str, Any]:
    """Return what the sides and the switch count, all of it from 0 on."""
    usual = dict.fromkeys(USUAL, 0)
    end = {at: of if at == "switch" else usual | of for at, of in places.items()}
    begin = {at: dict.fromkeys(of, 0) for at, of in end.items()}
    return {"begin": begin, "stopped": end, "end": end, "drained": drained}


def test_the_kernels_counters_are_read_by_name() -> None:
    found = parse_snmp(SNMP)
    assert found["Udp.InDatagrams"] == 16168
    assert found["Udp.RcvbufErrors"] == 40554
    assert found["Ip.InDiscards"] == 0
    assert not any(name.startswith(("Icmp", "UdpLite")) for name in found)


def test_drops_of_all_devices_are_added() -> None:
    assert parse_devices(DEV) == {
        "dev.rx_dropped": 6, "dev.tx_dropped": 8, "dev.rx_errors": 7, "dev.tx_errors": 9,
    }  # fmt: skip
    assert parse_devices(DEV, "lo") == {
        "dev.rx_dropped": 2, "dev.tx_dropped": 3, "dev.rx_errors": 0, "dev.tx_errors": 0,
    }  # fmt: skip


def test_only_our_sockets_queues_count() -> None:
    assert waiting_bytes(UDP, [0x1451, 0x1452]) == 0x1210
    assert waiting_bytes(UDP, [0x1453]) == 0


def test_causes_add_up_to_what_was_lost() -> None:
    told = moments(
        sender={"Udp.OutDatagrams": 100, "dev.tx_dropped": 3},
        receiver={
            "Udp.InDatagrams": 80, "Udp.RcvbufErrors": 12, "Udp.MemErrors": 4,
            "Udp.InCsumErrors": 1, "dev.rx_dropped": 3,
        },
    )  # fmt: skip
    account = account_of(told)
    assert (account.sent, account.received, account.lost) == (100, 80, 20)
    assert (account.receive_buffer, account.socket_memory) == (12, 4)
    # the same three drops, seen at both ends of the pair
    assert (account.device, account.other, account.unaccounted) == (3, 1, 0)
    # over a network it is another three, and nothing is left that neither machine counted
    account = account_of(told, far=True)
    assert (account.device, account.unaccounted) == (6, -3)


@pytest.mark.parametrize(("errors", "device"), [(3, 6), (12, 10)])
def test_errors_of_devices_explain_no_more_than_was_lost(errors: int, device: int) -> None:
    """Of 20 lost, 10 found no room at the socket, and two or three each end has dropped."""
    told = moments(
        sender={"Udp.OutDatagrams": 100, "dev.tx_dropped": 2, "dev.tx_errors": errors - 2},
        receiver={
            "Udp.InDatagrams": 80, "Udp.RcvbufErrors": 10, "dev.rx_dropped": 1, "dev.rx_errors": 2,
        },
    )  # fmt: skip
    account = account_of(told, far=True)
    assert (account.device, account.unaccounted) == (device, 10 - device)
    # both ends of a veth pair are of one kernel, which tells what it drops
    assert account_of(told).device == 2


@pytest.mark.parametrize(("n_read", "lost"), [(92, 0), (91, 0), (89, 1)])
def test_goodbyes_said_again_that_nobody_read_are_no_loss(n_read: int, lost: int) -> None:
    """Of 88 messages on two connections, with four notes and two that were said again."""
    receiver = {"Udp.InDatagrams": n_read, "Udp.NoPorts": 94 - n_read - 2 - lost}
    told = moments(sender={"Udp.OutDatagrams": 94}, receiver=receiver)
    account = account_of(told, far=True, messages=88, n_connections=2)
    assert account.unaccounted == lost
    # without what the programs say of themselves, nobody can tell
    assert account_of(told, far=True).unaccounted == lost + 2


SWITCH = """\
Inter-|   Receive                                                |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo
    lo: 0 0 0 9 0 0 0 0 0 0 0 9 0 0 0 0
bridge: 0 0 0 1 0 0 0 0 0 0 0 2 0 0 0 0
  tapa: 0 0 0 4 0 0 0 0 0 0 0 10 0 0 0 0
  tapb: 0 0 0 0 0 0 0 0 0 0 0 20 0 0 0 0
"""


def test_drops_between_guests_are_those_of_their_devices() -> None:
    assert parse_switch(SWITCH) == {
        "tap.rx_dropped": 4, "tap.tx_dropped": 30, "bridge.dropped": 3,
    }  # fmt: skip


def between_guests(packets_each: int, tap: int, bridge: int, *, lost: int = 30) -> Account:
    """Return the account of 100 datagrams between guests, with 5 lost in the receive buffer."""
    told = moments(
        sender={"Udp.OutDatagrams": 100},
        receiver={"Udp.InDatagrams": 100 - lost, "Udp.RcvbufErrors": 5},
        switch={"tap.rx_dropped": 0, "tap.tx_dropped": tap, "bridge.dropped": bridge},
    )
    return account_of(told, packets_each=packets_each)


def test_between_guests_the_tap_devices_and_the_bridge_are_causes() -> None:
    account = between_guests(1, tap=20, bridge=5)
    assert (account.receive_buffer, account.tap, account.bridge, account.device) == (5, 20, 5, 0)
    assert account.unaccounted == 0


def test_packets_of_a_datagram_cost_no_more_than_it() -> None:
    """Of 25 datagrams that lack a packet, devices have dropped 50 packets."""
    account = between_guests(45, tap=40, bridge=10)
    assert (account.tap, account.bridge) == (20, 5)
    assert account.unaccounted == 0


def test_a_packet_costs_one_datagram_at_most() -> None:
    account = between_guests(45, tap=10, bridge=0)
    assert (account.tap, account.unaccounted) == (10, 15)
    assert between_guests(45, tap=10, bridge=0, lost=5).tap == 0


def test_packets_that_time_out_are_of_earlier_datagrams() -> None:
    """Of 40 failures to put packets together, 30 were for want of time and 10 for want of room."""
    received = {"Udp.InDatagrams": 96, "Ip.ReasmFails": 40, "Ip.ReasmTimeout": 30}
    told = moments(sender={"Udp.OutDatagrams": 100}, receiver=received)
    account = account_of(told, packets_each=7)
    assert (account.reassembly, account.other, account.unaccounted) == (4, 0, 0)


def test_a_side_beside_the_switch_has_no_devices_of_its_own() -> None:
    told = moments(
        sender={"Udp.OutDatagrams": 50},
        receiver={"Udp.InDatagrams": 40, "Udp.RcvbufErrors": 3},
        switch={"tap.rx_dropped": 7, "tap.tx_dropped": 0, "bridge.dropped": 0},
    )
    for moment in ("begin", "end", "stopped"):
        for name in ("dev.rx_dropped", "dev.tx_dropped"):
            told[moment]["receiver"].pop(name, None)
    account = account_of(told)
    assert (account.tap, account.unaccounted) == (7, 0)


@pytest.mark.parametrize("missing", [2, -2])
def test_what_no_cause_explains_is_told(missing: int) -> None:
    of = {"Udp.OutDatagrams": 50 + missing, "Udp.InDatagrams": 40, "Udp.RcvbufErrors": 10}
    account = account_of(moments(sender=of, drained=False))
    assert account.unaccounted == missing
    assert not account.drained


def test_an_old_kernel_without_a_counter_still_has_an_account() -> None:
    told = moments(sender={"Udp.OutDatagrams": 5, "Udp.InDatagrams": 5})
    for moment in ("begin", "stopped"):
        del told[moment]["sender"]["Udp.MemErrors"]
    assert account_of(told).unaccounted == 0


class Counted:
    """A host whose counters say one thing after the other."""

    clock_uncertainty_ns = 0

    def __init__(self, *snmp: dict[str, int], waiting: int = 0) -> None:
        self._told = iter(snmp)
        self._waiting = waiting

    def reader(self, paths: list[str]) -> "Counted":
        return self

    def read(self) -> tuple[int, dict[str, str]]:
        udp = dict.fromkeys(("InDatagrams", "InErrors", "NoPorts", "OutDatagrams"), 0)
        ip = {"InReceives": 0, "ReasmReqds": 0}
        for name, value in next(self._told).items():
            (udp if name in udp else ip)[name] = value
        snmp = "".join(
            f"{title}: {' '.join(of)}\n{title}: {' '.join(map(str, of.values()))}\n"
            for title, of in (("Ip", ip), ("Udp", udp))
        )
        sockets = UDP.replace("00001200", f"{self._waiting:08X}")
        return 0, {"proc/net/snmp": snmp, "proc/net/dev": DEV, "proc/net/udp": sockets}


def drained(sender: Counted, receiver: Counted) -> bool:
    counters = LossCounters()
    hosts: Any = {"sender": sender, "receiver": receiver}
    bed = SimpleNamespace(
        hosts=hosts, own_namespaces=True, switch=None, devices={}, guests=()
    )  # fmt: skip
    counters.prepare(cast("Testbed", bed))
    return counters._await_drained([0x1451])


def test_packets_by_which_the_other_machine_is_asked_are_none_of_the_datagrams() -> None:
    asked = [{"InReceives": n, "InDatagrams": 7} for n in range(3)]
    assert drained(Counted(*[{"OutDatagrams": 9}] * 3), Counted(*asked))


def test_who_still_sends_is_waited_for() -> None:
    # nothing comes in between two looks, which slow senders may leave time for
    sent = [{"OutDatagrams": n} for n in (0, 1, 2, 2)]
    told = [{"InDatagrams": 1}] * 4
    sender, receiver = Counted(*sent), Counted(*told)
    assert drained(sender, receiver)
    assert next(sender._told, None) is None


# Two streams on two CPUs: the scheduler gives to the receivers what their senders do.
RATES = {
    "sender_cpu_percent": 118.8,
    "receiver_cpu_percent": 80.4,
    "sender_perf_percent": 156.2,
    "receiver_perf_percent": 37.0,
}


def test_sides_are_divided_by_what_perf_counted() -> None:
    assert _cpu_use(RATES) == {
        "sender_cpu_percent": 156.2,
        "receiver_cpu_percent": 37.0,
        "cpu_clock": "task_clock",
    }


@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_both_sides_go_by_one_clock(side: str) -> None:
    assert _cpu_use({**RATES, f"{side}_perf_percent": math.nan}) == {
        "sender_cpu_percent": 118.8,
        "receiver_cpu_percent": 80.4,
        "cpu_clock": "scheduler",
    }
