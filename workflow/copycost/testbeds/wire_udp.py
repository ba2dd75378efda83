"""The testbed `wire_udp`: datagrams from here to another machine."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from copycost.hosts.local import LocalHost
from copycost.testbeds.over_wire import over_wire
from copycost.testbeds.testbed import Testbed


@contextmanager
def build(
    machine: LocalHost, *, page_segments: bool, peer: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Reach the other machine, and leave it at the end of the block."""
    with over_wire("wire_udp", machine, peer, away="receiver") as testbed:
        yield testbed
