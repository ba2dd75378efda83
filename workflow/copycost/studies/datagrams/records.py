"""The records of `datagrams`: how one is measured, its row, and where its datagrams were lost."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from copycost.config.cells import Cell
from copycost.config.testbeds import kernels_on
from copycost.hosts.testbeds.links import packets_of
from copycost.measure.drivers.iperf3.tool import udp_totals
from copycost.measure.drivers.rates import limit_of
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.kernel_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.records.column import fact, flag, grouped, number, text
from copycost.records.columns import RATE_LIMIT, SIDES
from copycost.records.record import Record
from copycost.studies.record_table import begin_row, define

_CPU = "% of one CPU"
_KEY = (
    fact("testbed", "str", "", "Where the datagrams travel"),
    fact("implementation", "str", "", "iperf3, or a strategy of ours"),
    fact("msg_bytes", "int64", "byte", "UDP payload of a datagram"),
    fact("n_threads", "int64", "count", "Sockets that send"),
    fact("rep", "int64", "", "Number of the repetition, from 1"),
)
_RATE = grouped(
    "Bitrate and cost, in the window",
    number("sent_bits_per_s", "bit/s", "Payload sent"),
    number("bits_per_s", "bit/s", "Payload received"),
    number("rate_limit_bits_per_s", "bit/s", RATE_LIMIT),
    number("sent_per_s", "1/s", "Datagrams sent"),
    number("received_per_s", "1/s", "Datagrams received"),
    number("sender_cpu_percent", _CPU, "CPU used by the senders"),
    number("receiver_cpu_percent", _CPU, "CPU used by the receivers"),
    text("cpu_clock",
         "Clock of these: task_clock (perf stat), or scheduler if perf did not count both sides",
         allowed=("task_clock", "scheduler")),
    number("sender_ns", "ns", "Senders' CPU time per datagram sent"),
    number("receiver_ns", "ns", "Receivers' CPU time per datagram received"),
)  # fmt: skip
# What is counted at two moments, one after the other, may come out below 0.
_LOSS = grouped(
    "Loss, from the first datagram until the receivers had read all",
    number("sent", "count", "Datagrams sent"),
    number("received", "count", "Datagrams received"),
    number("lost", "count", "sent - received", lowest=None),
    number("mtu_bytes", "byte", "MTU of the sender's device"),
    number("packets_each", "count", "Packets that carry a datagram, by the MTU"),
    number("lost_receive_buffer", "count", "Lost because the receive buffer was full"),
    number("lost_socket_memory", "count", "Lost for lack of socket memory"),
    number("lost_reassembly", "count",
           "Lost for lack of room to reassemble packets of a datagram; if a datagram takes "
           "several, losses that no cause at the socket explains are divided between this and the "
           "devices, by packets"),
    number("lost_device", "count", "Dropped by a side's network device, including errors"),
    number("lost_tap", "count", "Dropped by a guest's TAP device, whose queue was full"),
    number("lost_bridge", "count", "Dropped by the bridge between guests"),
    number("lost_other", "count", "Lost to other causes that the kernel counts", lowest=None),
    number("lost_unaccounted", "count", "Lost, but counted nowhere", lowest=None),
    flag("drained", "Whether the receivers had read everything by then"),
)  # fmt: skip
_TOTAL = grouped(
    "The whole test",
    number("driver_sent", "count", "Datagrams sent, by the driver"),
    number("driver_lost", "count", "Datagrams lost, by the driver", lowest=None),
    number("driver_out_of_order", "count", "Datagrams out of order, by the driver"),
    number("kernel_sent", "count", "Datagrams sent, by the kernel"),
    number("kernel_lost", "count", "Datagrams lost or left unread, by the kernel", lowest=None),
)

DATAGRAMS = define("table of datagrams", _KEY, _RATE, _LOSS, _TOTAL)

CAUSES = ("receive_buffer", "socket_memory", "reassembly", "device", "tap", "bridge", "other")
"""The causes of losses, in the order of tables; see the columns ``lost_...``."""

# of the IP layer and of UDP, without the causes that have a name of their own
_OTHER_COUNTERS = (
    "Udp.InCsumErrors", "Udp.NoPorts", "Ip.InDiscards", "Ip.InHdrErrors", "Ip.InAddrErrors",
    "Ip.OutDiscards", "Ip.OutNoRoutes", "Ip.FragFails",
)  # fmt: skip
# a welcome and a goodbye (src/connections/datagram.c)
_NOTES = 2


def measure_datagrams(task: Task) -> Record:
    """Measure one repetition and return its record; see `measure_repetition`."""
    return measure_repetition(replace(task, observers=(ProcessUsage(), LossCounters())))


def row_of(record: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """Return one record's row; what was not measured has no value."""
    row = begin_row(record, cell)
    if record["status"] != "measured":
        return row
    row |= _cpu_use(row)
    row["rate_limit_bits_per_s"] = limit_of(record["driver"])
    for side, done, bits in (("sender", "sent", "sent_bits_per_s"),
                             ("receiver", "received", "bits_per_s")):  # fmt: skip
        row[f"{done}_per_s"] = per_s = row[bits] / 8 / cell.msg_bytes
        cpu_s = row[f"{side}_cpu_percent"] / 100
        row[f"{side}_ns"] = cpu_s * 1e9 / per_s if per_s > 0 else math.nan
    row["mtu_bytes"] = record["testbed"]["mtu_bytes"]
    row["packets_each"] = packets_of(cell.msg_bytes, row["mtu_bytes"])
    ours = record["driver"].get("sender")
    counters = record["observed"]["datagrams"]
    stopped, end = (
        account_of(
            counters,
            until,
            row["packets_each"],
            far=kernels_on(cell.testbed) > 1,
            messages=None if ours is None else int(ours["total"]["datagrams"]),
            n_connections=cell.n_threads,
        )
        for until in ("stopped", "end")
    )
    row |= stopped | {"drained": bool(counters["drained"])}
    row |= {"kernel_sent": end["sent"], "kernel_lost": end["lost"]}
    # What iperf3 itself says of the whole test; our programs have no such account.
    totals = [udp_totals(pair["client"]) for pair in record["driver"].get("pairs", [])]
    for name in ("sent", "lost", "out_of_order"):
        values = [value for total in totals if (value := total[name]) is not None]
        known = bool(totals) and len(values) == len(totals)
        row[f"driver_{name}"] = float(sum(values)) if known else math.nan
    return DATAGRAMS.checked(row)


