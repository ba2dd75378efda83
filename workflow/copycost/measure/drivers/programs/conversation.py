"""Both programs while they run, and the conversation with them: handshake, window, end; no sleeps.

The sender reports its port, the receiver connects, both are ready, both get the same window, each
in its host's CLOCK_MONOTONIC; traffic goes on until both have measured it. Every wait watches both
processes and has a limit, so whatever dies or hangs is noticed, and named.
"""

import logging
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from copycost.errors import HostError
from copycost.hosts.host import Host, Program, Waiting
from copycost.hosts.side import SideName
from copycost.measure.drivers.protocol import Phase, Window

# exit codes of the programs (`--help` states them)
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 77
_SIGNALS = {signal.strsignal(number): number for number in signal.valid_signals()}
# before what the programs tell of them
_UNKNOWN_PEERS = ": unknown peers: "
# what perf itself says on stderr each time it is switched
_PERF_CHATTER = ("Events enabled", "Events disabled")
# from the `window` line to the first traffic: room for both programs to read it
_WINDOW_LEAD_NS = 2_000_000
# how much longer we wait than the programs, so that a program tells its own story first
_SLACK_S = 2.0
# what both sides answer where neither sends; the end is answered when it is asked for
_ANSWERS = {"begin": "begun", "half": "halved"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunningSide:
    """A sender or receiver of ours that was started; perf may be between us and it."""

    name: SideName
    program: Program

    @property
    def under_perf(self) -> bool:
        """Whether perf is between us and the program."""
        launch = self.program.launch
        return launch.words[0] != launch.program

    @property
    def exit_code(self) -> int:
        """Its exit code; to be asked after its end."""
        code = self.program.exit_code
        assert code is not None, "asked before its end"
        return code

    def errors(self) -> list[str]:
        """Return the lines on stderr, without what perf says each time it is switched."""
        lines = [line.strip() for line in self.program.errors().splitlines()]
        return [line for line in lines if line and line not in _PERF_CHATTER]

    def ended_by_signal(self) -> int | None:
        """Return the signal that killed the program (or perf above it), None if there was none.

        To be asked after its end; our own killing does not count. perf ends with 0 when its program
        was killed, and only says so: ``./sender: Killed``.
        """
        if self.program.killed:
            return None
        if self.exit_code < 0:
            return -self.exit_code
        if self.under_perf and not self.program.output():
            for line in self.errors():
                # the program's own lines begin otherwise, and "Broken pipe" may be an error too
                words = line.removeprefix(f"{self.program.launch.program}: ")
                if words != line and words in _SIGNALS:
                    return int(_SIGNALS[words])
        return None

    @property
    def last_words(self) -> str:
        """The program's last line on stderr, which begins with its name; '' if there is none.

        What it tells of unknown peers explains no end.
        """
        own = [line for line in self.errors() if line.startswith(f"{self.name}:")]
        own = [line for line in own if _UNKNOWN_PEERS not in line]
        return own[-1] if own else ""

    def unknown_peers(self) -> str:
        """Return who else came to the program's port, by address and count; '' if nobody did."""
        told = (
            line.partition(_UNKNOWN_PEERS)[2] for line in self.errors() if _UNKNOWN_PEERS in line
        )
        return "; ".join(told)


def end_sides(sides: Sequence[RunningSide], grace_s: float) -> None:
    """Make several sides end, at the same time."""
    for side in sides:
        side.program.hang_up()
    for side in sides:
        side.program.end(grace_s)


class SideEnded(HostError):
    """A side, `name`, ended before its time."""

    def __init__(self, name: SideName, during: Phase) -> None:
        super().__init__(f"the {name} ended during the {during}")
        self.name = name
        self.during = during


class Slice(NamedTuple):
    """A turn of sending: from its start until all has arrived (CLOCK_MONOTONIC) [ns].

    With what was sent in it [bytes], and the CPU time that each side used for it [ns].
    """

    start_ns: int
    end_ns: int
    sent_bytes: int
    sender_cpu_ns: int
    receiver_cpu_ns: int


class SideSilent(HostError):
    """A side did not do in time what the protocol asks."""


class Conversation:
    """What the orchestrator says to both sides and hears from them, phase by phase.

    `sides` are those that were started, in order. The programs' own limit on each wait is
    `io_timeout_s`, ours is a little longer; the clock of `machine` is ours.
    """

    def __init__(self, io_timeout_s: float, waiting: Waiting, machine: Host) -> None:
        self.sides: list[RunningSide] = []
        self._limit_s = io_timeout_s + _SLACK_S
        self._waiting = waiting
        self._machine = machine
        # since the start: bytes sent, the sender's CPU time, the receiver's
        self._so_far = (0, 0, 0)
        self._enter("handshake")

    def read_port(self) -> int:
        """Wait for the sender's `listening PORT` and return the port."""
        return int(self._await("listening")["sender"].split()[1])

    def await_ready(self) -> None:
        """Wait until all sides have said `ready`: every connection is made and greeted."""
        self._await("ready")

    def open_window(
        self, warmup_s: float, duration_s: float, hosts: Mapping[SideName, Host]
    ) -> Window:
        """Tell both sides the window, each in its host's clock, and return it in ours.

        The sender last: once its threads send, they may keep us from the CPU for longer than the
        warm-up, and the receiver would hear of a window that has begun.
        """
        self._enter("warm-up")
        start_ns = self._machine.clock_ns() + _WINDOW_LEAD_NS + round(warmup_s * 1e9)
        window = Window(start_ns, start_ns + round(duration_s * 1e9))
        for side in sorted(self.sides, key=lambda side: side.name == "sender"):
            offset_ns = hosts[side.name].clock_offset_ns
            edges = window.start_ns + offset_ns, window.end_ns + offset_ns
            side.program.say(f"window {edges[0]} {edges[1]}")
        return window

    def await_turns(self) -> None:
        """Have both sides know that they send in turns with others."""
        self._enter("warm-up")
        if len(self.sides) > 1:
            self._ask("receiver", "receive 0", "received")

    def take_turn(self, length_s: float) -> Slice:
        """Have the sender send for so long, and wait until all has arrived."""
        length = f"send {round(length_s * 1e9)}"
        start_ns, end_ns, n_bytes = self._ask("sender", length, "sent", length_s)
        receiver_ns = 0
        if len(self.sides) > 1:
            sent = f"receive {n_bytes}"
            n_looks, at_ns, _, receiver_ns = self._ask("receiver", sent, "received")
            # where all had come when it was asked, that had been in the meantime
            end_ns = at_ns if n_looks else end_ns
        (sender_ns,) = self._ask("sender", "drain", "drained")
        before, self._so_far = self._so_far, (n_bytes, sender_ns, receiver_ns)
        used = (now - then for now, then in zip(self._so_far, before, strict=True))
        return Slice(start_ns, end_ns, *used)

    def pass_edge(self, word: str) -> None:
        """Have both sides, neither of which sends now, take an edge of what counts."""
        if word == "begin":
            self._enter("window")
        for side in self.sides:
            side.program.say(word)
        if word in _ANSWERS:
            self._await(_ANSWERS[word])
        else:
            self._enter("drain")

    def _ask(self, name: SideName, line: str, answer: str, takes_s: float = 0.0) -> list[int]:
        (side,) = (side for side in self.sides if side.name == name)
        side.program.say(line)
        said = self._await(answer, [side], takes_s)[name]
        return [int(number) for number in said.split()[1:]]

    def watch_until(self, until_ns: int, next_phase: Phase) -> None:
        """Wait for a moment (CLOCK_MONOTONIC) [ns] while both sides live, then go on.

        On a busy host we may look later than that; who ended by then may well have ended in time.
        """
        programs = [side.program for side in self.sides]
        ended = self._waiting.for_ends(programs, until_ns / 1e9)
        if self._machine.clock_ns() < until_ns:
            self._raise_if_ended({one.ended_fd for one in ended})
        self._enter(next_phase)

    def let_stop(self) -> None:
        """Let both sides stop once each has seen the end of its window; else they wait a little.

        One that ends instead is judged by its exit.
        """
        with suppress(SideEnded):
            self._await("measured")
        for side in self.sides:
            side.program.say("stop")

    def await_end(self) -> None:
        """Wait until both sides have ended by themselves, with whatever exit code."""
        deadline_s = time.monotonic() + self._limit_s
        running = {side.program.ended_fd: side for side in self.sides}
        while running:
            ended = self._waiting.for_ends([side.program for side in running.values()], deadline_s)
            if not ended:
                first = next(iter(running.values()))
                raise SideSilent(
                    f"the {first.name} did not end within {self._limit_s:g} s of the window"
                )
            for program in ended:
                del running[program.ended_fd]

    def _await(
        self, word: str, sides: Sequence[RunningSide] | None = None, takes_s: float = 0.0
    ) -> dict[SideName, str]:
        """Return the next line that begins so of each of some sides, by default of all."""
        deadline_s = time.monotonic() + self._limit_s + takes_s
        asked = self.sides if sides is None else sides
        lines: dict[SideName, str] = {}
        while True:
            for side in asked:
                # no further than that: a sender that waits for nobody says the next word at once
                while side.name not in lines and (line := side.program.read_line()) is not None:
                    if line.split()[:1] == [word]:
                        lines[side.name] = line
            silent = [side for side in asked if side.name not in lines]
            if not silent:
                return lines
            talking = [side.program for side in silent]
            others = [side.program for side in self.sides if side not in silent]
            ready = self._waiting.for_lines(talking, others, deadline_s)
            if not ready:
                raise SideSilent(
                    f"the {silent[0].name} did not say {word!r} within {self._limit_s:g} s"
                )
            self._raise_if_ended(ready)

    def _raise_if_ended(self, ready: set[int]) -> None:
        for side in self.sides:
            if side.program.ended_fd in ready:
                raise SideEnded(side.name, self.phase)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._waiting.during = phase
        _log.info("%s begins", phase)
