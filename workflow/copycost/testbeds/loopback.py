"""The testbed `loopback`: the host's own loopback device.

It needs no right at all, and nothing of it is configured.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.local import LocalHost
from copycost.testbeds.links import Device, read_mtu
from copycost.testbeds.testbed import Testbed
from copycost.testbeds.veth_pair import path_offloads

_ADDRESS = "127.0.0.1"


@contextmanager
def build(machine: LocalHost, *, page_segments: bool) -> Iterator[Testbed]:
    """Return it: there is nothing to build, nor to take down."""
    yield on_loopback("loopback", machine)


def on_loopback(kind: str, machine: LocalHost) -> Testbed:
    """Return a testbed on the loopback device."""
    device = Device("lo", machine)
    return Testbed(
        kind,
        "host",
        {"sender": machine, "receiver": machine},
        (_ADDRESS, _ADDRESS),
        read_mtu(device),
        path_offloads(device, device),
    )
