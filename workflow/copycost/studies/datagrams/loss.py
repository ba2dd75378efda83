"""Where datagrams were lost, by the kernel's own counters, and whether the account is complete."""

from collections.abc import Mapping
from typing import Any

# of the IP layer and of UDP, without the causes that have a name of their own
_OTHER_COUNTERS = (
    "Udp.InCsumErrors",
    "Udp.NoPorts",
    "Ip.InDiscards",
    "Ip.InHdrErrors",
    "Ip.InAddrErrors",
    "Ip.OutDiscards",
    "Ip.OutNoRoutes",
    "Ip.FragFails",
)
CAUSES = (
    "receive_buffer",  # no room in the receiver's buffer
    "socket_memory",  # no memory for sockets
    "reassembly",  # no room where the receiver's kernel puts packets of a datagram together
    "device",  # dropped by a side's network device; between two machines as an error, too
    "tap",  # dropped by the TAP device of a guest, whose queue was full
    "bridge",  # dropped by the bridge between these
    "other",  # whatever else the kernel counts
)
"""The causes of losses, in the order of tables."""

# a welcome and a goodbye (src/connections/datagram.c)
_NOTES = 2


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
