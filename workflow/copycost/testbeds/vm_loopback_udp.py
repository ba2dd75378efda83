"""The testbed `vm_loopback_udp`: datagrams within one guest, on its loopback device."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from copycost.hosts.local import LocalHost
from copycost.testbeds.in_guests import inside_one
from copycost.testbeds.testbed import Testbed


@contextmanager
def build(
    machine: LocalHost, *, page_segments: bool, guest: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Borrow the guests, and give them back at the end of the block."""
    with inside_one("vm_loopback_udp", machine, guest) as testbed:
        yield testbed
