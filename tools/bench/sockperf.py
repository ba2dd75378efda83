"""sockperf's ping-pong on our testbed: the yardstick of round trips.

Source: ``sockperf ping-pong --help``, version 3.7. Its client sends a message over TCP, with
TCP_NODELAY, and waits for the reply of the same size before it sends the next.
"""

import re

from copycost.errors import ParseError
from copycost.hosts.placement import Placement
from copycost.hosts.side import SideName
from copycost.testbeds.testbed import Testbed
from tools.bench.iperf import Stream
from tools.bench.yardstick import client_output

_PORT = 11111  # in a network namespace of our own, so nobody else has it
_MEDIAN = re.compile(r"percentile 50\.0+ =\s*([0-9.]+)")


def sockperf_median_ns(testbed: Testbed, stream: Stream) -> float:
    """Run a ping-pong over one connection and return the median round trip [ns].

    Raises
    ------
    HostError
        If sockperf is missing or fails.
    ParseError
        If its output is not what sockperf writes.
    """
    address = testbed.addresses[1]
    output = client_output(
        testbed,
        [*_on(stream.placement, "receiver"), "sockperf", "server", *_at(address)],
        client_command(address, stream),
        program="sockperf",
        ready="to block on socket",
        duration_s=stream.warmup_s + stream.duration_s,
    )
    return median_ns(output)


def client_command(address: str, stream: Stream) -> list[str]:
    """Return the command of the side that asks."""
    return [
        *[*_on(stream.placement, "sender"), "sockperf", "ping-pong", *_at(address)],
        *["-m", str(stream.msg_bytes), "-t", str(stream.duration_s), "--full-rtt"],
    ]


def median_ns(output: str) -> float:
    """Return the median round trip [ns] from what ``sockperf ping-pong --full-rtt`` printed.

    Raises
    ------
    ParseError
        If the output has none.
    """
    found = _MEDIAN.search(output)
    if found is None:
        raise ParseError(
            f"sockperf: found {output[-80:]!r}, expected a line with 'percentile 50.000 ='"
        )
    return float(found.group(1)) * 1e3  # it prints microseconds


def _at(address: str) -> list[str]:
    return ["--tcp", "-i", address, "-p", str(_PORT)]


def _on(placement: Placement, side: SideName) -> list[str]:
    """Return what starts a program on the first CPU of its side, nothing where it is not pinned."""
    return ["taskset", "-c", str(placement.cpus(side)[0])] if placement.pinned else []
