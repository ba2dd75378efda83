"""What all testbeds that are a veth pair have in common."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from copycost.errors import Unavailable
from copycost.hosts.local import LocalHost
from copycost.hosts.namespace import NamespaceHost
from copycost.hosts.namespaces import Isolation, two_namespaces
from copycost.testbeds.drop_hook import DropHook
from copycost.testbeds.links import (
    Device,
    make_veth_pair,
    read_mtu,
    read_offloads,
    switch_offloads_off,
    wait_until_running,
)
from copycost.testbeds.testbed import Testbed

# 198.18.0.0/15 is set aside for benchmarks (RFC 2544, appendix C.2.2)
ADDRESSES = ("198.18.0.1", "198.18.0.2")
# ETH_MAX_MTU of linux/if_ether.h: a datagram of 65507 bytes and its headers
LARGEST_MTU_BYTES = 65535
# before the payload of a TCP segment: IPv4, TCP, and its timestamps, which Linux sends by default
_SEGMENT_HEADERS_BYTES = 20 + 20 + 12

Offloads = dict[str, bool | None]


@dataclass(frozen=True, slots=True)
class VethPair:
    """Two hosts, and the device at each end."""

    hosts: tuple[NamespaceHost, NamespaceHost]
    devices: tuple[Device, Device]
    isolation: Isolation

    def as_testbed(self, kind: str, offloads: Offloads, hook: DropHook | None = None) -> Testbed:
        """Return the testbed, once its devices carry packets."""
        wait_until_running(self.devices)
        return Testbed(
            kind,
            self.isolation,
            {"sender": self.hosts[0], "receiver": self.hosts[1]},
            ADDRESSES,
            mtu_bytes=read_mtu(self.devices[0]),
            offloads=offloads,
            drop_hook=hook,
        )


@contextmanager
def veth_pair(
    machine: LocalHost, mtu_bytes: int | None = None, *, static_neighbours: bool = False
) -> Iterator[VethPair]:
    """Make two namespaces joined by a veth pair; parameters as for `make_veth_pair`."""
    with two_namespaces() as (first, second, isolation):
        sender = NamespaceHost(machine, first, "the sender's namespace")
        receiver = NamespaceHost(machine, second, "the receiver's namespace")
        make_veth_pair(sender, receiver, ADDRESSES, mtu_bytes, static_neighbours=static_neighbours)
        devices = (Device("sender", sender), Device("receiver", receiver))
        yield VethPair((sender, receiver), devices, isolation)


def page_segment_mtu_bytes(machine: LocalHost) -> int:
    """Return the MTU at which a full TCP segment carries a page of payload [bytes]."""
    return machine.constant("SC_PAGE_SIZE") + _SEGMENT_HEADERS_BYTES


def path_offloads(first: Device, last: Device) -> Offloads:
    """Return the offloads that a stream meets: sending ones at its start, GRO at its end."""
    try:
        at_sender = read_offloads(first)
        at_receiver = at_sender if last == first else read_offloads(last)
    except Unavailable:
        return {"tso": None, "gso": None, "gro": None}
    return {"tso": at_sender["tso"], "gso": at_sender["gso"], "gro": at_receiver["gro"]}


def without_offloads(first: Device, last: Device) -> Offloads:
    """Switch offloads off and return them as read back.

    Raises
    ------
    Unavailable
        If they stay on, or nobody can tell: a testbed whose name may be a lie is worse than none.
    """
    switch_offloads_off((first, last))
    if any((*read_offloads(first).values(), *read_offloads(last).values())):
        raise Unavailable(
            "the kernel kept an offload on that was switched off", "use the veth testbed"
        )
    return dict.fromkeys(("tso", "gso", "gro"), False)
