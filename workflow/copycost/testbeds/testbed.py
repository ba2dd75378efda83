"""A testbed that is built: two ends between which messages run, and what was found of the path.

Each testbed is a file of this folder, named as its entry in `copycost.config.testbeds`, with a
function ``build(machine, *, page_segments)`` that is a context manager yielding a `Testbed`; one
in guests takes ``guest`` too: what guests are made of (results/guest.json).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from copycost.config.testbeds import Transport, away_on, guests_on, kind_of, transport_of
from copycost.errors import Unavailable
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation
from copycost.hosts.side import SIDES, SideName
from copycost.testbeds.drop_hook import DropHook
from copycost.testbeds.links import payload_share


@dataclass(frozen=True, slots=True)
class Guest:
    """A virtual machine that sides run in, as it is seen from the machine that it runs on.

    Attributes
    ----------
    name
        What messages call it.
    sides
        The sides that run in it.
    host
        Its inside.
    pid
        Its hypervisor's process, which names its threads.
    """

    name: str
    sides: tuple[SideName, ...]
    host: Host
    pid: int


@dataclass(frozen=True, slots=True)
class Testbed:
    """A path between two ends, ready for traffic.

    Attributes
    ----------
    kind
        Its name.
    isolation
        How it is kept apart: namespaces made as root or in a user namespace, or not at all.
    hosts
        Where each side runs, also the side that only drops what arrives.
    addresses
        The sender's and the receiver's address.
    mtu_bytes
        The largest packet of the sender's device.
    offloads
        `tso` and `gso` as read back at the sender's device, `gro` at the receiver's; None where
        `ethtool` could not tell.
    devices
        The network device of each side where others are no part of the path; none where all are.
    udp_bits_per_s
        What the link carries, all headers included [bit/s], and UDP senders keep to; None where
        they send as fast as they can.
    drop_hook
        What drops the messages where nobody receives; None where somebody does.
    guests
        The virtual machines that sides run in; none where both run on this machine.
    switch
        The network of this machine that joins the guests: their TAP devices and what lies between
        these; None where there is none.
    virtual
        What the guests are made of, for the record; None without guests.
    ports
        The first and the last port that programs may listen at; None for any.
    unreached
        The sides that no TCP connection of the other one reaches: what keeps it out, `reason` and
        `remedy`.
    """

    kind: str
    isolation: Isolation
    hosts: Mapping[SideName, Host]
    addresses: tuple[str, str]
    mtu_bytes: int
    offloads: dict[str, bool | None]
    drop_hook: DropHook | None = field(default=None)
    devices: Mapping[SideName, str] = field(default_factory=dict)
    udp_bits_per_s: int | None = None
    guests: tuple[Guest, ...] = ()
    switch: Host | None = None
    virtual: Mapping[str, Any] | None = None
    ports: tuple[int, int] | None = None
    unreached: Mapping[SideName, Mapping[str, str]] = field(default_factory=dict)

    def require_reached(self, side: SideName) -> None:
        """Refuse a path on which a side cannot listen for TCP connections.

        Raises
        ------
        Unavailable
            If the other side's do not reach it.
        """
        if side in self.unreached:
            raise Unavailable(**self.unreached[side])

    @property
    def transport(self) -> Transport:
        """Whether TCP or UDP runs here."""
        return transport_of(self.kind)

    def payload_limit(self, msg_bytes: int) -> float | None:
        """Return how many bytes of such datagrams may be sent [byte/s]; None for any number."""
        if self.udp_bits_per_s is None or self.transport != "datagram":
            return None
        return self.udp_bits_per_s / 8 * payload_share(msg_bytes, self.mtu_bytes)

    def machines(self) -> list[tuple[Host, tuple[SideName, ...]]]:
        """Return each machine that takes part, and the sides that run on it, the sender's first.

        One that only drops what arrives takes no part.
        """
        sender, receiver = self.hosts["sender"].machine, self.hosts["receiver"].machine
        if sender is receiver:
            return [(sender, SIDES)]
        if self.drop_hook is not None:
            return [(sender, ("sender",))]
        return [(sender, ("sender",)), (receiver, ("receiver",))]

    @property
    def own_namespaces(self) -> bool:
        """Whether each side has a network namespace of its own."""
        return self.hosts["sender"] is not self.hosts["receiver"]


@contextmanager
def open_testbed(
    kind: str,
    machine: LocalHost | None = None,
    *,
    page_segments: bool = False,
    peer: Mapping[str, Any] | None = None,
) -> Iterator[Testbed]:
    """Build a testbed, and take it down at the end of the block.

    Where that takes a user namespace the calling process stays in it: call this in a process of
    its own, which has one thread.

    Parameters
    ----------
    machine
        The host on which it is built, by default this one.
    page_segments
        Choose the largest packet so that a full TCP segment carries a page of payload: a receiver
        can map only whole pages (TCP_ZEROCOPY_RECEIVE). Of no effect on a device that is not ours.
    peer
        The facts of guests (results/guest.json), or of another machine (results/peers/PEER.json),
        for a testbed with sides there.

    Raises
    ------
    Unavailable
        With the reason and a remedy, if this host does not allow it.
    """
    build = import_module(f"copycost.testbeds.{kind_of(kind)}").build
    more = {}
    if away_on(kind):
        more = {"guest" if guests_on(kind) else "peer": peer}
    with build(machine or LocalHost(), page_segments=page_segments, **more) as testbed:
        yield testbed
