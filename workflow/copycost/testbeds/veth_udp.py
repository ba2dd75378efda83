"""The testbed `veth_udp`: a veth pair whose packets may be as large as a datagram."""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.testbeds.testbed import Testbed
from copycost.testbeds.veth_pair import LARGEST_MTU_BYTES, path_offloads, veth_pair


@contextmanager
def build(machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Build it, and take it down at the end of the block."""
    with veth_pair(machine, LARGEST_MTU_BYTES, static_neighbours=True) as pair:
        yield pair.as_testbed("veth_udp", path_offloads(*pair.devices))
