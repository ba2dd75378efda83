"""iperf3 as a driver: clients that send, servers that receive, watched in a window of our own."""

import math
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from copycost.config.strategy_capabilities import IPERF3
from copycost.errors import AttemptFailed, CopycostError, HostError, ParseError
from copycost.hosts.host import Program
from copycost.hosts.parsing import parser_of
from copycost.hosts.program import Launch
from copycost.hosts.side import Side, SideName
from copycost.measure.drivers.iperf3.tool import (
    Iperf3Tool,
    find_on_both,
    intervals_of,
    parse_json,
)
from copycost.measure.drivers.protocol import (
    AGAIN,
    MissedWindow,
    Payload,
    Phase,
    Setup,
    Window,
)
from copycost.records.record import Disturbance, disturbance

Role = Literal["server", "client"]

NAME = IPERF3
"""The driver's name in records."""

# of iperf3's own report; the least it takes
_INTERVAL_S = 0.1
# the first client sends while the others start, and takes the CPU that they need for it; 16 began
# within 1.6 s on a busy host
_FURTHER_PAIR_S = 0.2
_TIMEOUT_S = 10.0
_NEWER = "install a newer iperf3"
# in a namespace of our own every port is free; iperf3's usual one
_FIRST_PORT = 5201
_ERROR = re.compile(r'^\s*"error":\s*"?(.*?)"?,?\s*$', re.MULTILINE)
_LISTENING = "0A"  # TCP_LISTEN in include/net/tcp_states.h
_POLL_S = 0.001
# the control connection carries less than this; the first message comes after it
_CONTROL_BYTES = 4096


_SIDE_OF: Mapping[Role, SideName] = {"client": "sender", "server": "receiver"}


class ProcessEnded(HostError):
    """An iperf3 process ended before its time, or did not do its work in time."""


class Iperf3:
    """The iperf3 of the machine, as many processes of it as its version needs."""

    reference: str | None = None

    def plan(self, setup: Setup) -> dict[str, Any]:
        """Decide nothing: it sends one buffer again and again."""
        setup.testbed.require_reached("receiver")  # over TCP, whatever it measures
        return {}

    @contextmanager
    def traffic(self, setup: Setup) -> Iterator["Iperf3Traffic"]:
        """Start the servers, then the clients, each once the one before it sends."""
        traffic = Iperf3Traffic(setup, find_on_both(setup.testbed.hosts))
        try:
            traffic.start()
            yield traffic
        finally:
            traffic.end()


@dataclass(slots=True)
class _Process:
    """A running iperf3; `began_ns` is when a client's first message was seen [ns]."""

    role: Role
    program: Program
    began_ns: int = 0

    def last_words(self) -> str:
        """Return the last line on stderr, else the error in its JSON; '' if there is neither."""
        if said := self.program.errors().strip():
            return said.splitlines()[-1].strip()
        error = _ERROR.search(self.program.output())  # as far as it got
        return error[1] if error else ""


