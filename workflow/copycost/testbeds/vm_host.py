"""The testbed `vm_host`: the sender in a guest, the receiver on its host behind a TAP device."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from copycost.hosts.local import LocalHost
from copycost.testbeds.in_guests import guest_to_host
from copycost.testbeds.testbed import Testbed


@contextmanager
def build(
    machine: LocalHost, *, page_segments: bool, guest: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Borrow the guests, and give them back at the end of the block."""
    with guest_to_host("vm_host", machine, guest, page_segments=page_segments) as testbed:
        yield testbed