def _cpu_use(rates: Mapping[str, Any]) -> dict[str, Any]:
    """Return both sides' CPU use by one clock, perf's where it counted both.

    The scheduler charges to a thread that is woken what its waker still does on the same CPU until
    the switch. Where senders and receivers share CPUs, it may give to the receivers more than twice
    what is theirs; the sum of both sides is right.
    """
    counted = {f"{side}_cpu_percent": rates[f"{side}_perf_percent"] for side in SIDES}
    if all(math.isfinite(percent) for percent in counted.values()):
        return counted | {"cpu_clock": "task_clock"}
    return {key: rates[key] for key in counted} | {"cpu_clock": "scheduler"}


def account_of(
    counters: Mapping[str, Any],
    until: str = "stopped",
    packets_each: int = 1,
    *,
    far: bool = False,
    messages: int | None = None,
    n_connections: int = 0,
) -> dict[str, int]:
    """Return what became of all datagrams, from a record's counters by moment, side and name.

    It has those ``sent`` (taken by the kernel from senders), ``received`` (read by receivers),
    ``lost``, by each of `CAUSES` ``lost_...``, and ``lost_unaccounted``, which no cause explains
    [count].

    `until` is the moment: ``stopped``, when the receivers had read all, or ``end``. Where one
    namespace holds both sides, as on loopback, its counters are those of both; the few datagrams
    that a server answers with are sent and received like the others.

    A datagram takes `packets_each` packets. What loses them on the way to the socket counts
    packets; where a datagram is lost with each of several, these causes have what no other
    explains, each by its packets, and no more than these. `far`: each side has a device of its own,
    with a network between, so what the one drops, the other does not see.

    Programs of ours sent `messages` datagrams besides the welcome and the goodbye of each of
    `n_connections`; on a long way these are said again before they can be answered. One that is
    left unread in a socket that is closed is no loss, and nobody counts it.
    """
    begin, end = counters["begin"], counters[until]
    change = {
        side: {name: int(end[side][name]) - int(begin[side][name]) for name in begin[side]}
        for side in begin
    }
    sender = change["sender"]
    receiver = change.get("receiver", sender)
    sent, received = sender["Udp.OutDatagrams"], receiver["Udp.InDatagrams"]
    at_receiver, at_sender = receiver.get("dev.rx_dropped", 0), sender.get("dev.tx_dropped", 0)
    switch = change.get("switch")
    # on veth one drop counts at the receiving device as rx_dropped and at the sending one as
    # tx_dropped
    one_drop = switch is None and not far
    # those that time out, after half a minute, are of datagrams that were lost long before
    failed = receiver.get("Ip.ReasmFails", 0) - receiver.get("Ip.ReasmTimeout", 0)
    packets = {
        "reassembly": max(0, failed),
        "device": max(at_receiver, at_sender) if one_drop else at_receiver + at_sender,
        "tap": switch["tap.rx_dropped"] + switch["tap.tx_dropped"] if switch else 0,
        "bridge": switch["bridge.dropped"] if switch else 0,
    }
    causes = {
        "receive_buffer": receiver["Udp.RcvbufErrors"],
        "socket_memory": receiver.get("Udp.MemErrors", 0),
        "other": sum(place.get(name, 0) for place in change.values() for name in _OTHER_COUNTERS),
    }
    if packets_each > 1:
        packets = _shared_out(sent - received - sum(causes.values()), packets)
    causes |= packets

    def unexplained() -> int:
        return sent - received - sum(causes.values())

    if messages is not None:
        said_again = max(0, sent - messages - _NOTES * n_connections)
        sent -= min(said_again, max(0, unexplained()))
    if far:
        # errors of devices, of what nothing else explains: drivers may count these as drops too
        errors = receiver.get("dev.rx_errors", 0) + sender.get("dev.tx_errors", 0)
        causes["device"] += min(errors, max(0, unexplained()))
    return {
        "sent": sent,
        "received": received,
        "lost": sent - received,
        **{f"lost_{cause}": n for cause, n in causes.items()},
        "lost_unaccounted": unexplained(),
    }


def _shared_out(lost: int, packets: Mapping[str, int]) -> dict[str, int]:
    """Return how many of some lost datagrams each device has, by the packets that it dropped.

    A dropped packet costs one datagram at most.
    """
    lost, total = max(0, lost), sum(packets.values())
    if lost >= total:
        return dict(packets)
    found = {name: lost * each // total for name, each in packets.items()}
    found[max(packets, key=packets.__getitem__)] += lost - sum(found.values())
    return found