class Iperf3Traffic:
    """All iperf3 processes of one repetition; see `copycost.measure.drivers.protocol.Traffic`.

    The begin of a client is the zero of the times in its report, so it must not be noted late.
    """

    def __init__(self, setup: Setup, tools: Mapping[SideName, Iperf3Tool]) -> None:
        self._setup = setup
        self._tools = tools
        # the older one decides
        oldest = min(tools.values(), key=lambda tool: tool.version)
        self._n_pairs, self._per_pair = oldest.pairs(setup.cell.n_threads)
        start_s = setup.attach_s + _FURTHER_PAIR_S * (self._n_pairs - 1)
        settings = setup.settings
        # it takes whole seconds only
        self._seconds = math.ceil(start_s + settings.warmup_s + settings.duration_s)
        self._servers: list[_Process] = []
        self._clients: list[_Process] = []
        self._ports: list[int] = []
        self._enter("start")

    @property
    def sides(self) -> Sequence[Side]:
        """Clients and servers, for observers."""
        hosts = self._setup.testbed.hosts
        clients, servers = ([one.program for one in of] for of in (self._clients, self._servers))
        return [
            Side("sender", hosts["sender"], clients),
            Side("receiver", hosts["receiver"], servers, self._ports),
        ]

    def start(self) -> None:
        """Start all processes; the last client sends when this returns."""
        testbed = self._setup.testbed
        if testbed.own_namespaces and testbed.isolation != "host":
            self._ports = [_FIRST_PORT + index for index in range(self._n_pairs)]
        else:
            host, address = testbed.hosts["receiver"], testbed.addresses[1]
            self._ports = host.free_ports(address, self._n_pairs, testbed.ports)
        for index, port in enumerate(self._ports):
            self._servers.append(self._start("server", index, port))
        self._setup.meanwhile()
        files, wanted = testbed.hosts["receiver"].files, {f"{port:04X}" for port in self._ports}
        self._await(
            lambda: wanted <= listening_ports(files.text("proc/net/tcp") or ""),
            self._servers,
            "no iperf3 server listened",
        )
        for index, port in enumerate(self._ports):
            client = self._start("client", index, port)
            self._clients.append(client)
            self._await_traffic(client)

    def _start(self, role: Role, index: int, port: int) -> _Process:
        side = _SIDE_OF[role]
        placement = self._setup.placement
        cpus, first = placement.cpus(side), index * self._per_pair
        launch = Launch(
            tuple(self._words(role, port)),
            self._tools[side].path,
            cpus=placement.mask(side)
            or frozenset(cpus[(first + i) % len(cpus)] for i in range(self._per_pair)),
            dies_with_us=True,
        )
        return _Process(role, self._setup.testbed.hosts[side].start(launch))

    def _words(self, role: Role, port: int) -> list[str]:
        """Return the command line, see iperf3(1)."""
        testbed, cell = self._setup.testbed, self._setup.cell
        path, address = self._tools[_SIDE_OF[role]].path, testbed.addresses[1]
        common = ["-p", str(port), "-J", "-i", f"{_INTERVAL_S:g}"]
        if role == "server":
            return [path, "-s", "-1", "-B", address, *common]
        words = [path, "-c", address, "-t", str(self._seconds), *common]
        words += ["-l", str(cell.msg_bytes), "-P", str(self._per_pair)]
        if testbed.transport == "datagram":
            limit = testbed.payload_limit(cell.msg_bytes) or 0
            # of each stream; 0 is as fast as can be
            return [*words, "-u", "-b", str(round(8 * limit / cell.n_threads))]
        # it ends where it may not have the one it is told; every kernel has reno, and allows it
        wanted = self._setup.settings.congestion_control
        allows = testbed.hosts["sender"].allows_congestion_control
        return [*words, "-C", next((name for name in (wanted, "reno") if allows(name)), wanted)]

    def open_window(self, warmup_s: float, duration_s: float) -> Window:
        """Return the window: the traffic runs already."""
        self._enter("warm-up")
        start_ns = self._setup.machine.clock_ns() + round(warmup_s * 1e9)
        return Window(start_ns, start_ns + round(duration_s * 1e9), kept=False)

    def watch_until(self, until_ns: int, next_phase: Phase) -> None:
        """Wait for a moment (CLOCK_MONOTONIC) [ns] while all processes live."""
        self._require_living(self._everybody, until_ns / 1e9)
        self._enter(next_phase)

    def finish(self) -> Payload:
        """Wait for all ends, and return what was printed.

        ProcessEnded where one does not end, or a signal ended it.
        """
        running = self._everybody
        deadline_s = time.monotonic() + self._seconds + _TIMEOUT_S
        while running:
            ended = self._wait(running, deadline_s)
            if not ended:
                raise ProcessEnded(f"the iperf3 {running[0].role} did not end in time")
            for process in ended:
                running.remove(process)
                if (process.program.wait(_TIMEOUT_S) or 0) < 0:
                    raise self._ended(process)
        warnings: list[Disturbance] = []
        pairs = zip(self._clients, self._servers, strict=True)
        entry = {
            "name": NAME,
            "version": ", ".join(dict.fromkeys(tool.version_text for tool in self._tools.values())),
            "path": self._tools["sender"].path,
            "process_pairs": self._n_pairs,
            "streams_per_pair": self._per_pair,
            "pairs": [
                {
                    "began_ns": client.began_ns,
                    "client": _report_of(client, warnings),
                    "server": _report_of(server, warnings),
                }
                for client, server in pairs
            ],
        }
        return Payload(entry, warnings=warnings)

    def end(self) -> None:
        """End whatever still runs."""
        for process in self._everybody:
            process.program.end()
            process.program.close()

    def _enter(self, phase: Phase | Literal["start"]) -> None:
        self._phase = self._setup.waiting.during = phase

    @property
    def _everybody(self) -> list[_Process]:
        return [*self._clients, *self._servers]

    def _await_traffic(self, client: _Process) -> None:
        """Wait until a client has written a message, and note when it began to."""
        host = self._setup.testbed.hosts["sender"]
        enough = _CONTROL_BYTES + self._setup.cell.msg_bytes

        def has_begun() -> bool:
            usage = host.usage([client.program.pid])
            if usage and usage.written_bytes is not None and usage.written_bytes < enough:
                return False
            client.began_ns = self._setup.machine.clock_ns()
            return True

        self._await(has_begun, self._everybody, "an iperf3 client did not send")

    def _await(self, done: Callable[[], bool], living: Sequence[_Process], failure: str) -> None:
        """Look again and again until something is done, while some processes live."""
        deadline_s = time.monotonic() + _TIMEOUT_S
        while not done():
            self._require_living(living, time.monotonic() + _POLL_S)
            if time.monotonic() > deadline_s:
                raise ProcessEnded(f"{failure} within {_TIMEOUT_S:g} s")

    def _require_living(self, processes: Sequence[_Process], until_s: float) -> None:
        if ended := self._wait(processes, until_s):
            raise self._ended(ended[0])

    def _wait(self, processes: Sequence[_Process], until_s: float) -> list[_Process]:
        """Return which processes have ended, at the latest at a time."""
        ended = self._setup.waiting.for_ends([one.program for one in processes], until_s)
        return [one for one in processes if one.program in ended]

    def _ended(self, process: _Process) -> CopycostError:
        """Return what is known of a process that ended too early."""
        code = process.program.wait(_TIMEOUT_S)
        # the client's end is often only the echo of its server's
        for other in self._servers:
            if other is not process and (other.program.exit_code or 0) < 0:
                process, code = other, other.program.exit_code
        said = process.last_words()
        if code == 0 and not said:
            reason = (
                f"the iperf3 {process.role}'s test of {self._seconds} s was over during the"
                f" {self._phase}: the host is too busy for it"
                f" (streams: {self._setup.cell.n_threads})"
            )
            return MissedWindow(reason, AGAIN)
        known = code is None or code >= 0
        how = f"exit status {code}" if known else f"by {signal.Signals(-(code or 0)).name}"
        return ProcessEnded(
            f"the iperf3 {process.role} ended during the {self._phase} ({how}),"
            f" saying: {said or 'nothing'}"
        )


@parser_of("proc/net/tcp")
def listening_ports(text: str) -> set[str]:
    """Return the ports at which somebody listens, in its words."""
    found = [row.split() for row in text.splitlines()[1:]]
    return {row[1].rpartition(":")[2] for row in found if row[3] == _LISTENING}


def _report_of(process: _Process, warnings: list[Disturbance]) -> dict[str, Any]:
    """Return what a process printed, once it is judged to be a measurement."""
    what = f"the iperf3 {process.role}"
    try:
        content, odd = parse_json(process.program.output(), what)
        if (error := content.get("error")) is not None:
            raise AttemptFailed(f"{what} reported: {error}", AGAIN)
        intervals_of(content, what)
    except ParseError as error:
        raise AttemptFailed(str(error), f"{_NEWER}, or {AGAIN}") from error
    if odd:
        detail = f"{what} printed values that are no numbers (nan); they count as missing"
        warnings.append(disturbance("iperf3_nan", detail))
    return content
