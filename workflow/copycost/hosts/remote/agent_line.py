"""The stream to an agent between two sessions, whoever had the last one and however it ended."""

import select
import socket
import time
from collections.abc import Sequence
from contextlib import suppress

from copycost.errors import HostError, MeasurementStopped
from copycost.hosts.remote import messages

_READ_BYTES = 1 << 16


class AgentLine:
    """A stream that sessions follow one another on; ours from now on.

    `noise` is the last line that was no message, as of a login shell.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.noise = ""
        self._asked = 0

    def answers(self, stop_fds: Sequence[int], timeout_s: float) -> bool:
        """Return whether the agent does, having taken in whatever still came for others.

        MeasurementStopped once one of `stop_fds` is readable: the run is over.
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
                data = self.line.recv(_READ_BYTES) if ready else b""
                if not data:
                    return False
                *lines, held = (held + data).split(b"\n")
                if any([self._is_answer(line) for line in lines]):
                    return True
        except OSError:
            return False
        return False

    def _is_answer(self, line: bytes) -> bool:
        try:
            return messages.message_of(line).get("id") == self._asked
        except HostError:
            self.noise = line.decode(errors="replace").strip() or self.noise
            return False

    def end_session(self) -> None:
        """Have the agent end what a session left there."""
        self._say(messages.end_line())

    def keep_alive(self) -> None:
        """Let the agent know that somebody is here."""
        self._say(b"\n")

    def _say(self, data: bytes) -> None:
        with suppress(OSError):  # who is gone is noticed by who asks next
            self.line.send(data, socket.MSG_DONTWAIT)

    def close(self) -> None:
        """Close the stream, which ends an agent that has no other."""
        self.line.close()
