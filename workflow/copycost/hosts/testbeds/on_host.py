"""The testbeds on one host: its loopback device, as it is, or a veth pair that is made.

On loopback, what else uses UDP on this host disturbs the account of where datagrams were lost. In
`sink`, a veth pair, what arrives is counted and dropped before local delivery, so that zero-copy
sends are not copied after all. There is no receiver: it measures the sender alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from copycost.config.testbeds import receives_on, transport_of
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import NamespaceHost, two_namespaces
from copycost.hosts.side import SIDES
from copycost.hosts.testbeds.drop_hook import install_drop_hook
from copycost.hosts.testbeds.links import (
    End,
    make_veth_pair,
    stream_mtu_bytes,
    switch_offloads_off,
    wait_until_running,
)
from copycost.hosts.testbeds.testbed import Testbed

# 198.18.0.0/15 is set aside for benchmarks (RFC 2544, appendix C.2.2)
ADDRESSES = ("198.18.0.1", "198.18.0.2")
# ETH_MAX_MTU of linux/if_ether.h: a datagram of 65507 bytes and its headers
LARGEST_MTU_BYTES = 65535


@contextmanager
def build(kind: str, machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Build one of them, and take it down at the end of the block."""
    if kind.startswith("loopback"):
        end = End(machine, "127.0.0.1", "lo")
        yield Testbed.between(kind, "host", end, end)
        return
    mtu_bytes = stream_mtu_bytes(machine, page_segments=page_segments)
    if transport_of(kind) == "datagram":  # whose packets may be as large as one
        mtu_bytes = LARGEST_MTU_BYTES
    with veth_pair(kind, machine, mtu_bytes) as testbed:
        hook = None
        if not receives_on(kind):
            hook = install_drop_hook(testbed.hosts["receiver"], "receiver", ADDRESSES[1])
        yield replace(testbed, drop_hook=hook)


@contextmanager
def veth_pair(kind: str, machine: LocalHost, mtu_bytes: int) -> Iterator[Testbed]:
    """Join two namespaces by a veth pair, whose devices are named as the sides."""
    with two_namespaces() as (first, second, isolation):
        sender = NamespaceHost(machine, first, "the sender's namespace")
        receiver = NamespaceHost(machine, second, "the receiver's namespace")
        make_veth_pair(sender, receiver, ADDRESSES, mtu_bytes)
        for side, host in zip(SIDES, (sender, receiver), strict=True):
            if kind == "veth_no_offload":
                switch_offloads_off(host, side)
            wait_until_running(host, side)
        yield Testbed.between(
            kind,
            isolation,
            End(sender, ADDRESSES[0], "sender"),
            End(receiver, ADDRESSES[1], "receiver"),
        )
