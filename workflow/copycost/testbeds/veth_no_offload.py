"""The testbed `veth_no_offload`: a veth pair with TSO, GSO and GRO off."""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.testbeds.testbed import Testbed
from copycost.testbeds.veth_pair import page_segment_mtu_bytes, veth_pair, without_offloads


@contextmanager
def build(machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Build it, and take it down at the end of the block."""
    with veth_pair(machine, page_segment_mtu_bytes(machine) if page_segments else None) as pair:
        yield pair.as_testbed("veth_no_offload", without_offloads(*pair.devices))
