"""The keeper of a run's guests: ``python -m copycost.hosts.guest.keeper LISTENING PARENT...``.

The words are descriptors that it inherits: of a listening socket, and of the processes (pidfds)
without which the run is over.

Each repetition is a process of its own, and guests outlast it; so this process has them: it owns
their network, their QEMUs and the lines to their agents, and lends them to one repetition after the
other. It ends, and they with it, when the run does, when nobody has asked for a long time, or when
it is killed: QEMU ends with the thread that started it, a TAP device with its descriptors, and the
namespace with the last process in it.

A client says one JSON object and gets one with descriptors; the guests are its until it closes.
"""

import json
import logging
import os
import select
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from copycost.errors import HostError, MeasurementStopped, Unavailable
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
from copycost.hosts.guest.qemu import GuestMachine, Link
from copycost.hosts.guest.spec import GuestSpec
from copycost.hosts.guest.words import MOST_BYTES, Words, error_as_words
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation, enter_new_namespace
from copycost.hosts.remote import messages

_BOOT_TIMEOUT_S = 120.0
_ANSWER_TIMEOUT_S = 5.0
_IDLE_S = 600.0
# the port's name in the guest (agent.sh), and the device of its network there
_PORT, _DEVICE = "agent", "eth0"

_log = logging.getLogger(__name__)


class Kept:
    """A guest and the line to its agent."""

    def __init__(self, running: RunningGuest, line: socket.socket) -> None:
        self.running = running
        self.line = line
        self._asked = 0

    def answers(self, stop_fds: Sequence[int], timeout_s: float = _ANSWER_TIMEOUT_S) -> bool:
        """Return whether the agent does, having taken in whatever still came for others.

        Parameters
        ----------
        stop_fds
            Become readable when the run is over.

        Raises
        ------
        MeasurementStopped
            If it is.
        """
        self._asked += 1
        asked = messages.as_line({"op": messages.PING, "id": self._asked})
        deadline_s = time.monotonic() + timeout_s
        held = b""
        try:
            self.line.send(messages.end_line() + asked, socket.MSG_DONTWAIT)
            while (left_s := deadline_s - time.monotonic()) > 0:
                ready, _, _ = select.select([self.line.fileno(), *stop_fds], [], [], left_s)
                if set(ready).intersection(stop_fds):
                    raise MeasurementStopped("the run is over")
                data = self.line.recv(1 << 16) if ready else b""
                if not data:
                    return False
                *lines, held = (held + data).split(b"\n")
                if any(_is_answer(line, self._asked) for line in lines):
                    return True
        except OSError:
            return False
        return False

    def end_session(self) -> None:
        """Have the agent end what a repetition left there."""
        with suppress(OSError):
            self.line.send(messages.end_line(), socket.MSG_DONTWAIT)

    def close(self) -> None:
        """End the guest."""
        self.running.close()
        self.line.close()


def _is_answer(line: bytes, number: int) -> bool:
    with suppress(HostError):
        return messages.message_of(line).get("id") == number
    return False


@dataclass(slots=True)
class _Network:
    """The guests' network, or why there is none."""

    isolation: Isolation
    lacking: Unavailable | None = None
    namespaces: tuple[int, ...] = ()


