"""Our C programs as a driver: a sender, and a receiver where somebody receives."""

import json
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from copycost.config.testbeds import is_wire
from copycost.errors import (
    AttemptFailed,
    CannotStart,
    CopycostError,
    HostError,
    MeasurementStopped,
    WithRemedy,
)
from copycost.hosts.placement import cache_sharers_on, fewest_at_once
from copycost.hosts.program import CONTROL, Launch
from copycost.hosts.side import Side, SideName
from copycost.hosts.testbeds.drop_hook import DropHook
from copycost.measure.drivers.programs.command import (
    SLOWEST_FILL_BYTES_PER_S,
    check_memory,
    check_ring,
    ring_bytes,
    side_options,
)
from copycost.measure.drivers.programs.conversation import (
    Conversation,
    RunningSide,
    SideEnded,
    Slice,
    end_sides,
)
from copycost.measure.drivers.programs.verdict import (
    judge,
    odd_numbers,
    own_disturbances,
    require_success,
    require_traffic,
    require_windows,
    unexplained,
)
from copycost.measure.drivers.protocol import (
    AGAIN,
    Payload,
    PerfUnusable,
    Phase,
    Setup,
    UnexplainedEnd,
    Window,
)

NAME = "programs"
"""The driver's name in records."""

DEFAULT_IO_TIMEOUT_S = 10.0
# how long a side may take to end by itself once its control line is closed
_GRACE_S = 1.0

_log = logging.getLogger(__name__)


class Programs:
    """A sender of ours, and a receiver of ours where somebody receives.

    `io_timeout_s` is the longest wait of a program for the other, or of us for a program, apart
    from the time that a sender takes to make a large ring of messages, and that others beside it
    take to settle; no less than observers may take to attach.
    """

    reference: str | None = None

    def __init__(
        self, sender: Path, receiver: Path | None, io_timeout_s: float = DEFAULT_IO_TIMEOUT_S
    ) -> None:
        self._sender = sender
        self._receiver = receiver
        self._io_timeout_s = io_timeout_s
        self._ring_bytes = 0

    def plan(self, setup: Setup) -> dict[str, Any]:
        """Choose the ring of messages, by the caches of the sender's machine."""
        cell = setup.cell
        if setup.testbed.transport == "stream":  # whether UDP passes was not tried
            setup.testbed.require_reached("sender")
        sharers = cache_sharers_on(setup.testbed.hosts["sender"].machine)
        at_once = fewest_at_once(setup.placement, cell.n_threads, sharers)
        facts = setup.facts["sender"]
        self._ring_bytes = ring_bytes(cell.working_set, facts, cell.n_threads, at_once)
        return {"ring_bytes": self._ring_bytes}

    @contextmanager
    def traffic(self, setup: Setup) -> Iterator["ProgramsTraffic"]:
        """Start both sides, if there is room for the messages, and lead them to stand ready."""
        with self.begun(setup) as traffic:
            traffic.connect()
            yield traffic

    @contextmanager
    def begun(self, setup: Setup, beside_s: float = 0.0) -> Iterator["ProgramsTraffic"]:
        """Start the sender, if there is room for its messages, which it makes now.

        Others beside it may keep it waiting for `beside_s`.
        """
        cell, host = setup.cell, setup.testbed.hosts["sender"]
        check_memory(host, self._ring_bytes, cell.msg_bytes, cell.n_threads, cell.strategy)
        fill_s = self._ring_bytes / SLOWEST_FILL_BYTES_PER_S
        timeout_s = max(self._io_timeout_s, setup.attach_s) + fill_s + beside_s
        traffic = ProgramsTraffic(setup, self._receiver, self._ring_bytes, timeout_s)
        try:
            with traffic.judged():
                traffic.start("sender", self._sender)
                setup.meanwhile()
                yield traffic
        finally:
            # also after Ctrl-C: then at once
            end_sides(traffic.running, 0)
            for side in traffic.running:
                side.program.close()


