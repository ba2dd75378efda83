"""Where datagrams were lost, by the kernel's own counters, and whether the account is complete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
CAUSES = ("receive_buffer", "socket_memory", "reassembly", "device", "tap", "bridge", "other")
"""The causes, in the order of tables."""

# a welcome and a goodbye (src/connections/datagram.c)
_NOTES = 2


@dataclass(frozen=True, slots=True)
class Account:
    """What became of all datagrams up to the moment at which the receivers had read all [count]."""

    sent: int  # taken by the kernel from senders
    received: int  # read by receivers
    receive_buffer: int  # lost: no room in the receiver's buffer
    socket_memory: int  # no memory for sockets
    reassembly: int  # no room where the receiver's kernel puts packets of a datagram together
    device: int  # dropped by a side's network device; between two machines as an error, too
    tap: int  # dropped by the TAP device of a guest, whose queue was full
    bridge: int  # dropped by the bridge between these
    other: int  # whatever else the kernel counts
    drained: bool  # receivers had read all that had arrived; otherwise the rest is unaccounted

    @property
    def lost(self) -> int:
        """Sent, and not received [count]."""
        return self.sent - self.received

    @property
    def unaccounted(self) -> int:
        """Lost, and not by any cause that the kernel counted; 0 if the account is complete."""
        explained: int = sum(getattr(self, cause) for cause in CAUSES)
        return self.lost - explained


def account_of(
    datagrams: Mapping[str, Any],
    until: str = "stopped",
    packets_each: int = 1,
    *,
    far: bool = False,
    messages: int | None = None,
    n_connections: int = 0,
) -> Account:
    """Return the account from a record's counters, by moment, side and name.

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
    begin, end = datagrams["begin"], datagrams[until]
    change = {
        side: {name: int(end[side][name]) - int(begin[side][name]) for name in begin[side]}
        for side in begin
    }
    sender = change["sender"]
    receiver = change.get("receiver", sender)
    sent, received = sender["Udp.OutDatagrams"], receiver["Udp.InDatagrams"]
    of_sockets = receiver["Udp.RcvbufErrors"], receiver.get("Udp.MemErrors", 0)
    other = sum(place.get(name, 0) for place in change.values() for name in _OTHER_COUNTERS)
    # those that time out, after half a minute, are of datagrams that were lost long before
    reassembly = receiver.get("Ip.ReasmFails", 0) - receiver.get("Ip.ReasmTimeout", 0)
    at_receiver, at_sender = receiver.get("dev.rx_dropped", 0), sender.get("dev.tx_dropped", 0)
    switch = change.get("switch")
    # on veth one drop counts at the receiving device as rx_dropped and at the sending one as
    # tx_dropped
    one_drop = switch is None and not far
    device = max(at_receiver, at_sender) if one_drop else at_receiver + at_sender
    tap = bridge = 0
    if switch is not None:
        tap, bridge = switch["tap.rx_dropped"] + switch["tap.tx_dropped"], switch["bridge.dropped"]
    dropped: Sequence[int] = (max(0, reassembly), device, tap, bridge)
    if packets_each > 1:
        dropped = _shared_out(sent - received - sum(of_sockets) - other, dropped)
    reassembly, device, tap, bridge = dropped
    drained = bool(datagrams["drained"])
    account = Account(
        sent, received, *of_sockets, reassembly, device, tap, bridge, other, drained
    )  # fmt: skip
    again = 0 if messages is None else max(0, sent - messages - _NOTES * n_connections)
    account = replace(account, sent=sent - min(again, max(0, account.unaccounted)))
    if far:
        # errors of devices, of what nothing else explains: drivers may count these as drops too
        errors = receiver.get("dev.rx_errors", 0) + sender.get("dev.tx_errors", 0)
        explained = min(errors, max(0, account.unaccounted))
        account = replace(account, device=account.device + explained)
    return account


def _shared_out(lost: int, packets: Sequence[int]) -> tuple[int, ...]:
    """Return how many of some lost datagrams each device has, by the packets that it dropped.

    A dropped packet costs one datagram at most.
    """
    total = sum(packets)
    if not 0 < lost < total:
        return tuple(packets) if lost >= total else (0,) * len(packets)
    found = [lost * each // total for each in packets]
    found[max(range(len(packets)), key=packets.__getitem__)] += lost - sum(found)
    return tuple(found)
