"""The testbed `wire_sink`: datagrams to another machine, dropped there before local delivery.

A sender's zero-copy over its real device. There is no receiver: it measures the sender alone.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from copycost.hosts.local import LocalHost
from copycost.testbeds.far_hook import far_hook
from copycost.testbeds.over_wire import over_wire
from copycost.testbeds.testbed import Testbed


@contextmanager
def build(
    machine: LocalHost, *, page_segments: bool, peer: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Reach the other machine and hook its device, and take that away at the end of the block."""
    with over_wire("wire_sink", machine, peer, away="receiver") as testbed:
        host, device = testbed.hosts["receiver"], testbed.devices["receiver"]
        with far_hook(host, device, testbed.addresses) as hook:
            yield replace(testbed, drop_hook=hook)