class ProgramsTraffic:
    """Both sides while they run; see `copycost.measure.drivers.protocol.Traffic`.

    What goes wrong is told in words about these programs, also where others run beside them.
    """

    def __init__(
        self, setup: Setup, receiver: Path | None, ring_bytes: int, io_timeout_s: float
    ) -> None:
        self._setup = setup
        self._receiver = receiver
        self._ring_bytes = ring_bytes
        self._io_timeout_s = io_timeout_s
        self._conversation = Conversation(io_timeout_s, setup.waiting, setup.machine)
        self._token = secrets.token_hex(8)  # by which both sides know each other
        self.running = self._conversation.sides

    @contextmanager
    def judged(self) -> Iterator[None]:
        """Tell what goes wrong in a block in words about the programs."""
        running = self.running
        try:
            yield
        except (PerfUnusable, WithRemedy, MeasurementStopped):
            raise
        except CopycostError as error:
            end_sides(running, _GRACE_S)
            self._log_errors()
            _raise_if_perf_failed(error, running)
            why = judge(error, running, over_wire=is_wire(self._setup.cell.testbed))
            reason, remedy = why.reason, why.remedy
            if told := "; ".join(said for side in running if (said := side.unknown_peers())):
                reason += f" (unknown peers: {told})"
                remedy = f"keep unknown peers away from its port by a firewall, then {remedy}"
            again = isinstance(error, SideEnded) and unexplained(running)
            raise (UnexplainedEnd if again else type(why))(reason, remedy) from error

    @property
    def sides(self) -> Sequence[Side]:
        """The sides that were started, for observers."""
        hosts = self._setup.testbed.hosts
        return [
            Side(side.name, hosts[side.name], [side.program], reads_to_the_end=True)
            for side in self.running
        ]

    def start(self, name: SideName, program: Path, *more: str) -> None:
        """Start a side."""
        setup = self._setup
        path = setup.testbed.hosts[name].path_of(program)
        options = side_options(setup, name, self._ring_bytes, self._io_timeout_s)
        words = (path, *options, *more, "--control-fd", CONTROL)
        launch = Launch(words, path, control=True, cpus=setup.placement.mask(name))
        try:
            started = setup.testbed.hosts[name].start(setup.around(name, launch))
        except CannotStart as error:
            if error.path != path:
                raise PerfUnusable(f"{error.path}: {error.why}") from error
            raise
        self.running.append(RunningSide(name, started))
        started.say(f"token {self._token}")

    def connect(self) -> None:
        """Start the receiver once the sender waits for it, and lead both to stand ready."""
        with self.judged():
            port = self._conversation.read_port()
            if self._receiver is not None:
                self.start("receiver", self._receiver, "--port", str(port))
            self._conversation.await_ready()

    def await_turns(self) -> None:
        """Let both sides be woken on time, and know that they send in turns with others."""
        self._prioritise()
        with self.judged():
            self._conversation.await_turns()

    def take_turn(self, length_s: float) -> Slice:
        """Have the sender send for so long, and wait until all has arrived."""
        with self.judged():
            return self._conversation.take_turn(length_s)

    def pass_edge(self, word: str) -> None:
        """Have both sides take an edge of what counts: begin, half or end."""
        with self.judged():
            self._conversation.pass_edge(word)

    def _prioritise(self) -> None:
        # not earlier: a task with a real-time priority may not be moved to a control group
        for side in self.running:
            host = self._setup.testbed.hosts[side.name]
            with suppress(HostError):  # who is gone is noticed elsewhere
                own = [side.program.child_pid()] if side.under_perf else []
                host.prioritise([side.program.pid, *own])

    def open_window(self, warmup_s: float, duration_s: float) -> Window:
        """Let both edges come on time, and tell both sides their window."""
        self._prioritise()
        return self._conversation.open_window(warmup_s, duration_s, self._setup.testbed.hosts)

    def watch_until(self, until_ns: int, next_phase: Phase) -> None:
        """Wait for a moment while both sides live."""
        self._conversation.watch_until(until_ns, next_phase)

    def finish(self) -> Payload:
        """Let both sides end, and judge what the programs say."""
        self.end()
        return self.payload()

    def end(self) -> None:
        """Let both sides end."""
        with self.judged():
            self._conversation.let_stop()
            self._conversation.await_end()
            end_sides(self.running, _GRACE_S)
            self._log_errors()

    def _log_errors(self) -> None:
        for side in self.running:
            for line in side.errors():
                _log.info("%s wrote: %s", side.name, line)

    def payload(self, *beside: "ProgramsTraffic") -> Payload:
        """Judge what the programs said; others beside them sent to the same sink."""
        require_success(self.running)
        reports = {side.name: _report_of(side) for side in self.running}
        setup = self._setup
        if not setup.takes_any_traffic:
            require_windows(reports)
            require_traffic(reports, setup.settings.interval_ns)
        sender, receiver = reports["sender"], reports.get("receiver")
        check_ring(setup.cell.working_set, sender["ring"]["bytes"], setup.cell.implementation)
        hook = setup.testbed.drop_hook
        all_sent = [sender["total"], *(_report_of(one.running[0])["total"] for one in beside)]
        sink = None if hook is None else settle_sink(hook, all_sent, setup.cell.msg_bytes)
        own = (receiver or sender)["window"]
        offset_ns = setup.testbed.hosts["receiver" if receiver else "sender"].clock_offset_ns
        return Payload(
            {"name": NAME, "sender": sender, "receiver": receiver, "sink": sink},
            Window(own["start_ns"] - offset_ns, own["end_ns"] - offset_ns),
            {name: int(report["process"]["cpu_ns"]) for name, report in reports.items()},
            own_disturbances(sender, receiver, sink, self.running[0].unknown_peers())
            + odd_numbers(setup.cell, reports),
        )


