"""The testbeds: two ends between which a stream runs, and what was found out about the path.

`veth`
    Two network namespaces joined by a veth pair, offloads as the kernel sets them.
`veth_no_offload`
    The same with segmentation and receive offloads (TSO, GSO, GRO) off.
`loopback`
    The host's own loopback device; needs no right at all, and nothing of it is configured.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal, get_args

from copycost.testbed.links import (
    Device,
    make_veth_pair,
    read_mtu,
    read_offloads,
    switch_offloads_off,
    wait_until_running,
)
from copycost.testbed.namespaces import (
    Isolation,
    Namespace,
    TestbedUnavailable,
    two_namespaces,
)

TestbedKind = Literal["veth", "veth_no_offload", "loopback"]
TESTBEDS: tuple[TestbedKind, ...] = get_args(TestbedKind)

# 198.18.0.0/15 is set aside for benchmarks (RFC 2544, appendix C.2.2)
_VETH_ADDRESSES = ("198.18.0.1", "198.18.0.2")
_LOOPBACK_ADDRESS = "127.0.0.1"


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
    """

    kind: TestbedKind
    isolation: Isolation
    sender: Namespace | None
    receiver: Namespace | None
    addresses: tuple[str, str]
    mtu_bytes: int
    offloads: dict[str, bool | None]

    def inside(self, side: Literal["sender", "receiver"]) -> AbstractContextManager[None]:
        """Return a block whose children start in that side's network namespace."""
        namespace = self.sender if side == "sender" else self.receiver
        return nullcontext() if namespace is None else namespace.entered()


@contextmanager
def open_testbed(kind: TestbedKind) -> Iterator[Testbed]:
    """Build a testbed, and take it down at the end of the block.

    Raises
    ------
    TestbedUnavailable
        With the reason and a remedy, if this host does not allow it.
    """
    if kind == "loopback":
        yield _loopback()
        return
    with two_namespaces() as (sender, receiver, isolation):
        make_veth_pair(sender, receiver, _VETH_ADDRESSES)
        ends = (Device("sender", sender), Device("receiver", receiver))
        if kind == "veth_no_offload":
            switch_offloads_off(ends)
        offloads = _path_offloads(kind, *ends)
        wait_until_running(ends)
        yield Testbed(
            kind, isolation, sender, receiver, _VETH_ADDRESSES, read_mtu(ends[0]), offloads
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
