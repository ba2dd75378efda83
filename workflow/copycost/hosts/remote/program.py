"""A program on a host that a stream leads to."""

import os
import threading
from collections import deque
from contextlib import suppress

from copycost.errors import HostError
from copycost.hosts.launch import Launch
from copycost.hosts.program import LocalProgram
from copycost.hosts.remote.calls import PlannedThere, asked, told
from copycost.hosts.remote.connection import Connection
from copycost.hosts.remote.messages import Message, request


class RemoteProgram:
    """A program that an agent has started; see `LocalProgram`.

    Its lines, and its end with what it printed, are told without being asked for. Once the
    connection is lost `ended_fd` is readable, what makes it end does nothing, since the agent does
    that then, and whatever is asked of it raises `ConnectionLost`.
    """

    def __init__(self, connection: Connection, number: int, launch: Launch) -> None:
        self.launch = launch
        self.killed = False
        self._connection = connection
        self._of = number
        self._lines: deque[str] = deque()
        self._left: Message | None = None
        self._is_over = False
        self._is_ended = False
        self._changed = threading.Condition()
        self.ended_fd = _new_eventfd()
        self._line_fd = _new_eventfd() if launch.control else -1
        connection.listen(number, self._hear)
        try:
            started = connection.ask("start", number=number, launch=launch)
        except (HostError, OSError):
            self._close()
            raise
        self.pid: int = started["pid"]
        self._paths: dict[str, str] = started["paths"]

    def _hear(self, message: Message) -> None:
        """Take news of it, in the connection's thread."""
        with self._changed:
            if self.ended_fd < 0:
                return
            if message["event"] == "lines":
                if self._line_fd >= 0:
                    self._lines.extend(message["lines"])
                    os.eventfd_write(self._line_fd, 1)
                return
            if message["event"] == "ended":
                self._left = message
            self._is_over = True
            os.eventfd_write(self.ended_fd, 1)
            self._changed.notify_all()

    @property
    def control_fd(self) -> int:
        """A descriptor that is readable when a line has come in; -1 without a control line."""
        return self._line_fd

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None as long as nothing was heard of its end."""
        return self.wait(0.0)

    def read_line(self) -> str | None:
        """Return the next line that has come in on the control line, or None if none has."""
        with self._changed:
            if self._lines:
                return self._lines.popleft()
            if self._line_fd >= 0:
                with suppress(BlockingIOError):
                    os.eventfd_read(self._line_fd)
            return None

    say = told(LocalProgram.say)
    write_pipe = told(LocalProgram.write_pipe)
    read_pipe = asked(LocalProgram.read_pipe)
    ask = asked(LocalProgram.ask)
    child_pid = asked(LocalProgram.child_pid)
    signal = told(LocalProgram.signal)
    _output = asked(LocalProgram.output)
    _errors = asked(LocalProgram.errors)
    _file = asked(LocalProgram.file)
    _hang_up = told(LocalProgram.hang_up)

    def hang_up(self) -> None:
        """Close the control line."""
        with self._changed:
            fd, self._line_fd = self._line_fd, -1
        if fd >= 0:
            os.close(fd)
            self._hang_up()

    def output(self) -> str:
        """Return its stdout so far."""
        return self._output() if self._left is None else str(self._left["output"])

    def errors(self) -> str:
        """Return its stderr so far."""
        return self._errors() if self._left is None else str(self._left["errors"])

    def file(self, name: str) -> str:
        """Return what a memory file of the launch holds so far."""
        if self._left is not None and name in self._left["files"]:
            return str(self._left["files"][name])
        return self._file(name)

    def file_path(self, name: str) -> str:
        """Return a path at which other programs there can read a memory file."""
        return self._paths[name]

    def ask_at_edges(
        self, asked: str, answers: str, data: tuple[bytes, bytes], timeout_s: float
    ) -> PlannedThere[bytes | None]:
        """Return what does so at both edges of a window."""
        fields = {"asked": asked, "answers": answers, "timeout_s": timeout_s}
        requests = [request("ask", self._of, **fields, data=one) for one in data]
        return PlannedThere(self._connection, requests)

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end, and return its exit code; None if it still runs."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over, timeout_s)
            if self._left is not None:
                code: int = self._left["code"]
                return code
        if self._is_over:
            raise self._connection.loss()
        return None

    def end(self, grace_s: float = 0.0) -> None:
        """Make it end, and all that it started: ask by hanging up, kill what still runs then."""
        if self._is_ended:
            return
        self._is_ended = True
        self.hang_up()
        with suppress(HostError):  # what is lost is ended there
            left = self._connection.ask("finish", takes_s=grace_s, number=self._of, grace_s=grace_s)
            self.killed = self.killed or left["killed"]
            with self._changed:
                self._left = left
                self._is_over = True
                os.eventfd_write(self.ended_fd, 1)

    def close(self) -> None:
        """Give back the descriptors."""
        self._connection.say("give_back", number=self._of)
        self._close()

    def _close(self) -> None:
        self._connection.forget(self._of)
        self.hang_up()
        with self._changed:
            os.close(self.ended_fd)
            self.ended_fd = -1


def _new_eventfd() -> int:
    return os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
