"""Where datagrams were lost, by the kernel's own counters, and whether the account is complete."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    "Ip.ReasmFails",
    "Ip.FragFails",
)
CAUSES = ("receive_buffer", "socket_memory", "device", "other")
"""The causes, in the order of tables."""


@dataclass(frozen=True, slots=True)
class Account:
    """What became of all datagrams up to the moment at which the receivers had read all.

    Attributes
    ----------
    sent, received
        Taken by the kernel from senders, and read by receivers [count].
    receive_buffer, socket_memory, device, other
        Lost by cause [count]: no room in the receiver's buffer, no memory for sockets, dropped by
        a network device, and whatever else the kernel counts.
    drained
        The receivers had read all that had arrived; otherwise the rest counts as unaccounted.
    """

    sent: int
    received: int
    receive_buffer: int
    socket_memory: int
    device: int
    other: int
    drained: bool

    @property
    def lost(self) -> int:
        """Sent, and not received [count]."""
        return self.sent - self.received

    @property
    def unaccounted(self) -> int:
        """Lost, and not by any cause that the kernel counted; 0 if the account is complete."""
        causes = self.receive_buffer + self.socket_memory + self.device + self.other
        return self.lost - causes


def account_of(datagrams: Mapping[str, Any], until: str = "stopped") -> Account:
    """Return the account from a record's counters.

    Where one namespace holds both sides, as on loopback, its counters are those of both; the few
    datagrams that a server answers with are sent and received like the others.

    Parameters
    ----------
    datagrams : mapping
        The record's entry of this name: counters by moment, side and name.
    until : str
        The moment: ``stopped``, when the receivers had read all, or ``end``.
    """
    begin, end = datagrams["begin"], datagrams[until]
    change = {
        side: {name: int(end[side][name]) - int(begin[side][name]) for name in begin[side]}
        for side in begin
    }
    sender = change["sender"]
    receiver = change.get("receiver", sender)
    sides = list(change.values())
    # on veth one drop counts at the receiving device as rx_dropped and at the sending one as
    # tx_dropped
    device = max(receiver["dev.rx_dropped"], sender["dev.tx_dropped"])
    return Account(
        sender["Udp.OutDatagrams"],
        receiver["Udp.InDatagrams"],
        receiver["Udp.RcvbufErrors"],
        receiver.get("Udp.MemErrors", 0),
        device,
        sum(side.get(name, 0) for side in sides for name in _OTHER_COUNTERS),
        bool(datagrams["drained"]),
    )
