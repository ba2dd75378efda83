"""QEMU, and what it is told and says over its machine protocol.

Source: QEMU's documentation, "QEMU QMP Reference Manual", 7.2.
"""

import json
import os
import select
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from copycost.errors import CannotStart, HostError, TookTooLong
from copycost.hosts.guest.boot import die_with_us

Message = dict[str, Any]

_MOST_CONSOLE_BYTES = 1 << 20
_SHOWN_LINES = 8


class Emulator:
    """A QEMU that runs: its console and its machine protocol; every wait ends at one deadline."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", console_fd: int, line: socket.socket, end_s: float
    ) -> None:
        os.set_blocking(console_fd, False)
        self._process = process
        self._console_fd = console_fd
        self._said = bytearray()
        self._line = line
        self._deadline_s = end_s
        self._received = b""
        self._ended_fd = os.pidfd_open(process.pid)

    @property
    def console(self) -> list[str]:
        """What guest and QEMU have said, line by line."""
        return self._said.decode(errors="replace").replace("\r", "").splitlines()

    def greet(self) -> None:
        """Begin the conversation."""
        self._await(lambda message: "QMP" in message)
        self.tell("qmp_capabilities")

    def tell(self, command: str, **arguments: object) -> None:
        """Have QEMU do something.

        Raises
        ------
        HostError
            If it refuses, ends, or takes too long.
        """
        asked = {"execute": command, "arguments": arguments}
        with suppress(OSError):  # one that has ended is told of where its answer is awaited
            self._line.sendall(json.dumps(asked).encode() + b"\n")
        answer = self._await(lambda message: "return" in message or "error" in message)
        if "error" in answer:
            raise HostError(f"QEMU refused {command}: {answer['error']['desc']}")

    def await_stop(self) -> None:
        """Wait until the guest has stopped its machine.

        Raises
        ------
        HostError
            If it has switched it off instead, as after a failure, or takes too long.
        """
        self._await(lambda message: message.get("event") == "STOP")
        self._listen()

    def save(self, state: Path) -> None:
        """Save the state of processor and devices; the memory is a file already.

        Its usual way, a migration, has a thread of its own, which does not take turns with others.
        """
        self.tell("xen-save-devices-state", filename=str(state.resolve()))

    def load(self, state: Path) -> None:
        """Load such a state.

        Raises
        ------
        HostError
            If it is of another machine, or another version of QEMU.
        """
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
        """Return the last lines of the console as the end of a message.

        Of a kernel that panicked, the line that says so, which many others follow.
        """
        panics = [line for line in self.console if "Kernel panic" in line]
        last = panics[:1] or [line for line in self.console if line][-_SHOWN_LINES:]
        return " | ".join(last) or "nothing"

    def close(self) -> None:
        """End QEMU, and give back the descriptors."""
        self._process.kill()
        self._process.wait()
        self._line.close()
        os.close(self._console_fd)
        os.close(self._ended_fd)

    def _await(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the next message that is wanted; the others are events that nobody waits for."""
        while True:
            while b"\n" not in self._received:
                if self._line in self._wait_for([self._line]):
                    self._receive()
            line, _, self._received = self._received.partition(b"\n")
            message: Message = json.loads(line)
            if wanted(message):
                return message

    def _receive(self) -> None:
        try:
            data = self._line.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            code = self._process.wait()
            self._listen()
            raise HostError(
                f"QEMU ended with exit status {code}; it said last: {self.last_words()}"
            )
        self._received += data

    def _wait_for(self, sources: list[socket.socket]) -> list[socket.socket]:
        """Wait for one of these, or for anything else to happen; return those that are ready."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TookTooLong(
                "the simulated guest took too long; the last lines of its console:"
                f" {self.last_words()}"
            )
        waited_for: list[socket.socket | int] = [*sources, self._console_fd, self._ended_fd]
        ready, _, _ = select.select(waited_for, [], [], left_s)
        self._listen()
        return [source for source in sources if source in ready]

    def _listen(self) -> None:
        """Take in what the console has to say; of very much, the beginning."""
        try:
            while data := os.read(self._console_fd, 1 << 16):
                self._said += data[: _MOST_CONSOLE_BYTES - len(self._said)]
        except BlockingIOError:
            pass


@contextmanager
def running(
    qemu: str,
    words: Callable[[int], Sequence[str]],
    timeout_s: float,
    inherited: Sequence[int] = (),
) -> Iterator[Emulator]:
    """Run QEMU, and end it at the end of the block.

    Parameters
    ----------
    qemu
        Its path.
    words
        Its options, given the descriptor of its end of our line to it.
    timeout_s
        How long it may take in all [s].
    inherited
        Further descriptors that it inherits.

    Raises
    ------
    CannotStart
        If it cannot be executed.
    """
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    try:
        process = subprocess.Popen(
            [qemu, *words(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=write,
            pass_fds=(theirs.fileno(), *inherited),
            process_group=0,
            preexec_fn=die_with_us,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
        )
    except OSError as error:
        ours.close()
        os.close(read)
        raise CannotStart(qemu, error.strerror or str(error)) from error
    finally:
        theirs.close()
        os.close(write)
    emulator = Emulator(process, read, ours, time.monotonic() + timeout_s)
    try:
        emulator.greet()
        yield emulator
    finally:
        emulator.close()