class Keeper:
    """Owns guests and lends them.

    Parameters
    ----------
    listening
        Where clients come.
    parent_fds
        Become readable when the run is over.
    """

    def __init__(self, listening: socket.socket, parent_fds: list[int]) -> None:
        self._listening = listening
        self._parent_fds = parent_fds
        self._host = LocalHost("the guests' network")
        self._guests: dict[str, Kept] = {}
        self._ended: dict[str, str] = {}
        self._spec: GuestSpec | None = None
        self._network: _Network | None = None

    def serve(self) -> None:
        """Serve until the run is over or nobody comes any more."""
        try:
            while self._wait([self._listening.fileno()], _IDLE_S):
                client, _ = self._listening.accept()
                with client:
                    self._serve_one(client)
        except MeasurementStopped as stopped:
            _log.info("%s", stopped)
        finally:
            for kept in self._guests.values():
                kept.close()

    def _wait(self, fds: list[int], timeout_s: float | None) -> bool:
        """Wait for one of the descriptors, taking in meanwhile what guests say.

        Raises
        ------
        MeasurementStopped
            If the run is over.
        """
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            consoles = {kept.running.console.fd: kept.running for kept in self._guests.values()}
            ready = self._poll([*fds, *consoles, *self._parent_fds], deadline_s)
            if not ready:
                return False
            if ready.intersection(self._parent_fds):
                raise MeasurementStopped("the run is over")
            for fd in ready.intersection(consoles):
                if not consoles[fd].console.pump():
                    self._note_end(consoles[fd])
            if ready.intersection(fds):
                return True

    def _poll(self, fds: list[int], deadline_s: float | None) -> set[int]:
        poll = select.poll()
        for fd in fds:
            poll.register(fd, select.POLLIN)
        left_ms = None if deadline_s is None else max(0.0, deadline_s - time.monotonic()) * 1e3
        return {fd for fd, _ in poll.poll(left_ms)}

    def _note_end(self, running: RunningGuest) -> None:
        """Remember how a guest ended, and give back what it had."""
        for name, kept in list(self._guests.items()):
            if kept.running is running:
                self._ended[name] = running.why_ended()
                _log.warning("%s", self._ended[name])
                self._discard(name)

    def _serve_one(self, client: socket.socket) -> None:
        """Answer one client until it goes; the guests are its for so long."""
        lent: list[str] = []
        try:
            while self._wait([client.fileno()], None):
                data = client.recv(MOST_BYTES)
                if not data:
                    return
                asked: Words = json.loads(data)
                fds: list[int] = []
                try:
                    if asked["op"] == "lend":
                        answer, fds = self._lend(asked)
                        lent += asked["guests"]
                    elif asked["op"] == "discard":
                        answer = {}
                        self._discard(asked["guest"])
                    else:
                        answer = {"why": self._why(asked["guest"])}
                except (HostError, OSError) as error:
                    answer = error_as_words(error)
                socket.send_fds(client, [json.dumps(answer).encode()], fds)
        except ConnectionError:
            return
        finally:
            for name in lent:
                if name in self._guests:
                    self._guests[name].end_session()

    def _discard(self, name: str) -> None:
        kept = self._guests.pop(name, None)
        if kept is not None:
            kept.close()

    def _why(self, name: str) -> str | None:
        """Return why a guest has ended, None if it runs; one that has just ended has a moment."""
        kept = self._guests.get(name)
        if kept is not None and kept.running.await_end(0.2) is not None:
            self._note_end(kept.running)
        return self._ended.get(name)

    def _lend(self, asked: Words) -> tuple[Words, list[int]]:
        """Return what a client gets: a description, and descriptors in its order."""
        spec = GuestSpec.from_plain(asked["spec"])
        if spec != self._spec:
            for kept in self._guests.values():
                kept.close()
            self._guests.clear()
            self._spec = spec
        network = self._made_network()
        if asked["network"] and network.lacking is not None:
            raise network.lacking
        names: list[str] = asked["guests"]
        for name in names:
            kept_before = self._guests.get(name)
            if kept_before is not None and not kept_before.answers(self._parent_fds):
                _log.warning("guest %s does not answer: it is ended", name)
                self._discard(name)
        new = [name for name in names if name not in self._guests]
        for name in new:
            self._ended.pop(name, None)
        with ExitStack() as unless_up:
            started = {name: self._start(name, spec) for name in new}
            for kept in started.values():
                unless_up.callback(kept.close)
            for kept in started.values():  # side by side
                kept.running.await_up(_BOOT_TIMEOUT_S, self._parent_fds)
            for name, kept in started.items():
                if not kept.answers(self._parent_fds, _BOOT_TIMEOUT_S):
                    raise HostError(
                        f"the agent in guest {name} does not answer; the last lines of its console:"
                        f" {kept.running.console.end()}"
                    )
            unless_up.pop_all()
            self._guests |= started
        guests = [
            {"name": name, "pid": kept.running.pid, "boot_s": kept.running.boot_s}
            for name, kept in ((name, self._guests[name]) for name in names)
        ]
        lines = [self._guests[name].line.fileno() for name in names]
        answer: Words = {
            "guests": guests,
            "isolation": network.isolation,
            "network": network.lacking is None,
        }
        return answer, [*lines, *network.namespaces]

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

    def _start(self, name: str, spec: GuestSpec) -> Kept:
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
                link = Link(tap, MACS[name], spec.network_device, vhost, spec.offloads)
            machine = GuestMachine(
                f"copycost-{name}",
                spec.kernel,
                spec.initrd,
                ("/agent.sh", *(_network_words(name, spec) if link is not None else ())),
                spec.accelerator,
                spec.vcpus,
                spec.memory_bytes,
                {_PORT: theirs.fileno()},
                link,
            )
            return Kept(RunningGuest(machine, spec.qemu), ours)


def _network_words(name: str, spec: GuestSpec) -> list[str]:
    """Return the words of agent.sh for a guest's network."""
    others = [other for other in ADDRESSES if other != name]
    offloads = "on" if spec.offloads else "off"
    neighbours = (word for other in others for word in (ADDRESSES[other], MACS[other]))
    return [_DEVICE, offloads, f"{ADDRESSES[name]}/{NETWORK_BITS}", *neighbours]


def main(arguments: list[str]) -> None:
    """Keep guests for the clients that come to a listening socket, in a process of its own."""
    if os.fork() > 0:
        os._exit(0)
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)7d ms  %(message)s")
    fd, *parents = map(int, arguments)
    with socket.socket(fileno=fd) as listening:
        Keeper(listening, parents).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
