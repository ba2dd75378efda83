"""What is asked of an agent: each method here has the agent call the one of that name there."""

import inspect
import os
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from copycost.errors import HostError
from copycost.hosts.cgroups import CpuGroup
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.local import LocalReader
from copycost.hosts.program import Launch, LocalProgram, Talking
from copycost.hosts.remote import messages
from copycost.hosts.remote.connection import Connection
from copycost.hosts.remote.messages import Message, Target, request
from copycost.hosts.window_edges import Reading

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate[Any, P], T]
"""Of whatever has a `_connection`, and in `_of` what the agent calls it."""


def asked(method: Method[P, T], send: Callable[..., Any] = Connection.ask) -> Method[P, T]:
    """Return the method by which something here has the agent call this one, and its answer."""
    signature = inspect.signature(method)

    @wraps(method)
    def call(self: Any, /, *words: P.args, **named: P.kwargs) -> T:  # noqa: ANN401
        given = signature.bind(self, *words, **named)
        given.apply_defaults()
        fields = {name: value for name, value in given.arguments.items() if name != "self"}
        answer: T = send(self._connection, method.__name__, self._of, **fields)
        return answer

    return call


def told(method: Method[P, None]) -> Method[P, None]:
    """Return the method by which something here has the agent call this one, without an answer."""
    return asked(method, Connection.say)


class PlannedThere(Generic[T]):
    """Two requests that an agent does by itself at the edges of a window; see `DoneHere`."""

    def __init__(self, connection: Connection, requests: Sequence[Message]) -> None:
        self._connection = connection
        self._requests = requests

    def plan(self, start_ns: int, end_ns: int) -> None:
        """Hand the requests over."""
        planned = request(messages.AT_EDGES, edges_ns=(start_ns, end_ns), requests=self._requests)
        self._answers = self._connection.begin(planned)

    def edge(self) -> None:
        """Do nothing: the agent does it by itself."""

    def edges(self) -> Sequence[T]:
        """Return what came of it; raise the first error that the agent ran into."""
        _, answers = self._connection.answer_to(self._answers, messages.AT_EDGES)
        return [messages.result_of(answer) for answer in answers]


class RemoteReader(PlannedThere[Reading]):
    """Files that an agent reads; see `LocalReader`."""

    def __init__(self, connection: Connection, paths: Sequence[str]) -> None:
        self._of = connection.new_number()
        connection.hold(self._of, "reader", paths=paths)
        super().__init__(connection, [request("read", self._of)] * 2)

    read = asked(LocalReader.read)

    def close(self) -> None:
        """Close the files."""
        self._connection.say("give_back", number=self._of)


@dataclass(frozen=True, slots=True)
class RemoteGroup(CpuGroup):
    """A control group there."""

    _connection: Connection
    _of: Target

    add = asked(CpuGroup.add)
    release = asked(CpuGroup.release)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFiles(HostFiles):
    """The files by which a kernel there describes itself; each question takes a round trip."""

    _connection: Connection
    _of: Target = messages.FILES

    text = asked(HostFiles.text)
    texts = asked(HostFiles.texts)
    lines = asked(HostFiles.lines)
    glob = asked(HostFiles.glob)


class RemoteProgram(Talking):
    """A program that an agent has started; see `LocalProgram`.

    Its lines, and its end with what it printed, are told without being asked for. Once the
    connection is lost `ended_fd` is readable, what makes it end does nothing, since the agent does
    that then, and whatever is asked of it raises `ConnectionLost`.
    """

    def __init__(self, connection: Connection, launch: Launch) -> None:
        self.launch = launch
        self.killed = False
        self._connection = connection
        self._of = connection.new_number()
        self._end: Future[Message] = Future()  # how it ended, and what it printed
        self.ended_fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._closing = threading.Lock()
        if launch.control:
            self._control, self._heard = socket.socketpair()
            self._control.setblocking(False)
        connection.listeners[self._of] = self._hear
        try:
            # should the agent be killed, nobody else would end it
            there = replace(launch, dies_with_us=True)
            self.pid: int = connection.hold(self._of, "start", launch=there)
        except (HostError, OSError):
            self._close()
            raise

    def _hear(self, news: Message) -> None:
        """Take news of it, in the connection's thread."""
        if news["event"] == "lines":
            with suppress(OSError):  # we have hung up
                self._heard.sendall("".join(f"{line}\n" for line in news["lines"]).encode())
        elif not self._end.done():
            if news["event"] == "ended":
                self._end.set_result(news)
            else:
                self._end.set_exception(self._connection.loss())
            with self._closing:
                if self.ended_fd >= 0:
                    os.eventfd_write(self.ended_fd, 1)

    say = told(LocalProgram.say)
    write_pipe = told(LocalProgram.write_pipe)
    read_pipe = asked(LocalProgram.read_pipe)
    ask = asked(LocalProgram.ask)
    file = asked(LocalProgram.file)
    file_path = asked(LocalProgram.file_path)
    child_pid = asked(LocalProgram.child_pid)
    signal = told(LocalProgram.signal)
    _hang_up = told(LocalProgram.hang_up)
    _output = asked(LocalProgram.output)
    _errors = asked(LocalProgram.errors)
    _make_end = asked(LocalProgram.end)

    def hang_up(self) -> None:
        """Close the control line."""
        if self._control is not None:
            super().hang_up()
            self._heard.close()
            self._hang_up()

    def output(self) -> str:
        """Return its stdout so far."""
        return str(self._end.result()["output"]) if self._end.done() else self._output()

    def errors(self) -> str:
        """Return its stderr so far."""
        return str(self._end.result()["errors"]) if self._end.done() else self._errors()

    def ask_at_edges(
        self, asked: str, answers: str, data: tuple[bytes, bytes], timeout_s: float
    ) -> PlannedThere[bytes | None]:
        """Return what does so at both edges of a window."""
        fields = {"asked": asked, "answers": answers, "timeout_s": timeout_s}
        requests = [request("ask", self._of, **fields, data=one) for one in data]
        return PlannedThere(self._connection, requests)

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None as long as nothing was heard of its end."""
        return self.wait(0.0)

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end, and return its exit code; None if it still runs."""
        code: int | None = None
        if wait([self._end], timeout_s).done:
            code = self._end.result()["code"]
        return code

    def end(self, timeout_s: float = 0.0) -> bool:
        """Make it end, see `LocalProgram.end`."""
        self.hang_up()
        with suppress(HostError):  # what is lost is ended there
            self.killed = self._make_end(timeout_s)
            wait([self._end])  # it is told a moment later
        return self.killed

    def close(self) -> None:
        """Give back the descriptors."""
        self._connection.say("give_back", number=self._of)
        self._close()

    def _close(self) -> None:
        self._connection.listeners.pop(self._of, None)
        self.hang_up()
        with self._closing:
            os.close(self.ended_fd)
            self.ended_fd = -1
