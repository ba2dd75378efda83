"""The daemon of a run's guests: ``python -m copycost.hosts.guest.daemon LISTENING PARENT...``.

It owns the guests' network, their QEMUs and the lines to their agents, and lends them to one
repetition after the other (`copycost.hosts.guest.host`). It ends when the run does, when nobody has
asked for long, or when it is killed; and they end with it: QEMU ends with the thread that started
it, and their network with the last process in its namespace.
"""

import json
import logging
import os
import select
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from functools import cached_property
from typing import Any, NamedTuple

from copycost.errors import HostError, MeasurementStopped, Unavailable
from copycost.hosts.guest import network
from copycost.hosts.guest.qemu import GuestSpec, RunningGuest
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation, enter_new_namespace
from copycost.hosts.remote import messages

_BOOT_TIMEOUT_S = 120.0
_ANSWER_TIMEOUT_S = 5.0
# it ends when nobody has asked for so long
_IDLE_S = 600.0
# a guest that has just ended has a moment until that shows
_MOMENT_S = 0.2
_MOST_BYTES = 1 << 16

_log = logging.getLogger(__name__)


def wait_for(
    line: socket.socket, parent_fds: Sequence[int], timeout_s: float | None = None
) -> bool:
    """Wait for something to read, and return whether there is.

    MeasurementStopped once one of `parent_fds` is readable: the run is over.
    """
    ready, _, _ = select.select([line.fileno(), *parent_fds], [], [], timeout_s)
    if set(ready).intersection(parent_fds):
        raise MeasurementStopped("the run is over")
    return bool(ready)


class LentGuest:
    """A guest, and the line to its agent, on which sessions follow one another."""

    def __init__(self, name: str, spec: GuestSpec, *, has_network: bool) -> None:
        self.name = name
        self._asked = 0
        words = network.device_words(name, offloads=spec.offloads) if has_network else []
        self.line, theirs = socket.socketpair()
        with theirs:
            command = ("/agent.sh", *words)
            self.running = RunningGuest(spec, name, command, theirs.fileno(), network=has_network)

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

    def answers(self, stop_fds: Sequence[int], timeout_s: float) -> bool:
        """Return whether the agent does, having taken in whatever still came for others.

        Those are whoever had the last session, however it ended.
        """
        self._asked += 1
        wanted = {"id": self._asked}
        deadline_s = time.monotonic() + timeout_s
        held = b""
        self.end_session(messages.as_line({"op": messages.PING, **wanted}))
        while wait_for(self.line, stop_fds, max(0.0, deadline_s - time.monotonic())):
            data = b""
            with suppress(OSError):
                data = self.line.recv(_MOST_BYTES)
            if not data:
                break
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                with suppress(messages.NotAMessage):
                    if messages.message_of(line).items() >= wanted.items():
                        return True
        return False

    def end_session(self, more: bytes = b"") -> None:
        """Have the agent end what a session left; who is gone is noticed by who asks next."""
        with suppress(OSError):
            self.line.send(messages.end_line() + more, socket.MSG_DONTWAIT)

    def log(self, what: str) -> None:
        """Tell what became of the guest, and all that is known of what it said."""
        _log.warning("guest %s: %s", self.name, what)
        for line in self.running.console():
            _log.warning("guest %s said: %s", self.name, line)

    def close(self) -> None:
        """End the guest."""
        self.running.close()
        self.line.close()


class _Network(NamedTuple):
    """The guests' network and the namespaces of it, or why there is none."""

    isolation: Isolation
    lacking: Unavailable | None
    namespaces: tuple[int, ...]


class Daemon:
    """Serves clients that come to a socket; `parent_fds` become readable when the run is over."""

    def __init__(self, listening: socket.socket, parent_fds: Sequence[int]) -> None:
        self._listening = listening
        self._parent_fds = parent_fds
        self._guests: dict[str, LentGuest] = {}
        self._ended: dict[str, str] = {}  # why each did by itself
        self._spec: GuestSpec | None = None

    def serve(self) -> None:
        """Serve until the run is over or nobody comes any more."""
        try:
            while wait_for(self._listening, self._parent_fds, _IDLE_S):
                client, _ = self._listening.accept()
                with client, suppress(ConnectionError):
                    self._serve_one(client)
        except MeasurementStopped as stopped:
            _log.info("%s", stopped)
        finally:
            self._close()

    def _serve_one(self, client: socket.socket) -> None:
        """Answer one client until it goes; have agents end what it left there."""
        try:
            while wait_for(client, self._parent_fds) and (data := client.recv(_MOST_BYTES)):
                fds: list[int] = []
                try:
                    answer, fds = self._answer(json.loads(data))
                except (HostError, OSError) as error:
                    failure = error if isinstance(error, HostError) else HostError(str(error))
                    answer = {"error": messages.error_as_message(failure)}
                socket.send_fds(client, [json.dumps(answer).encode()], fds)
        finally:
            for guest in self._guests.values():
                guest.end_session()

    def _answer(self, asked: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        """Return words and descriptors: lend guests, or tell why one has ended."""
        name = asked.get("why")
        if name in self._guests:
            self._guests[name].running.wait(_MOMENT_S)
        self._note_ends()
        return self._lend(asked) if name is None else ({"why": self._ended.get(name)}, [])

    def _note_ends(self) -> None:
        """Notice that guests have ended by themselves."""
        for name, guest in list(self._guests.items()):
            if guest.running.exit_code is not None:
                self._ended[name] = guest.running.why_ended()
                guest.log(self._ended[name])
                self._end(name)

    def _end(self, name: str) -> None:
        self._guests.pop(name).close()

    def _close(self) -> None:
        self._note_ends()
        for name in list(self._guests):
            self._end(name)

    def _lend(self, asked: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        """Return what a client gets: a description, and descriptors in its order."""
        spec = GuestSpec(**asked["spec"])
        if spec != self._spec:
            self._close()
            self._spec = spec
        joined = self._network
        if asked["network"] and joined.lacking is not None:
            raise joined.lacking
        names: list[str] = asked["guests"]
        for name in self._guests.keys() & names:
            if not self._guests[name].answers(self._parent_fds, _ANSWER_TIMEOUT_S):
                self._guests[name].log("its agent does not answer: it is ended")
                self._end(name)
        with ExitStack() as unless_up:
            started: dict[str, LentGuest] = {}
            for name in names:
                if name not in self._guests:
                    self._ended.pop(name, None)
                    guest = LentGuest(name, spec, has_network=joined.lacking is None)
                    started[name] = unless_up.enter_context(closing(guest))
            for guest in started.values():  # side by side
                guest.await_agent(self._parent_fds)
            unless_up.pop_all()
            self._guests |= started
        lent = [self._guests[name] for name in names]
        guests = [
            {"guest": one.name, "pid": one.running.pid, "boot_s": one.running.boot_s}
            for one in lent
        ]
        fds = [*(one.line.fileno() for one in lent), *joined.namespaces]
        return {"guests": guests, "isolation": joined.isolation}, fds

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


def main(arguments: list[str]) -> None:
    """Serve in a process of its own, until the run is over.

    The arguments are descriptors that it inherits: of the socket that it listens at, and of the
    processes (pidfds) without which the run is over.
    """
    if os.fork() > 0:
        os._exit(0)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(message)s")
    fd, *parents = map(int, arguments)
    with socket.socket(fileno=fd) as listening:
        Daemon(listening, parents).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
