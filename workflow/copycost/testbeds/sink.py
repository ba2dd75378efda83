"""The testbed `sink`: what arrives is counted and dropped before local delivery.

So zero-copy sends are not copied after all. There is no receiver: it measures the sender alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.testbeds.drop_hook import install_drop_hook
from copycost.testbeds.testbed import Testbed
from copycost.testbeds.veth_pair import ADDRESSES, LARGEST_MTU_BYTES, path_offloads, veth_pair


@contextmanager
def build(machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Build it, and take it down at the end of the block."""
    with veth_pair(machine, LARGEST_MTU_BYTES, static_neighbours=True) as pair:
        far_end = pair.devices[1]
        hook = install_drop_hook(far_end.host, far_end.name, ADDRESSES[1])
        yield pair.as_testbed("sink", path_offloads(*pair.devices), hook)
