"""The testbed `vm_pair_udp`: datagrams between two guests through TAP devices and a bridge."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from copycost.hosts.local import LocalHost
from copycost.testbeds.in_guests import between_two
from copycost.testbeds.testbed import Testbed


@contextmanager
def build(
    machine: LocalHost, *, page_segments: bool, guest: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Borrow the guests, and give them back at the end of the block."""
    with between_two("vm_pair_udp", machine, guest, page_segments=page_segments) as testbed:
        yield testbed
