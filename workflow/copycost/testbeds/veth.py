"""The testbed `veth`: two network namespaces, offloads as the kernel sets them."""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.testbeds.testbed import Testbed
from copycost.testbeds.veth_pair import page_segment_mtu_bytes, path_offloads, veth_pair


@contextmanager
def build(machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Build it, and take it down at the end of the block."""
    with veth_pair(machine, page_segment_mtu_bytes(machine) if page_segments else None) as pair:
        yield pair.as_testbed("veth", path_offloads(*pair.devices))