def settle_sink(
    hook: DropHook, totals: Sequence[Mapping[str, int]], msg_bytes: int
) -> dict[str, int]:
    """Return what became of all datagrams of a run, warm-up included; its senders have ended.

    Each sender counted `datagrams` and `bytes` from the first to the last. The hook counts packets,
    and one may hold many datagrams (UDP_SEGMENT), so these are counted by their bytes.
    """
    n_bytes = sum(total["bytes"] for total in totals)
    dropped = hook.read_settled(n_bytes)
    return {
        "sent_datagrams": sum(total["datagrams"] for total in totals),
        "dropped_datagrams": dropped.payload_bytes // msg_bytes,
        "lost_before_hook": max(0, n_bytes - dropped.payload_bytes) // msg_bytes,
        "dropped_packets": dropped.packets,
        "dropped_bytes": dropped.payload_bytes,
    }


def _report_of(side: RunningSide) -> Mapping[str, Any]:
    output = side.program.output()
    if not output:  # though it ended with 0, as perf does whose program was stopped for a while
        raise UnexplainedEnd(f"the {side.name} ended without a result", AGAIN)
    try:
        report = json.loads(output)
    except ValueError:
        report = None
    if not isinstance(report, dict):
        found = f"the {side.name} printed no JSON object but {output[:80]!r}"
        raise AttemptFailed(found, "build the programs again: delete results/bin")
    return report


def _raise_if_perf_failed(error: CopycostError, sides: Sequence[RunningSide]) -> None:
    """Tell perf's own failure from the program's, which always says a line with its name."""
    if not isinstance(error, SideEnded) or error.during != "handshake":
        return
    side = next(one for one in sides if one.name == error.name)
    if side.under_perf and not side.last_words and side.ended_by_signal() is None:
        said = " ".join(side.errors()) or "nothing"
        code = side.exit_code
        raise PerfUnusable(f"perf ended with exit status {code}, saying: {said}") from error
