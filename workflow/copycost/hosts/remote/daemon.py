"""A daemon: a process that has what outlasts the single processes of a run, and lends it to them.

Each repetition is a process of its own. What takes long to make, a guest or an agent at the other
end of ssh, is had by a process that serves one of them after the other. It ends, and what it has
with it, when the run does, when nobody has asked for long, or when it is killed.

A client, which starts it if it is the first, says one JSON object and gets one with descriptors;
what it borrowed is its own until it closes.
"""

import json
import logging
import os
import select
import socket
import struct
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from copycost.errors import HostError, MeasurementStopped
from copycost.hosts.processes import value_of, waiting_process, watched_parents
from copycost.hosts.remote import messages

Words = dict[str, Any]

_MOST_BYTES = 1 << 16
_MOST_FDS = 8
_PACKAGE_ROOT = Path(__file__).parents[3]
_TRIES = 5

_log = logging.getLogger(__name__)


class AgentLine:
    """A stream to an agent that sessions follow one another on; ours from now on.

    `noise` is the last line that was no message, as of a login shell.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.noise = ""
        self._asked = 0

    def answers(self, stop_fds: Sequence[int], timeout_s: float) -> bool:
        """Return whether the agent does, having taken in whatever still came for others.

        Those are whoever had the last session, however it ended. MeasurementStopped once one of
        `stop_fds` is readable: the run is over.
        """
        self._asked += 1
        asked = messages.as_line({"op": messages.PING, "id": self._asked})
        deadline_s = time.monotonic() + timeout_s
        held = b""
        with suppress(OSError):
            self.line.send(messages.end_line() + asked, socket.MSG_DONTWAIT)
            while (left_s := deadline_s - time.monotonic()) > 0:
                ready, _, _ = select.select([self.line.fileno(), *stop_fds], [], [], left_s)
                if set(ready).intersection(stop_fds):
                    raise MeasurementStopped("the run is over")
                data = self.line.recv(_MOST_BYTES) if ready else b""
                if not data:
                    return False
                *lines, held = (held + data).split(b"\n")
                if any([self._is_answer(line) for line in lines]):
                    return True
        return False

    def _is_answer(self, line: bytes) -> bool:
        try:
            return messages.message_of(line).get("id") == self._asked
        except HostError:
            self.noise = line.decode(errors="replace").strip() or self.noise
            return False

    def say(self, data: bytes) -> None:
        """Say something that has no answer; who is gone is noticed by who asks next."""
        with suppress(OSError):
            self.line.send(data, socket.MSG_DONTWAIT)

    def close(self) -> None:
        """Close the stream, which ends an agent that has no other."""
        self.line.close()


Key = TypeVar("Key")
Kept = TypeVar("Kept", bound=AgentLine)


class Daemon(ABC, Generic[Key, Kept]):
    """Serves clients that come to a socket, and lends them lines to agents; how is a subclass's.

    `parent_fds` become readable when the run is over.
    """

    idle_s: float
    """It ends when nobody has asked for so long [s]."""
    beat_s: float = float("inf")
    """How often `beat` is called [s]."""

    def __init__(self, listening: socket.socket, parent_fds: Sequence[int]) -> None:
        self._listening = listening
        self.parent_fds = parent_fds
        self.lines: dict[Key, Kept] = {}
        self.lent: set[Key] = set()

    @abstractmethod
    def answer(self, asked: Words) -> tuple[Words, list[int]]:
        """Return words and descriptors for a client, which is told of HostError and OSError."""

    def watched(self) -> Mapping[int, Callable[[], None]]:
        """Return descriptors, and what is to be called when there is something to read."""
        return {}

    def beat(self) -> None:
        """Do what is to be done every `beat_s`."""

    def close(self) -> None:
        """End all that is kept."""
        for line in self.lines.values():
            line.close()
        self.lines.clear()

    def serve(self) -> None:
        """Serve until the run is over or nobody comes any more."""
        try:
            while self._wait(self._listening.fileno(), self.idle_s):
                client, _ = self._listening.accept()
                with client, suppress(ConnectionError):
                    self._serve_one(client)
        except MeasurementStopped as stopped:
            _log.info("%s", stopped)
        finally:
            self.close()

    def _serve_one(self, client: socket.socket) -> None:
        """Answer one client until it goes; have agents end what it left there."""
        try:
            while self._wait(client.fileno()) and (data := client.recv(_MOST_BYTES)):
                fds: list[int] = []
                try:
                    answer, fds = self.answer(json.loads(data))
                except (HostError, OSError) as error:
                    failure = error if isinstance(error, HostError) else HostError(str(error))
                    answer = {"error": messages.error_as_message(failure)}
                socket.send_fds(client, [json.dumps(answer).encode()], fds)
        except (ConnectionError, MeasurementStopped):
            raise
        except Exception as bug:  # its client is told, and it ends
            fault = f"the run's daemon has ended by a fault of its own: {bug!r}; run again"
            answer = {"error": messages.error_as_message(HostError(f"{fault}, and report it"))}
            with suppress(OSError):
                client.send(json.dumps(answer).encode())
            raise
        finally:
            for key in self.lent & self.lines.keys():
                self.lines[key].say(messages.end_line())
            self.lent.clear()

    def _wait(self, fd: int, timeout_s: float = float("inf")) -> bool:
        """Wait for a descriptor, and return whether it is ready; see to the rest meanwhile.

        MeasurementStopped if the run is over.
        """
        deadline_s = time.monotonic() + timeout_s
        beat_s = time.monotonic() + self.beat_s
        while True:
            watched = self.watched()
            poll = select.poll()
            for one in (fd, *watched, *self.parent_fds):
                poll.register(one, select.POLLIN)
            left_s = max(0.0, min(deadline_s, beat_s) - time.monotonic())
            ready = {one for one, _ in poll.poll(None if left_s == float("inf") else left_s * 1e3)}
            if ready.intersection(self.parent_fds):
                raise MeasurementStopped("the run is over")
            for one in ready.intersection(watched):
                watched[one]()
            if fd in ready:
                return True
            if time.monotonic() >= beat_s:
                beat_s += self.beat_s
                self.beat()
            if time.monotonic() >= deadline_s:
                return False


def keep(kind: type[Daemon[Any, Any]], arguments: list[str]) -> None:
    """Keep things for the clients that come to a listening socket, in a process of its own.

    The arguments are descriptors that it inherits: of the socket, and of the processes (pidfds)
    without which the run is over.
    """
    if os.fork() > 0:
        os._exit(0)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(message)s")
    fd, *parents = map(int, arguments)
    with socket.socket(fileno=fd) as listening:
        kind(listening, parents).serve()


def ask_daemon(client: socket.socket, words: Words) -> tuple[Words, list[int]]:
    """Return what a daemon answers, and the descriptors that came with it; raise its errors."""
    client.send(json.dumps(words).encode())
    data, fds, _, _ = socket.recv_fds(client, _MOST_BYTES, _MOST_FDS)
    if not data:
        raise HostError("the run's daemon has ended; run again")
    answer: Words = json.loads(data)
    if "error" in answer:
        raise messages.error_of(answer["error"])
    return answer, fds


def connected(module: str, patience_s: float, log: Path | None = None) -> socket.socket:
    """Return a connection to the run's daemon that a module serves, and is started for if need be.

    An answer may take `patience_s`. In `log`, a daemon that is started tells what it meets with.
    Its address is an abstract one, which leaves no file (unix(7)).
    """
    # a run is known by the process that waits for us, and by when that started
    owner = waiting_process()
    started = value_of(Path(f"/proc/{owner}/stat").read_text(), 19)
    address = f"\0{module}-{os.getuid()}-{owner}-{started}"
    with watched_parents() as parents:
        for _ in range(_TRIES):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                client.connect(address)
            except ConnectionRefusedError:
                client.close()
                _start(module, address, parents, log)
                continue
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            _, user, _ = struct.unpack("iii", credentials)
            if user != os.geteuid():  # anybody may take an abstract address
                client.close()
                raise HostError(f"user {user} pretends to be our daemon; run again")
            client.settimeout(patience_s)
            return client
    raise HostError(f"{module} cannot be started; run again")


def _start(module: str, address: str, parents: Sequence[int], log: Path | None) -> None:
    """Start a daemon, unless another process has just done it."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening,
        Path(log or os.devnull).open("ab") as told,
    ):
        try:
            listening.bind(address)
        except OSError:
            return
        listening.listen(8)
        fds = [listening.fileno(), *parents]
        # it outlives us, and holds nothing of ours open; what we start forks it, and ends
        subprocess.run(
            [sys.executable, "-SP", "-m", module, *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=told,
            pass_fds=fds,
            start_new_session=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(_PACKAGE_ROOT)},
        )
