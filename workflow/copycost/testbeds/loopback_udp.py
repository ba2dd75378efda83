"""The testbed `loopback_udp`: datagrams over the host's own loopback device.

What else uses UDP on this host disturbs the account of where datagrams were lost.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.testbeds.loopback import on_loopback
from copycost.testbeds.testbed import Testbed


@contextmanager
def build(machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Return it: there is nothing to build, nor to take down."""
    yield on_loopback("loopback_udp", machine)
