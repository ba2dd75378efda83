"""One repetition driven by iperf3: start it, let it settle, watch a window, keep its output."""

import math
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from typing import Protocol as Interface

from copycost.drivers.failure import AGAIN
from copycost.drivers.iperf3.output import error_of, intervals_of, parse_json
from copycost.drivers.iperf3.process import IperfProcess, Protocol, Traffic
from copycost.drivers.iperf3.processes import Iperf3Run
from copycost.drivers.iperf3.record import conclude, disturbances, side_of
from copycost.drivers.iperf3.tool import Iperf3Tool, ToolUnavailable, find_iperf3
from copycost.drivers.iperf3.window import watch_window
from copycost.errors import ParseError
from copycost.grid.capabilities import IPERF3
from copycost.hosts.placement import Placement
from copycost.testbeds.testbed import Testbed

# of iperf3's own report; the least it takes
_INTERVAL_S = 0.1
# from the first message to the begin of the warm-up: perf starts, a limiter takes hold
_START_S = 0.2
# the first client sends while the others start, and takes the CPU that they need for it; 16 began
# within 1.6 s on a busy host
_FURTHER_PAIR_S = 0.2
_TIMEOUT_S = 10.0
_FALLBACK = "reno"
NEWER = "install a newer iperf3"


class Attendant(Interface):
    """What a study does besides, in this order."""

    def before_warmup(self, run: Iperf3Run) -> None:
        """Act when all clients send; the warm-up begins once this returns."""

    def at_edge(self) -> None:
        """Act when the window has just begun, and again when it has just ended."""

    def after_window(self, run: Iperf3Run) -> None:
        """Act when the window is over, while the clients still send."""


@dataclass(frozen=True, slots=True)
class Iperf3Task:
    """What is to be driven, and how it is measured.

    Attributes
    ----------
    message_bytes
        Bytes per write, over UDP the size of a datagram.
    congestion_control
        Over TCP.
    warmup_s, duration_s
        Traffic before the window, and the window [s].
    start_s
        The time that the attendant may take before the warm-up [s].
    sender_cpus, receiver_cpus
        CPU numbers to pin to in turn; None lets copycost choose.
    """

    protocol: Protocol
    n_streams: int
    message_bytes: int
    congestion_control: str
    warmup_s: float
    duration_s: float
    start_s: float = _START_S
    sender_cpus: tuple[int, ...] | None = None
    receiver_cpus: tuple[int, ...] | None = None


def drive_iperf3(
    record: dict[str, Any],
    task: Iperf3Task,
    host: Mapping[str, Any],
    testbed: Testbed,
    placement: Placement,
    fds: tuple[int, Sequence[int]],
    attendant: Attendant,
) -> None:
    """Measure once with iperf3 and fill in the record, also where iperf3 fails.

    Parameters
    ----------
    fds : tuple
        The host-wide lock's descriptor, and those of the parents, see `copycost.hosts.parent`.
    """
    try:
        tool = find_iperf3()
        record["driver"] = driver_facts(tool, task)
        _drive(record, tool, task, host, testbed, placement, fds, attendant)
    except ToolUnavailable as error:
        conclude(record, "skipped", error.reason, error.remedy)


def driver_facts(tool: Iperf3Tool, task: Iperf3Task) -> dict[str, Any]:
    """Return the record's entry about iperf3; its output comes later."""
    n_pairs, per_pair = tool.pairs(task.n_streams)
    return {
        "name": IPERF3,
        "version": tool.version_text,
        "path": tool.path,
        "process_pairs": n_pairs,
        "streams_per_pair": per_pair,
        "pairs": [],
    }


def _drive(
    record: dict[str, Any],
    tool: Iperf3Tool,
    task: Iperf3Task,
    host: Mapping[str, Any],
    testbed: Testbed,
    placement: Placement,
    fds: tuple[int, Sequence[int]],
    attendant: Attendant,
) -> None:
    n_pairs, per_pair = tool.pairs(task.n_streams)
    start_s = task.start_s + _FURTHER_PAIR_S * (n_pairs - 1)
    seconds = math.ceil(start_s + task.warmup_s + task.duration_s)
    traffic = Traffic(
        tool.path,
        task.protocol,
        n_pairs,
        per_pair,
        task.message_bytes,
        seconds,
        _INTERVAL_S,
        usable_congestion_control(testbed, task.congestion_control),
    )
    run = Iperf3Run(traffic, testbed, placement, fds[0], fds[1], _TIMEOUT_S)
    with run:
        attendant.before_warmup(run)
        times_s = (task.warmup_s, task.duration_s)
        seen = watch_window(run, host, testbed, placement, times_s, attendant.at_edge)
        attendant.after_window(run)
        run.await_end()
        pairs = list(zip(run.clients, run.servers, strict=True))
        record["window"] = {"start_ns": seen.start_ns, "end_ns": seen.end_ns}
        record["sender"], record["receiver"] = side_of(seen.sender), side_of(seen.receiver)
        record["warnings"] += disturbances(seen, host)
        _keep_output(record, pairs)


def usable_congestion_control(testbed: Testbed, wanted: str) -> str:
    """Return a congestion control that the sender's sockets may have: the one wanted, or reno.

    Not every user may have every one (net.ipv4.tcp_allowed_congestion_control), and iperf3 ends
    where it may not; every kernel has reno, and allows it.
    """
    for name in (wanted, _FALLBACK):
        with (
            testbed.inside("sender"),
            socket.socket() as probe,
            suppress(OSError),
        ):
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            return name
    return wanted


def _keep_output(
    record: dict[str, Any], pairs: Sequence[tuple[IperfProcess, IperfProcess]]
) -> None:
    """Put what iperf3 printed into the record, and judge whether it is a measurement."""
    conclude(record, "measured", None, None)
    for client, server in pairs:
        entry: dict[str, Any] = {"began_ns": client.began_ns}
        record["driver"]["pairs"].append(entry)
        for process in (client, server):
            _keep_one(record, entry, process)


def _keep_one(record: dict[str, Any], entry: dict[str, Any], process: IperfProcess) -> None:
    what = f"the iperf3 {process.role}"
    entry[process.role] = None
    try:
        content, odd = parse_json(process.output(), what)
        entry[process.role] = content
        error = error_of(content)
        if error is not None:
            conclude(record, "failed", f"{what} reported: {error}", AGAIN)
            return
        intervals_of(content, what)
    except ParseError as error:
        conclude(record, "failed", str(error), f"{NEWER}, or {AGAIN}")
        return
    if odd:
        detail = f"{what} printed values that are no numbers (nan); they count as missing"
        record["warnings"].append({"code": "iperf3_nan", "detail": detail})
