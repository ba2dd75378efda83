"""Other benchmarks on our testbed: iperf3 for streaming, and sockperf's ping-pong for round trips.

Source: iperf3(1), versions 3.9 to 3.17; from 3.16 on it has one thread per stream.
``sockperf ping-pong --help``, version 3.7. Its client sends a message over TCP, with TCP_NODELAY,
and waits for the reply of the same size before it sends the next.
"""

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from copycost.errors import HostError, ParseError
from copycost.hosts.host import Program
from copycost.hosts.placement import Placement
from copycost.hosts.program import Launch
from copycost.hosts.testbeds.testbed import Testbed

_SLACK_S = 15.0
_READY_TIMEOUT_S = 10.0
_POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class Stream:
    """What to send, for our programs and for others alike.

    Of the CPUs of a placement our threads are pinned to each in turn; iperf3 and sockperf, which
    are pinned as a whole, take the first. iperf3 takes whole seconds.
    """

    msg_bytes: int
    n_threads: int
    warmup_s: int
    duration_s: int
    placement: Placement


def client_output(
    testbed: Testbed,
    server: Sequence[str],
    client: Sequence[str],
    *,
    program: str,
    ready: str,
    stream: Stream,
) -> str:
    """Run a server at the receiver's end, and once it is ready a client at the sender's.

    Both are of a program, in a package of that name; `ready` is part of the line by which the
    server says that it is ready. Raises HostError where it is missing or does not do its work.
    """
    here, timeout_s = testbed.hosts["receiver"], stream.warmup_s + stream.duration_s + _SLACK_S
    if here.find_tool(program) is None:
        raise HostError(f"{program} was not found; install the package {program}")
    process = here.start(Launch(tuple(server), program, dies_with_us=True))
    try:
        _wait_until_ready(process, program, ready)
        return testbed.hosts["sender"].run(client, timeout_s=timeout_s).stdout
    finally:
        process.end()
        process.close()


def _wait_until_ready(server: Program, program: str, ready: str) -> None:
    """Wait for a line of the server's; one that ends has said why."""
    deadline_s = time.monotonic() + _READY_TIMEOUT_S
    while ready not in (said := server.output() + server.errors()):
        if server.exit_code is not None or time.monotonic() > deadline_s:
            lines = " ".join(said.split()) or "it said nothing"
            raise HostError(f"{program}: the server did not start: {lines}")
        time.sleep(_POLL_S)


_IPERF_PORT = 5201  # in a network namespace of our own, so nobody else has it


def iperf_rate(testbed: Testbed, stream: Stream) -> float:
    """Run iperf3 once and return what it received [bit/s]."""
    address, port = testbed.addresses[1], str(_IPERF_PORT)
    server = ["iperf3", "-s", "-1", "-B", address, "-p", port, "--forceflush"]
    client = ["iperf3", "-J", "-c", address, "-p", port, "-C", "cubic"]
    client += ["-l", str(stream.msg_bytes), "-P", str(stream.n_threads)]
    client += ["-O", str(stream.warmup_s), "-t", str(stream.duration_s)]
    if (placement := stream.placement).pinned:
        server += ["-A", str(placement.cpus("receiver")[0])]
        client += ["-A", str(placement.cpus("sender")[0])]
    output = client_output(
        testbed, server, client, program="iperf3", ready="listening", stream=stream
    )
    return received_rate(output)


def received_rate(output: str) -> float:
    """Return the received rate [bit/s] from what ``iperf3 -J`` printed, which may be an error."""
    try:
        result = json.loads(output)
        if "error" in result:
            raise HostError(f"iperf3 failed: {result['error']}")
        return float(result["end"]["sum_received"]["bits_per_second"])
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError(
            f"iperf3 -J: found {output[:80]!r}, expected JSON with"
            f" end.sum_received.bits_per_second ({error!r})"
        ) from error


_SOCKPERF_PORT = 11111  # in a network namespace of our own, so nobody else has it
_MEDIAN = re.compile(r"percentile 50\.0+ =\s*([0-9.]+)")


def sockperf_median_ns(testbed: Testbed, stream: Stream) -> float:
    """Run a ping-pong over one connection and return the median round trip [ns]."""
    at = ["--tcp", "-i", testbed.addresses[1], "-p", str(_SOCKPERF_PORT)]
    server = ["sockperf", "server", *at]
    client = ["sockperf", "ping-pong", *at, "--full-rtt"]
    client += ["-m", str(stream.msg_bytes), "-t", str(stream.duration_s)]
    if (placement := stream.placement).pinned:
        server = ["taskset", "-c", str(placement.cpus("receiver")[0]), *server]
        client = ["taskset", "-c", str(placement.cpus("sender")[0]), *client]
    output = client_output(
        testbed, server, client, program="sockperf", ready="to block on socket", stream=stream
    )
    return median_ns(output)


def median_ns(output: str) -> float:
    """Return the median round trip [ns] from what ``sockperf ping-pong --full-rtt`` printed."""
    found = _MEDIAN.search(output)
    if found is None:
        raise ParseError(
            f"sockperf: found {output[-80:]!r}, expected a line with 'percentile 50.000 ='"
        )
    return float(found.group(1)) * 1e3  # it prints microseconds
