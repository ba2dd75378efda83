"""The testbeds: two ends between which messages run, and what was found out about the path.

`veth`
    Two network namespaces joined by a veth pair, offloads as the kernel sets them.
`veth_no_offload`
    The same with segmentation and receive offloads (TSO, GSO, GRO) off.
`loopback`
    The host's own loopback device; needs no right at all, and nothing of it is configured.
`veth_udp`
    UDP over a veth pair whose packets may be as large as a datagram.
`sink`
    The same, but what arrives is counted and dropped before local delivery, so that zero-copy sends
    are not copied after all. There is no receiver: it measures the sender's cost alone.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal, get_args

from copycost.grid.capabilities import Transport, transport_of
from copycost.hosts.namespaces import (
    Isolation,
    Namespace,
    TestbedUnavailable,
    two_namespaces,
)
from copycost.testbeds.drop_hook import DropHook, install_drop_hook
from copycost.testbeds.links import (
    Device,
    make_veth_pair,
    read_mtu,
    read_offloads,
    switch_offloads_off,
    wait_until_running,
)

TestbedKind = Literal["veth", "veth_no_offload", "loopback", "veth_udp", "sink"]
TESTBEDS: tuple[TestbedKind, ...] = get_args(TestbedKind)

# 198.18.0.0/15 is set aside for benchmarks (RFC 2544, appendix C.2.2)
_VETH_ADDRESSES = ("198.18.0.1", "198.18.0.2")
_LOOPBACK_ADDRESS = "127.0.0.1"
# ETH_MAX_MTU of linux/if_ether.h: a datagram of 65507 bytes and its headers
_LARGEST_MTU_BYTES = 65535
# before the payload of a TCP segment: IPv4, TCP, and its timestamps, which Linux sends by default
_SEGMENT_HEADERS_BYTES = 20 + 20 + 12


@dataclass(frozen=True, slots=True)
class Testbed:
    """A path between two ends, ready for traffic.

    Attributes
    ----------
    sender, receiver : Namespace or None
        Where each side runs; None is the host's own namespace.
    addresses : tuple of str
        The sender's and the receiver's address.
    mtu_bytes : int
        The largest packet of the sender's device.
    offloads : dict
        `tso` and `gso` as read back at the sender's device, `gro` at the receiver's; None where
        `ethtool` could not tell.
    drop_hook : DropHook or None
        What drops the messages of a sink; None where a receiver takes them.
    """

    kind: TestbedKind
    isolation: Isolation
    sender: Namespace | None
    receiver: Namespace | None
    addresses: tuple[str, str]
    mtu_bytes: int
    offloads: dict[str, bool | None]
    drop_hook: DropHook | None = None

    @property
    def transport(self) -> Transport:
        """Whether TCP or UDP runs here."""
        return transport_of(self.kind)

    def inside(self, side: Literal["sender", "receiver"]) -> AbstractContextManager[None]:
        """Return a block whose children start in that side's network namespace."""
        namespace = self.sender if side == "sender" else self.receiver
        return nullcontext() if namespace is None else namespace.entered()


@contextmanager
def open_testbed(kind: TestbedKind, *, page_segments: bool = False) -> Iterator[Testbed]:
    """Build a testbed, and take it down at the end of the block.

    Parameters
    ----------
    page_segments : bool
        Choose the veth pair's largest packet so that a full TCP segment carries a page of payload:
        a receiver can map only whole pages (TCP_ZEROCOPY_RECEIVE). Of no effect on loopback, of
        which nothing is configured.

    Raises
    ------
    TestbedUnavailable
        With the reason and a remedy, if this host does not allow it.
    """
    if kind == "loopback":
        yield _loopback()
        return
    with two_namespaces() as (sender, receiver, isolation):
        datagrams = transport_of(kind) == "datagram"
        mtu_bytes = None
        if datagrams:
            mtu_bytes = _LARGEST_MTU_BYTES
        elif page_segments:
            mtu_bytes = os.sysconf("SC_PAGE_SIZE") + _SEGMENT_HEADERS_BYTES
        make_veth_pair(sender, receiver, _VETH_ADDRESSES, mtu_bytes, static_neighbours=datagrams)
        ends = (Device("sender", sender), Device("receiver", receiver))
        if kind == "veth_no_offload":
            switch_offloads_off(ends)
        offloads = _path_offloads(kind, *ends)
        wait_until_running(ends)
        hook = None
        if kind == "sink":
            hook = install_drop_hook(receiver, ends[1].name, _VETH_ADDRESSES[1])
        yield Testbed(
            kind,
            isolation,
            sender,
            receiver,
            _VETH_ADDRESSES,
            mtu_bytes=read_mtu(ends[0]),
            offloads=offloads,
            drop_hook=hook,
        )


def probe_testbed(kind: TestbedKind) -> Isolation:
    """Build a testbed, take it down at once, and return how it was isolated.

    Where that takes a user namespace the calling process stays in it: call this in a process of
    its own.

    Raises
    ------
    TestbedUnavailable
        With the reason and a remedy, if this host does not allow it.
    """
    with open_testbed(kind) as testbed:
        return testbed.isolation


def _loopback() -> Testbed:
    device = Device("lo", None)
    return Testbed(
        "loopback",
        "host",
        None,
        None,
        (_LOOPBACK_ADDRESS, _LOOPBACK_ADDRESS),
        read_mtu(device),
        _path_offloads("loopback", device, device),
    )


def _path_offloads(kind: TestbedKind, first: Device, last: Device) -> dict[str, bool | None]:
    """Return the offloads that the stream meets: sending ones at its start, GRO at its end."""
    try:
        at_sender = read_offloads(first)
        at_receiver = at_sender if last == first else read_offloads(last)
    except TestbedUnavailable:
        if kind == "veth_no_offload":
            raise  # a testbed whose name may be a lie is worse than none
        return {"tso": None, "gso": None, "gro": None}
    if kind == "veth_no_offload" and any((*at_sender.values(), *at_receiver.values())):
        raise TestbedUnavailable(
            "the kernel kept an offload on that was switched off", "use the veth testbed"
        )
    return {"tso": at_sender["tso"], "gso": at_sender["gso"], "gro": at_receiver["gro"]}
