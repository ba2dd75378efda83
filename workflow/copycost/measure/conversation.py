"""The conversation with both sides: handshake, one common window, and the end; no sleeps.

The sender reports its port, the receiver connects, both are ready, both get the same window in
CLOCK_MONOTONIC. Every wait watches both processes and has a limit, so whatever dies or hangs is
noticed, and named.
"""

import select
import time
from collections.abc import Iterable
from dataclasses import dataclass

from copycost.errors import HostError
from copycost.measure.side import Side, SideName

# from the `window` line to the first traffic: room for both programs to read it
WINDOW_LEAD_NS = 2_000_000
# what the end may take beyond the programs' own limit on each wait
_SLACK_S = 2.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait.

    Attributes
    ----------
    io_timeout_s : float
        The programs' own limit on each wait.
    """

    io_timeout_s: float

    @property
    def step_s(self) -> float:
        """How long the orchestrator waits: longer, so that the program tells its own story."""
        return self.io_timeout_s + _SLACK_S


class SideEnded(HostError):
    """A side ended before its time.

    Attributes
    ----------
    name : str
        Which side.
    during : str
        In which phase: handshake, warm-up, window or drain.
    """

    def __init__(self, name: SideName, during: str) -> None:
        super().__init__(f"the {name} ended during the {during}")
        self.name = name
        self.during = during


class SideSilent(HostError):
    """A side did not do in time what the protocol asks.

    Attributes
    ----------
    name : str
        Which side.
    """

    def __init__(self, name: SideName, expected: str, waited_s: float) -> None:
        super().__init__(f"the {name} did not {expected} within {waited_s:g} s")
        self.name = name


def read_port(sender: Side, limits: Limits) -> int:
    """Wait for the sender's `listening PORT` and return the port."""
    (line,) = _await_lines([sender], "listening", limits)
    return int(line.split()[1])


def await_ready(sides: Iterable[Side], limits: Limits) -> None:
    """Wait until all sides have said `ready`: every connection is made and greeted."""
    _await_lines(list(sides), "ready", limits)


def _await_lines(sides: list[Side], word: str, limits: Limits) -> list[str]:
    deadline_s = time.monotonic() + limits.step_s
    lines: dict[SideName, str] = {}
    ended = {side.pidfd: side for side in sides}
    while True:
        for side in sides:
            while (line := side.read_line()) is not None:
                if line.split()[:1] == [word]:
                    lines[side.name] = line
        if len(lines) == len(sides):
            break
        silent = [side for side in sides if side.name not in lines]
        ready = _poll([*(side.control.fileno() for side in silent), *ended], deadline_s)
        if not ready:
            raise SideSilent(silent[0].name, f"say {word!r}", limits.step_s)
        _raise_if_ended(ready, ended, "handshake")
    return [lines[side.name] for side in sides]


def open_window(sides: Iterable[Side], warmup_s: float, duration_s: float) -> tuple[int, int]:
    """Tell both sides the window and return its start and end (CLOCK_MONOTONIC, ns)."""
    start_ns = time.monotonic_ns() + WINDOW_LEAD_NS + round(warmup_s * 1e9)
    end_ns = start_ns + round(duration_s * 1e9)
    for side in sides:
        side.say(f"window {start_ns} {end_ns}")
    return start_ns, end_ns


def watch_until(sides: list[Side], until_ns: int, during: str) -> None:
    """Wait for a moment (CLOCK_MONOTONIC, ns) while both sides live.

    Raises
    ------
    SideEnded
        If one of them does not.
    """
    ended = {side.pidfd: side for side in sides}
    ready = _poll(list(ended), until_ns / 1e9)
    _raise_if_ended(ready, ended, during)


def await_end(sides: list[Side], limits: Limits) -> None:
    """Wait until both sides have ended by themselves, with whatever exit code."""
    deadline_s = time.monotonic() + limits.step_s
    running = {side.pidfd: side for side in sides}
    while running:
        ready = _poll(list(running), deadline_s)
        if not ready:
            raise SideSilent(next(iter(running.values())).name, "end", limits.step_s)
        for fd in ready:
            running.pop(fd)


def _poll(fds: list[int], deadline_s: float) -> set[int]:
    """Return which descriptors are readable or closed, at the latest at `deadline_s`."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    # the wait is in whole ms, rounded up
    left_ms = max(0.0, deadline_s - time.monotonic()) * 1e3
    return {fd for fd, _ in poll.poll(left_ms)}


def _raise_if_ended(ready: set[int], ended: dict[int, Side], during: str) -> None:
    gone = [side for fd, side in ended.items() if fd in ready]
    if gone:
        raise SideEnded(gone[0].name, during)
