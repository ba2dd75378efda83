"""The daemon of a run's guests: ``python -m copycost.hosts.guest.guest_pool LISTENING PARENT...``.

It owns the guests' network, their QEMUs and the lines to their agents, and lends them to one
repetition after the other. They end with it, also when it is killed: QEMU ends with the thread that
started it, and their network with the last process in its namespace.
"""

import logging
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import cached_property, partial
from typing import NamedTuple

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest import network
from copycost.hosts.guest.qemu import GuestSpec, RunningGuest
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation, enter_new_namespace
from copycost.hosts.remote.daemon import AgentLine, Daemon, Words, keep

_BOOT_TIMEOUT_S = 120.0
_ANSWER_TIMEOUT_S = 5.0

_log = logging.getLogger(__name__)


class GuestLine(AgentLine):
    """The line to a guest's agent, and the guest."""

    def __init__(self, line: socket.socket, running: RunningGuest) -> None:
        super().__init__(line)
        self.running = running

    def close(self) -> None:
        """End the guest."""
        self.running.close()
        super().close()


class _Network(NamedTuple):
    """The guests' network and the namespaces of it, or why there is none."""

    isolation: Isolation
    lacking: Unavailable | None
    namespaces: tuple[int, ...]


class GuestDaemon(Daemon[str, GuestLine]):
    """Owns guests and lends them."""

    idle_s = 600.0

    def __init__(self, listening: socket.socket, parent_fds: Sequence[int]) -> None:
        super().__init__(listening, parent_fds)
        self._host = LocalHost("the guests' network")
        self._ended: dict[str, str] = {}  # why each did by itself
        self._spec: GuestSpec | None = None

    def answer(self, asked: Words) -> tuple[Words, list[int]]:
        """Lend guests, end one, or tell why one has ended."""
        match asked["op"]:
            case "lend":
                return self._lend(asked)
            case "discard":
                if asked["guest"] in self.lines:
                    self.lines.pop(asked["guest"]).close()
                return {}, []
            case _:
                return {"why": self._why(asked["guest"])}, []

    def watched(self) -> dict[int, Callable[[], None]]:
        """Notice that guests end by themselves."""
        return {
            kept.running.ended_fd: partial(self._note_end, name)
            for name, kept in self.lines.items()
        }

    def _note_end(self, name: str) -> None:
        self._ended[name] = self.lines[name].running.why_ended()
        self._give_up(name, self._ended[name])

    def _give_up(self, name: str, why: str) -> None:
        """Give back what a guest had, and tell what became of it."""
        with closing(self.lines.pop(name)) as kept:
            _log_console(name, kept.running, why)

    def _why(self, name: str) -> str | None:
        """Return why a guest has ended, None if it runs; one that has just ended has a moment."""
        kept = self.lines.get(name)
        if kept is not None and kept.running.wait(0.2) is not None:
            self._note_end(name)
        return self._ended.get(name)

    def _lend(self, asked: Words) -> tuple[Words, list[int]]:
        """Return what a client gets: a description, and descriptors in its order."""
        spec = GuestSpec(**asked["spec"])
        if spec != self._spec:
            self.close()
            self._spec = spec
        joined = self._network
        if asked["network"] and joined.lacking is not None:
            raise joined.lacking
        names: list[str] = asked["guests"]
        for name in self.lines.keys() & names:
            if not self.lines[name].answers(self.parent_fds, _ANSWER_TIMEOUT_S):
                self._give_up(name, "its agent does not answer: it is ended")
        with ExitStack() as unless_up:
            started: dict[str, GuestLine] = {}
            for name in names:
                if name not in self.lines:
                    self._ended.pop(name, None)
                    started[name] = unless_up.enter_context(closing(self._start(name, spec)))
            for name, kept in started.items():  # side by side
                try:
                    self._await_agent(name, kept)
                except HostError as error:
                    _log_console(name, kept.running, str(error))
                    raise
            unless_up.pop_all()
            self.lines |= started
        self.lent.update(names)
        lent = {name: self.lines[name] for name in names}
        guests = [
            {"name": name, "pid": kept.running.pid, "boot_s": kept.running.boot_s}
            for name, kept in lent.items()
        ]
        lines = [kept.line.fileno() for kept in lent.values()]
        answer = {"guests": guests, "isolation": joined.isolation}
        return answer, [*lines, *joined.namespaces]

    def _await_agent(self, name: str, kept: GuestLine) -> None:
        kept.running.await_up(_BOOT_TIMEOUT_S, self.parent_fds)
        if not kept.answers(self.parent_fds, _BOOT_TIMEOUT_S):
            raise HostError(
                f"the agent in guest {name} does not answer; the last lines of its console:"
                f" {kept.running.last_lines()}"
            )
        _log.info("guest %s is up after %.1f s", name, kept.running.boot_s)

    @cached_property
    def _network(self) -> _Network:
        isolation: Isolation = "host"
        lacking = None
        try:
            network.require_taps()
            isolation = enter_new_namespace()
            network.make_network(self._host)
        except Unavailable as error:
            lacking = error
        paths = (f"/proc/thread-self/ns/{kind}" for kind in ("user", "net"))
        namespaces = tuple(os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths)
        return _Network(isolation, lacking, namespaces)

    def _start(self, name: str, spec: GuestSpec) -> GuestLine:
        has_network = self._network.lacking is None
        words = network.device_words(name, offloads=spec.offloads) if has_network else []
        ours, theirs = socket.socketpair()
        with theirs:
            command = ("/agent.sh", *words)
            running = RunningGuest(spec, name, command, theirs.fileno(), network=has_network)
        return GuestLine(ours, running)


def _log_console(name: str, running: RunningGuest, what: str) -> None:
    """Tell what became of a guest, and all that is known of what it said."""
    _log.warning("guest %s: %s", name, what)
    for line in running.console():
        _log.warning("guest %s said: %s", name, line)


if __name__ == "__main__":
    keep(GuestDaemon, sys.argv[1:])
