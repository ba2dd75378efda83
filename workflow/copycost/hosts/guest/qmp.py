"""QEMU, and what it is told and says over its machine protocol.

Source: QEMU's documentation, "QEMU QMP Reference Manual", 7.2.
"""

import json
import select
import shlex
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from copycost.errors import CannotStart, HostError, TookTooLong
from copycost.hosts.guest.boot import Qemu

Message = dict[str, Any]


class Emulator(Qemu):
    """A QEMU with its machine protocol; every wait ends at one deadline."""

    def __init__(
        self, words: Sequence[str], fds: Sequence[int], line: socket.socket, timeout_s: float
    ) -> None:
        super().__init__(words, fds)
        self._line = line
        self._deadline_s = time.monotonic() + timeout_s
        self._received = b""

    def greet(self) -> None:
        """Begin the conversation."""
        self._await(lambda message: "QMP" in message)
        self.tell("qmp_capabilities")

    def tell(self, command: str, **arguments: object) -> None:
        """Have QEMU do something; HostError if it refuses, ends, or takes too long."""
        asked = {"execute": command, "arguments": arguments}
        with suppress(OSError):  # one that has ended is told of where its answer is awaited
            self._line.sendall(json.dumps(asked).encode() + b"\n")
        answer = self._await(lambda message: "return" in message or "error" in message)
        if "error" in answer:
            raise HostError(f"QEMU refused {command}: {answer['error']['desc']}")

    def await_stop(self) -> None:
        """Wait until the guest has stopped its machine.

        HostError if it has switched it off instead, as after a failure, or takes too long.
        """
        self._await(lambda message: message.get("event") == "STOP")
        self.console.pump()

    def save(self, state: Path) -> None:
        """Save the state of processor and devices; the memory is a file already.

        Its usual way, a migration, has a thread of its own, which does not take turns with others.
        """
        self.tell("xen-save-devices-state", filename=str(state.resolve()))

    def load(self, state: Path) -> None:
        """Load such a state; HostError if it is of another machine, or another QEMU."""
        wanted = [{"capability": "events", "state": True}]
        self.tell("migrate-set-capabilities", capabilities=wanted)
        self.tell("migrate-incoming", uri=f"exec:cat {shlex.quote(str(state.resolve()))}")
        ends = ("completed", "failed")
        end = self._await(
            lambda said: said.get("event") == "MIGRATION" and said["data"]["status"] in ends
        )
        if end["data"]["status"] == "failed":
            raise HostError(f"QEMU cannot load {state}; it said last: {self.last_words()}")

    def last_words(self) -> str:
        """Return the last lines of the console, or the one that tells of a kernel's panic."""
        panics = (line for line in self.console.lines() if "Kernel panic" in line)
        return next(panics, self.console.end())

    def close(self) -> None:
        """End QEMU, and give back the descriptors."""
        super().close()
        self._line.close()

    def _await(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the next message that is wanted; the others are events that nobody waits for."""
        while True:
            while b"\n" not in self._received:
                self._receive()
            line, _, self._received = self._received.partition(b"\n")
            message: Message = json.loads(line)
            if wanted(message):
                return message

    def _receive(self) -> None:
        """Wait until something comes, or QEMU ends, and take it in."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TookTooLong(
                "the simulated guest took too long; the last lines of its console:"
                f" {self.last_words()}"
            )
        watched = [self._line.fileno(), self.console.fd, self.ended_fd]
        ready, _, _ = select.select(watched, [], [], left_s)
        self.console.pump()
        if self._line.fileno() not in ready:
            return
        try:
            data = self._line.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            code = self._process.wait()
            self.console.pump()
            raise HostError(
                f"QEMU ended with exit status {code}; it said last: {self.last_words()}"
            )
        self._received += data


@contextmanager
def running(
    qemu: str, words: Callable[[int], Sequence[str]], timeout_s: float
) -> Iterator[Emulator]:
    """Run QEMU for so long at most, and end it at the end of the block.

    `words` gives its options, by the descriptor of its end of our line to it.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            fd = theirs.fileno()
            emulator = Emulator([qemu, *words(fd)], [fd], ours, timeout_s)
        except CannotStart:
            ours.close()
            raise
    try:
        emulator.greet()
        yield emulator
    finally:
        emulator.close()
