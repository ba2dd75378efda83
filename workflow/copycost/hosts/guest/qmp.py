"""QEMU, and what it is told and says over its machine protocol.

Source: QEMU's documentation, "QEMU QMP Reference Manual", 7.2.
"""

import json
import select
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from copycost.errors import HostError, TookTooLong
from copycost.hosts.guest.qemu import Qemu

Message = dict[str, Any]


class Emulator(Qemu):
    """A QEMU whose control line is its machine protocol; every wait ends at one deadline."""

    def __init__(self, words: Sequence[str], timeout_s: float) -> None:
        super().__init__(words, control=True)
        self._deadline_s = time.monotonic() + timeout_s

    def tell(self, command: str, **arguments: object) -> None:
        """Have QEMU do something; HostError if it refuses, ends, or takes too long."""
        self.say(json.dumps({"execute": command, "arguments": arguments}))
        answer = self.wait_for(lambda message: "return" in message or "error" in message)
        if "error" in answer:
            raise HostError(f"QEMU refused {command}: {answer['error']['desc']}")

    def await_stop(self) -> None:
        """Wait until the guest has stopped its machine.

        HostError if it has switched it off instead, as after a failure, or takes too long.
        """
        self.wait_for(lambda message: message.get("event") == "STOP")

    def save(self, state: Path) -> None:
        """Save the state of processor and devices; the memory is a file already.

        Its usual way, a migration, has a thread of its own, which does not take turns with others.
        """
        self.tell("xen-save-devices-state", filename=str(state.resolve()))

    def load(self, state: Path) -> None:
        """Load such a state; HostError if it is of another machine, or another QEMU."""
        self.tell(
            "migrate-set-capabilities", capabilities=[{"capability": "events", "state": True}]
        )
        self.tell("migrate-incoming", uri=f"exec:cat {shlex.quote(str(state.resolve()))}")
        end = self.wait_for(
            lambda said: (
                said.get("event") == "MIGRATION"
                and said["data"]["status"] in ("completed", "failed")
            )
        )
        if end["data"]["status"] == "failed":
            raise HostError(f"QEMU cannot load {state}; it said last: {self.last_words()}")

    def last_words(self) -> str:
        """Return the last lines of the console, or the one that tells of a kernel's panic."""
        return self.first("Kernel panic") or self.last_lines()

    def wait_for(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the next message that is wanted; the others are events that nobody waits for."""
        while True:
            code = self.exit_code  # what it said before its end is read first
            if (line := self.read_line()) is not None:
                message: Message = json.loads(line)
                if wanted(message):
                    return message
            elif code is not None:
                raise HostError(
                    f"QEMU ended with exit status {code}; it said last: {self.last_words()}"
                )
            elif (left_s := self._deadline_s - time.monotonic()) <= 0:
                raise TookTooLong(
                    "the simulated guest took too long; the last lines of its console:"
                    f" {self.last_words()}"
                )
            else:
                select.select([self.control_fd, self.ended_fd], [], [], left_s)


@contextmanager
def running(words: Sequence[str], timeout_s: float) -> Iterator[Emulator]:
    """Run QEMU for so long at most, and end it at the end of the block.

    Among its words, `copycost.hosts.program.CONTROL` stands for the line of its machine protocol.
    """
    with closing(Emulator(words, timeout_s)) as emulator:
        emulator.wait_for(lambda message: "QMP" in message)
        emulator.tell("qmp_capabilities")
        yield emulator
