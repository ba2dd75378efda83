"""sockperf's ping-pong on our testbed: the yardstick of round trips.

Source: ``sockperf ping-pong --help``, version 3.7. Its client sends a message over TCP, with
TCP_NODELAY, and waits for the reply of the same size before it sends the next.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence

from copycost.bench.iperf import Stream
from copycost.errors import HostError, ParseError
from copycost.testbed.testbed import Testbed

_PORT = 11111  # in a network namespace of our own, so nobody else has it
_SLACK_S = 15.0
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
    if shutil.which("sockperf") is None:
        raise HostError("sockperf was not found; install the package sockperf")
    address = testbed.addresses[1]
    server_command = [*_on(stream.receiver_cpus), "sockperf", "server", *_at(address)]
    with testbed.inside("receiver"):
        server = subprocess.Popen(
            server_command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    try:
        _wait_until_serving(server)
        with testbed.inside("sender"):
            client = subprocess.run(
                client_command(address, stream),
                capture_output=True,
                text=True,
                check=False,
                timeout=stream.warmup_s + stream.duration_s + _SLACK_S,
            )
        return median_ns(client.stdout)
    finally:
        server.kill()
        server.communicate()


def client_command(address: str, stream: Stream) -> list[str]:
    """Return the command of the side that asks."""
    return [
        *[*_on(stream.sender_cpus), "sockperf", "ping-pong", *_at(address)],
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


def _on(cpus: Sequence[int]) -> list[str]:
    """Return what starts a program on the first of these CPUs, nothing where there is none."""
    return ["taskset", "-c", str(cpus[0])] if cpus else []


def _wait_until_serving(server: subprocess.Popen[str]) -> None:
    """Read the server's lines until it is ready; its end is the end of the lines."""
    said = []
    for line in server.stdout or ():
        said.append(line.strip())
        if "to block on socket" in line:
            return
    raise HostError(f"sockperf server did not start: {' '.join(said) or 'it said nothing'}")
