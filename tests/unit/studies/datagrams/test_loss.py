"""The account of datagrams: the causes of what was lost, and whose clock CPU time is by."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from copycost.studies.datagrams.records import _cpu_use, account_of


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
