"""The testbeds `loopback` and `loopback_udp`: the host's own loopback device, as it is.

What else uses UDP on this host disturbs the account of where datagrams were lost.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.testbeds.links import End
from copycost.testbeds.testbed import Testbed


@contextmanager
def build(kind: str, machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Return it: there is nothing to build, nor to take down."""
    end = End(machine, "127.0.0.1", "lo")
    yield Testbed.between(kind, "host", end, end)
