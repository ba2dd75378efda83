"""The daemon of a run's guests: ``python -m copycost.hosts.guest.daemon LISTENING PARENT...``.

It owns the guests' network, their QEMUs and the lines to their agents, and lends them to one
repetition after the other. They end with it, also when it is killed: QEMU ends with the thread that
started it, a TAP device with its descriptors, and the namespace with the last process in it.
"""

import logging
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest.boot import RunningGuest
from copycost.hosts.guest.network import (
    ADDRESSES,
    MACS,
    NETWORK_BITS,
    make_bridge,
    make_tap,
    open_vhost,
    require_taps,
)
from copycost.hosts.guest.qemu import GuestSpec, Link
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation, enter_new_namespace
from copycost.hosts.remote.agent_line import AgentLine
from copycost.hosts.remote.daemon import Daemon, keep
from copycost.hosts.remote.daemon_client import Words

_BOOT_TIMEOUT_S = 120.0
_ANSWER_TIMEOUT_S = 5.0
# the port's name in the guest (agent.sh), and the device of its network there
_PORT, _DEVICE = "agent", "eth0"

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


@dataclass(slots=True)
class _Network:
    """The guests' network, or why there is none."""

    isolation: Isolation
    lacking: Unavailable | None = None
    namespaces: tuple[int, ...] = ()


class GuestDaemon(Daemon[str, GuestLine]):
    """Owns guests and lends them."""

    idle_s = 600.0

    def __init__(self, listening: socket.socket, parent_fds: Sequence[int]) -> None:
        super().__init__(listening, parent_fds)
        self._host = LocalHost("the guests' network")
        self._ended: dict[str, str] = {}
        self._spec: GuestSpec | None = None
        self._network: _Network | None = None

    def answer(self, asked: Words) -> tuple[Words, list[int]]:
        """Lend guests, end one, or tell why one has ended."""
        match asked["op"]:
            case "lend":
                answer, fds = self._lend(asked)
                self.lent.update(asked["guests"])
                return answer, fds
            case "discard":
                self._discard(asked["guest"])
                return {}, []
            case _:
                return {"why": self._why(asked["guest"])}, []

    def watched(self) -> dict[int, Callable[[], None]]:
        """Take in what guests say on their consoles."""
        return {
            kept.running.console.fd: partial(self._listen_to, name)
            for name, kept in self.lines.items()
        }

    def _listen_to(self, name: str) -> None:
        if not self.lines[name].running.console.pump():
            self._note_end(name)

    def _note_end(self, name: str) -> None:
        """Remember how a guest ended, and give back what it had."""
        running = self.lines[name].running
        self._ended[name] = running.why_ended()
        _log_console(name, running, self._ended[name])
        self._discard(name)

    def _discard(self, name: str) -> None:
        kept = self.lines.pop(name, None)
        if kept is not None:
            kept.close()

    def _why(self, name: str) -> str | None:
        """Return why a guest has ended, None if it runs; one that has just ended has a moment."""
        kept = self.lines.get(name)
        if kept is not None and kept.running.await_end(0.2) is not None:
            self._note_end(name)
        return self._ended.get(name)

    def _lend(self, asked: Words) -> tuple[Words, list[int]]:
        """Return what a client gets: a description, and descriptors in its order."""
        spec = GuestSpec.from_plain(asked["spec"])
        if spec != self._spec:
            self.close()
            self._spec = spec
        network = self._made_network()
        if asked["network"] and network.lacking is not None:
            raise network.lacking
        names: list[str] = asked["guests"]
        for name in names:
            before = self.lines.get(name)
            if before is not None and not before.answers(self.parent_fds, _ANSWER_TIMEOUT_S):
                _log_console(name, before.running, "its agent does not answer: it is ended")
                self._discard(name)
        new = [name for name in names if name not in self.lines]
        for name in new:
            self._ended.pop(name, None)
        with ExitStack() as unless_up:
            started = {name: self._start(name, spec) for name in new}
            for kept in started.values():
                unless_up.callback(kept.close)
            for name, kept in started.items():  # side by side
                try:
                    kept.running.await_up(_BOOT_TIMEOUT_S, self.parent_fds)
                    self._require_answer(name, kept)
                except HostError as error:
                    _log_console(name, kept.running, str(error))
                    raise
                _log.info("guest %s is up after %.1f s", name, kept.running.boot_s)
            unless_up.pop_all()
            self.lines |= started
        lent = [(name, self.lines[name]) for name in names]
        guests = [
            {"name": name, "pid": kept.running.pid, "boot_s": kept.running.boot_s}
            for name, kept in lent
        ]
        lines = [kept.line.fileno() for _, kept in lent]
        answer = {"guests": guests, "isolation": network.isolation}
        return answer, [*lines, *network.namespaces]

    def _require_answer(self, name: str, kept: GuestLine) -> None:
        if not kept.answers(self.parent_fds, _BOOT_TIMEOUT_S):
            raise HostError(
                f"the agent in guest {name} does not answer; the last lines of its console:"
                f" {kept.running.console.end()}"
            )

    def _made_network(self) -> _Network:
        """Return the network, which is made once."""
        if self._network is None:
            self._network = _Network("host")
            try:
                require_taps()
                self._network.isolation = enter_new_namespace()
                make_bridge(self._host)
            except Unavailable as error:
                self._network.lacking = error
            self._network.namespaces = tuple(
                os.open(f"/proc/thread-self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
                for kind in ("user", "net")
            )
        return self._network

    def _start(self, name: str, spec: GuestSpec) -> GuestLine:
        """Start a guest."""
        ours, theirs = socket.socketpair()
        with ExitStack() as inherited:
            inherited.callback(theirs.close)
            link = None
            if self._made_network().lacking is None:
                tap = make_tap(self._host, name)
                inherited.callback(os.close, tap)
                vhost = open_vhost() if spec.vhost else None
                if vhost is not None:
                    inherited.callback(os.close, vhost)
                link = Link(tap, MACS[name], vhost)
            command = ("/agent.sh", *(_network_words(name, spec) if link is not None else ()))
            ports = {_PORT: theirs.fileno()}
            return GuestLine(ours, RunningGuest(spec, f"copycost-{name}", command, ports, link))


def _log_console(name: str, running: RunningGuest, what: str) -> None:
    """Tell what became of a guest, and all that is known of what it said."""
    running.console.pump()
    _log.warning("guest %s: %s", name, what)
    for line in running.console.lines():
        _log.warning("guest %s said: %s", name, line)


def _network_words(name: str, spec: GuestSpec) -> list[str]:
    """Return the words of agent.sh for a guest's network."""
    others = [other for other in ADDRESSES if other != name]
    offloads = "on" if spec.offloads else "off"
    neighbours = (word for other in others for word in (ADDRESSES[other], MACS[other]))
    return [_DEVICE, offloads, f"{ADDRESSES[name]}/{NETWORK_BITS}", *neighbours]


if __name__ == "__main__":
    keep(GuestDaemon, sys.argv[1:])
