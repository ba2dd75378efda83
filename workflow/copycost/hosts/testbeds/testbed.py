"""A testbed that is built: two ends between which messages run, and what was found of the path.

A testbed is built by a module of this folder that is named as its entry in
`copycost.config.testbeds`, with a function ``build(machine, *, page_segments)`` that is a context
manager yielding a `Testbed`. One with sides on another machine takes ``peer`` too, one in guests
``guest``: what is known of these. Modules that build several have ``build(kind, machine, ...)``.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Self

from copycost.config.testbeds import Transport, away_on, guests_on, kind_of, transport_of
from copycost.errors import Unavailable
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation
from copycost.hosts.side import SIDES, SideName
from copycost.hosts.testbeds.drop_hook import DropHook
from copycost.hosts.testbeds.links import OFFLOADS, End, features_at, mtu_at, payload_share

# modules that build several testbeds
_BUILT_BY = {
    "on_host": ("loopback", "loopback_udp", "veth", "veth_no_offload", "veth_udp", "sink"),
    "over_wire": ("wire", "wire_udp", "wire_in", "wire_in_udp", "wire_sink"),
    "in_guests": (
        "vm_loopback", "vm_loopback_udp", "vm_pair", "vm_pair_udp", "vm_host", "vm_host_udp",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guest:
    """A virtual machine that sides run in, as it is seen from the machine that it runs on."""

    name: str  # what messages call it
    sides: tuple[SideName, ...]
    host: Host  # its inside
    pid: int  # of its hypervisor's process, which names its threads


@dataclass(frozen=True, slots=True)
class Testbed:
    """A path between two ends, ready for traffic."""

    kind: str
    # how it is kept apart: namespaces made as root or in a user namespace, or not at all
    isolation: Isolation
    # where each side runs, also the side that only drops what arrives
    hosts: Mapping[SideName, Host]
    addresses: tuple[str, str]  # the sender's and the receiver's address
    mtu_bytes: int  # the largest packet of the sender's device
    # `tso` and `gso` as read back at the sender's device, `gro` at the receiver's; None where
    # `ethtool` could not tell
    offloads: dict[str, bool | None]
    # what drops the messages where nobody receives; None where somebody does
    drop_hook: DropHook | None = None
    # the network device of each side where others are no part of the path; none where all are
    devices: Mapping[SideName, str] = field(default_factory=dict)
    # what the link carries, all headers included [bit/s], and UDP senders keep to; None where they
    # send as fast as they can
    udp_bits_per_s: int | None = None
    # the virtual machines that sides run in; none where both run on this machine
    guests: tuple[Guest, ...] = ()
    # the network of this machine that joins the guests: their TAP devices and what lies between
    # these; None where there is none
    switch: Host | None = None
    # what the guests are made of, for the record; None without guests
    virtual: Mapping[str, Any] | None = None
    # the first and the last port that programs may listen at; None for any
    ports: tuple[int, int] | None = None
    # the sides that no TCP connection of the other one reaches: what keeps it out, `reason` and
    # `remedy`
    unreached: Mapping[SideName, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def between(cls, kind: str, isolation: Isolation, sender: End, receiver: End) -> Self:
        """Return a testbed with what is read back of its devices."""
        at_sender = features_at(sender.host, sender.device, OFFLOADS)
        at_receiver = at_sender
        if receiver != sender:
            at_receiver = features_at(receiver.host, receiver.device, OFFLOADS)
        return cls(
            kind,
            isolation,
            {"sender": sender.host, "receiver": receiver.host},
            (sender.address, receiver.address),
            mtu_at(sender.host, sender.device),
            {"tso": at_sender["tso"], "gso": at_sender["gso"], "gro": at_receiver["gro"]},
        )

    def require_reached(self, side: SideName) -> None:
        """Raise Unavailable where TCP connections of the other side do not reach one."""
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


def builder_of(kind: str) -> Callable[..., AbstractContextManager[Testbed]]:
    """Return what builds a testbed; its module is imported only now, as are those that it needs."""
    module = next((module for module, kinds in _BUILT_BY.items() if kind in kinds), None)
    build: Callable[..., Any] = import_module(f"copycost.hosts.testbeds.{module or kind}").build
    return build if module is None else partial(build, kind)


@contextmanager
def open_testbed(
    kind: str,
    machine: LocalHost | None = None,
    *,
    page_segments: bool = False,
    peer: Mapping[str, Any] | None = None,
) -> Iterator[Testbed]:
    """Build a testbed, and take it down at the end of the block; Unavailable where it cannot be.

    By default it is built on this host. Where that takes a user namespace the calling process stays
    in it: call this in a process of its own, which has one thread. With `page_segments` the largest
    packet of a device of ours is such that a full TCP segment carries a page of payload: a receiver
    can map only whole pages (TCP_ZEROCOPY_RECEIVE). For a testbed with sides elsewhere, `peer` is
    what is known of the guests (results/guest.json) or the other machine (results/peers/PEER.json).
    """
    more = {}
    if away_on(kind):
        more = {"guest" if guests_on(kind) else "peer": peer}
    build = builder_of(kind_of(kind))
    with build(machine or LocalHost(), page_segments=page_segments, **more) as testbed:
        yield testbed
