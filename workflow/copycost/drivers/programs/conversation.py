"""The conversation with both sides: handshake, one common window, and the end; no sleeps.

The sender reports its port, the receiver connects, both are ready, both get the same window in
CLOCK_MONOTONIC. Every wait watches both processes and has a limit, so whatever dies or hangs is
noticed, and named.
"""

import logging
import select
import time
from collections.abc import Iterable, Sequence
from typing import Literal

from copycost.drivers.programs.side import Side, SideName
from copycost.errors import HostError
from copycost.hosts.parent import MeasurementStopped

Phase = Literal["handshake", "warm-up", "window", "drain"]

# from the `window` line to the first traffic: room for both programs to read it
_WINDOW_LEAD_NS = 2_000_000
# how much longer we wait than the programs, so that a program tells its own story first
_SLACK_S = 2.0

_log = logging.getLogger(__name__)


class SideEnded(HostError):
    """A side ended before its time.

    Attributes
    ----------
    name : str
        Which side.
    during : str
        In which phase.
    """

    def __init__(self, name: SideName, during: Phase) -> None:
        super().__init__(f"the {name} ended during the {during}")
        self.name = name
        self.during = during


class SideSilent(HostError):
    """A side did not do in time what the protocol asks."""


class Conversation:
    """What the orchestrator says to both sides and hears from them, phase by phase.

    Parameters
    ----------
    io_timeout_s : float
        The programs' own limit on each wait [s]; ours is a little longer.
    parent_fds : sequence of int
        Descriptors that become readable when nobody waits for this measurement any more.

    Attributes
    ----------
    sides : list of Side
        Those that were started, in order.
    phase : str
        The current phase.
    """

    def __init__(self, io_timeout_s: float, parent_fds: Sequence[int]) -> None:
        self.sides: list[Side] = []
        self.phase: Phase = "handshake"
        self._limit_s = io_timeout_s + _SLACK_S
        self._parent_fds = parent_fds

    def read_port(self) -> int:
        """Wait for the sender's `listening PORT` and return the port."""
        return int(self._await("listening")["sender"].split()[1])

    def await_ready(self) -> None:
        """Wait until all sides have said `ready`: every connection is made and greeted."""
        self._await("ready")

    def open_window(self, warmup_s: float, duration_s: float) -> tuple[int, int]:
        """Tell both sides the window and return its start and end (CLOCK_MONOTONIC) [ns].

        The sender last: once its threads send, they may keep us from the CPU for longer than the
        warm-up, and the receiver would hear of a window that has begun.
        """
        self._enter("warm-up")
        start_ns = time.monotonic_ns() + _WINDOW_LEAD_NS + round(warmup_s * 1e9)
        end_ns = start_ns + round(duration_s * 1e9)
        for side in sorted(self.sides, key=lambda side: side.name == "sender"):
            side.say(f"window {start_ns} {end_ns}")
        return start_ns, end_ns

    def watch_until(self, until_ns: int, next_phase: Phase) -> None:
        """Wait for a moment (CLOCK_MONOTONIC) [ns] while both sides live, then go on.

        On a busy host we may look later than that; who ended by then may well have ended in time.

        Raises
        ------
        SideEnded
            If one of them does not.
        """
        ended = self._poll((), until_ns / 1e9)
        if time.monotonic_ns() < until_ns:
            self._raise_if_ended(ended)
        self._enter(next_phase)

    def await_end(self) -> None:
        """Wait until both sides have ended by themselves, with whatever exit code."""
        deadline_s = time.monotonic() + self._limit_s
        running = list(self.sides)
        while running:
            ended = self._poll((), deadline_s, running)
            if not ended:
                raise SideSilent(
                    f"the {running[0].name} did not end within {self._limit_s:g} s of the window"
                )
            running = [side for side in running if side.pidfd not in ended]

    def _await(self, word: str) -> dict[SideName, str]:
        """Return each side's next line that begins with `word`."""
        deadline_s = time.monotonic() + self._limit_s
        lines: dict[SideName, str] = {}
        while True:
            for side in self.sides:
                # no further than that: a sender that waits for nobody says the next word at once
                while side.name not in lines and (line := side.read_line()) is not None:
                    if line.split()[:1] == [word]:
                        lines[side.name] = line
            silent = [side for side in self.sides if side.name not in lines]
            if not silent:
                return lines
            ready = self._poll([side.control.fileno() for side in silent], deadline_s)
            if not ready:
                raise SideSilent(
                    f"the {silent[0].name} did not say {word!r} within {self._limit_s:g} s"
                )
            self._raise_if_ended(ready)

    def _poll(
        self, fds: Iterable[int], deadline_s: float, sides: Sequence[Side] | None = None
    ) -> set[int]:
        """Return which descriptors, or pidfds of `sides`, are readable, at the latest at a time.

        Raises
        ------
        MeasurementStopped
            If the workflow is gone.
        """
        poll = select.poll()
        for side in self.sides if sides is None else sides:
            poll.register(side.pidfd, select.POLLIN)
        for fd in (*fds, *self._parent_fds):
            poll.register(fd, select.POLLIN)
        left_ms = max(0.0, deadline_s - time.monotonic()) * 1e3  # rounded up to whole ms
        ready = {fd for fd, _ in poll.poll(left_ms)}
        if ready.intersection(self._parent_fds):
            raise MeasurementStopped(
                f"the workflow ended during the {self.phase}; run it again to measure what is left"
            )
        return ready

    def _raise_if_ended(self, ready: set[int]) -> None:
        for side in self.sides:
            if side.pidfd in ready:
                raise SideEnded(side.name, self.phase)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        _log.info("%s begins", phase)
