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

    def __init__(self, name: str, line: socket.socket, running: RunningGuest) -> None:
        super().__init__(line)
        self.name = name
        self.running = running

    def await_agent(self, stop_fds: Sequence[int]) -> None:
        """Wait until the agent answers; HostError, told in the log too, if it never does."""
        try:
            self.running.await_up(_BOOT_TIMEOUT_S, stop_fds)
            if not self.answers(stop_fds, _BOOT_TIMEOUT_S):
                raise HostError(
                    f"the agent in guest {self.name} does not answer; the last lines of its"
                    f" console: {self.running.last_lines()}"
                )
        except HostError as error:
            self.log(str(error))
            raise
        _log.info("guest %s is up after %.1f s", self.name, self.running.boot_s)

    def log(self, what: str) -> None:
        """Tell what became of the guest, and all that is known of what it said."""
        _log.warning("guest %s: %s", self.name, what)
        for line in self.running.console():
            _log.warning("guest %s said: %s", self.name, line)

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
        self._ended: dict[str, str] = {}  # why each did by itself
        self._spec: GuestSpec | None = None

    def answer(self, asked: Words) -> tuple[Words, list[int]]:
        """Lend guests, or tell why one has ended."""
        if asked["op"] == "lend":
            return self._lend(asked)
        name = asked["guest"]
        # one that has just ended has a moment
        if name in self.lines and self.lines[name].running.wait(0.2) is not None:
            self._note_end(name)
        return {"why": self._ended.get(name)}, []

    def watched(self) -> dict[int, Callable[[], None]]:
        """Notice that guests end by themselves."""
        return {
            kept.running.ended_fd: partial(self._note_end, name)
            for name, kept in self.lines.items()
        }

    def _note_end(self, name: str) -> None:
        with closing(self.lines.pop(name)) as kept:
            self._ended[name] = kept.running.why_ended()
            kept.log(self._ended[name])

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
                with closing(self.lines.pop(name)) as silent:
                    silent.log("its agent does not answer: it is ended")
        with ExitStack() as unless_up:
            started: dict[str, GuestLine] = {}
            for name in names:
                if name not in self.lines:
                    self._ended.pop(name, None)
                    started[name] = unless_up.enter_context(closing(self._start(name, spec)))
            for guest in started.values():  # side by side
                guest.await_agent(self.parent_fds)
            unless_up.pop_all()
            self.lines |= started
        self.lent.update(names)
        lent = [self.lines[name] for name in names]
        guests = [
            {"name": one.name, "pid": one.running.pid, "boot_s": one.running.boot_s} for one in lent
        ]
        lines = [one.line.fileno() for one in lent]
        answer = {"guests": guests, "isolation": joined.isolation}
        return answer, [*lines, *joined.namespaces]

    @cached_property
    def _network(self) -> _Network:
        isolation: Isolation = "host"
        lacking = None
        try:
            network.require_taps()
            isolation = enter_new_namespace()
            network.make_network(LocalHost("the guests' network"))
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
        return GuestLine(name, ours, running)


if __name__ == "__main__":
    keep(GuestDaemon, sys.argv[1:])
