"""The testbeds that are a veth pair: `veth`, `veth_no_offload`, `veth_udp` and `sink`.

In `sink`, what arrives is counted and dropped before local delivery, so that zero-copy sends are
not copied after all. There is no receiver: it measures the sender alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from copycost.config.testbeds import receives_on, transport_of
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation, NamespaceHost, two_namespaces
from copycost.hosts.side import SIDES
from copycost.testbeds.drop_hook import install_drop_hook
from copycost.testbeds.links import End, make_veth_pair, switch_offloads_off, wait_until_running
from copycost.testbeds.testbed import Testbed

# 198.18.0.0/15 is set aside for benchmarks (RFC 2544, appendix C.2.2)
ADDRESSES = ("198.18.0.1", "198.18.0.2")
# ETH_MAX_MTU of linux/if_ether.h: a datagram of 65507 bytes and its headers
LARGEST_MTU_BYTES = 65535
# before the payload of a TCP segment: IPv4, TCP, and its timestamps, which Linux sends by default
_SEGMENT_HEADERS_BYTES = 20 + 20 + 12


@contextmanager
def build(kind: str, machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Build one of them, and take it down at the end of the block."""
    mtu_bytes = page_segment_mtu_bytes(machine) if page_segments else None
    datagrams = transport_of(kind) == "datagram"  # whose packets may be as large as one
    if datagrams:
        mtu_bytes = LARGEST_MTU_BYTES
    with veth_pair(machine, mtu_bytes, static_neighbours=datagrams) as pair:
        hook = None
        if not receives_on(kind):
            hook = install_drop_hook(pair.hosts[1], "receiver", ADDRESSES[1])
        if kind == "veth_no_offload":
            for side, host in zip(SIDES, pair.hosts, strict=True):
                switch_offloads_off(host, side)
        yield replace(pair.as_testbed(kind), drop_hook=hook)


@dataclass(frozen=True, slots=True)
class VethPair:
    """The sender's and the receiver's host; each has a device that is named as the side."""

    hosts: tuple[NamespaceHost, NamespaceHost]
    isolation: Isolation

    def as_testbed(self, kind: str) -> Testbed:
        """Return the testbed, once its devices carry packets."""
        ends = [End(*of) for of in zip(self.hosts, ADDRESSES, SIDES, strict=True)]
        for host, side in zip(self.hosts, SIDES, strict=True):
            wait_until_running(host, side)
        return Testbed.between(kind, self.isolation, *ends)


@contextmanager
def veth_pair(
    machine: LocalHost, mtu_bytes: int | None = None, *, static_neighbours: bool = False
) -> Iterator[VethPair]:
    """Make two namespaces joined by a veth pair; parameters as for `make_veth_pair`."""
    with two_namespaces() as (first, second, isolation):
        sender = NamespaceHost(machine, first, "the sender's namespace")
        receiver = NamespaceHost(machine, second, "the receiver's namespace")
        make_veth_pair(sender, receiver, ADDRESSES, mtu_bytes, static_neighbours=static_neighbours)
        yield VethPair((sender, receiver), isolation)


def page_segment_mtu_bytes(machine: LocalHost) -> int:
    """Return the MTU at which a full TCP segment carries a page of payload [bytes]."""
    return machine.constant("SC_PAGE_SIZE") + _SEGMENT_HEADERS_BYTES
