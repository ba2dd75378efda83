"""iperf3 on our testbed: the yardstick of the streaming benchmark.

Source: iperf3(1), versions 3.9 to 3.17; from 3.16 on it has one thread per stream.
"""

import json
from dataclasses import dataclass

from copycost.errors import HostError, ParseError
from copycost.hosts.placement import Placement
from copycost.hosts.side import SideName
from copycost.testbeds.testbed import Testbed
from tools.bench.yardstick import client_output

_PORT = 5201  # in a network namespace of our own, so nobody else has it


@dataclass(frozen=True, slots=True)
class Stream:
    """What to send, for our programs and for iperf3 alike.

    Attributes
    ----------
    msg_bytes : int
        Size of a message: one call of `send`, `write` or the like.
    n_threads : int
        Connections at a time.
    warmup_s, duration_s : int
        Seconds left out at the start, and seconds measured (iperf3 takes whole ones).
    placement : Placement
        CPUs that our threads are pinned to in turn, or not at all; iperf3, which is pinned as a
        whole, takes the first.
    """

    msg_bytes: int
    n_threads: int
    warmup_s: int
    duration_s: int
    placement: Placement


def iperf_rate(testbed: Testbed, stream: Stream) -> float:
    """Run iperf3 once and return what it received [bit/s].

    Raises
    ------
    HostError
        If iperf3 is missing or fails.
    ParseError
        If its output is not what iperf3 writes.
    """
    address = testbed.addresses[1]
    server = ["iperf3", "-s", "-1", "-B", address, "-p", str(_PORT), "--forceflush"]
    output = client_output(
        testbed,
        [*server, *_affinity(stream.placement, "receiver")],
        [*client_command(address, stream), *_affinity(stream.placement, "sender")],
        program="iperf3",
        ready="listening",
        duration_s=stream.warmup_s + stream.duration_s,
    )
    return received_rate(output)


def client_command(address: str, stream: Stream) -> list[str]:
    """Return the command of the sending side, without its affinity."""
    return [
        *["iperf3", "-J", "-c", address, "-p", str(_PORT)],
        *["-l", str(stream.msg_bytes), "-P", str(stream.n_threads)],
        *["-O", str(stream.warmup_s), "-t", str(stream.duration_s), "-C", "cubic"],
    ]


def received_rate(output: str) -> float:
    """Return the received rate [bit/s] from what ``iperf3 -J`` printed.

    Raises
    ------
    HostError
        If iperf3 reports an error.
    ParseError
        If the output has no such rate.
    """
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


def _affinity(placement: Placement, side: SideName) -> list[str]:
    return ["-A", str(placement.cpus(side)[0])] if placement.pinned else []
