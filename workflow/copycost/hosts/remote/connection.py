"""Our end of the stream to an agent: requests and their answers, and news as they come.

A thread of its own reads the stream, so that a program's end or its line over there makes a
descriptor readable here while we wait for something else. Between the edges of a window nothing
comes, and it sleeps. Because of it, no user namespace can be entered any more by a process that has
a connection: enter first.
"""

import os
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from typing import Any

from copycost.errors import HostError
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import HOST, Message, NotAMessage, Target, request

# how long an agent may take to answer what takes it no time, on a slow and busy machine [s]
PATIENCE_S = 20.0
_READ_BYTES = 1 << 16
# what the other end said before it closed the stream is read within that time
_LAST_WORDS_S = 1.0

Answer = Future[tuple[int, Message]]
"""When an answer came [ns, CLOCK_MONOTONIC of ours], and the answer."""


class ConnectionLost(HostError):
    """The stream to an agent ended, or what comes on it is none of an agent's."""


class Connection:
    """A session with an agent, of which `introduction` is what it said of its host.

    `lost` is why there is none any more, None while there is one. `listeners` are told news of the
    programs with their numbers, in the reading thread, and when the connection is lost. Parameters
    and errors are those of `RemoteHost`.
    """

    def __init__(self, stream: int, name: str, patience_s: float, keep_alive_s: float) -> None:
        self.name = name
        self.lost: str | None = None
        self.listeners: dict[int, Callable[[Message], None]] = {}
        self._line = socket.socket(fileno=stream)
        self._line.settimeout(patience_s)  # so that a stream which is stuck is noticed
        self._patience_s = patience_s
        self._keep_alive_s = keep_alive_s
        self._is_lost = threading.Event()
        self._losing, self._writing = threading.Lock(), threading.Lock()
        self._questions: dict[int, Answer] = {}
        self._opening = secrets.randbits(48) << 12  # nobody else's number, see `messages`
        self._numbers, self._things = count(self._opening), count(1)
        self._opened = False
        self._stop = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        try:
            self._write(b"\n")  # ends what a killed run may have left of a line
            self.introduction: Message = self.ask(messages.OPEN)
        except HostError:
            self.close()
            raise

    def ask(  # an answer is whatever JSON holds
        self, op: str, of: Target = HOST, **fields: object
    ) -> Any:  # noqa: ANN401
        """Ask for something, which may take its ``timeout_s`` there besides; return the answer.

        ConnectionLost if no answer comes in time; then there is none to any other question either.
        Other errors are those that the agent ran into.
        """
        return self.ask_timed(request(op, of, **fields))[1]

    def ask_timed(self, asked: Message) -> tuple[int, Any]:
        """Do the same, and return when the answer came too [ns, CLOCK_MONOTONIC of ours]."""
        return self.answer_to(self.begin(asked), asked["op"], asked["with"].get("timeout_s", 0.0))

    def answer_to(self, question: Answer, op: str, timeout_s: float = 0.0) -> tuple[int, Any]:
        """Wait for an answer; return when it came, and what it is."""
        limit_s = self._patience_s + timeout_s
        try:
            at_ns, answer = question.result(limit_s)
        except TimeoutError:
            self._lose(f"did not answer within {limit_s:g} s ({op})")
            at_ns, answer = question.result()
        return at_ns, messages.result_of(answer)

    def begin(self, asked: Message) -> Answer:
        """Ask for something whose answer, or ConnectionLost, is waited for later."""
        number = next(self._numbers)
        question = self._questions[number] = Answer()
        self._write(messages.as_line({"id": number, **asked}))
        return question

    def say(self, op: str, of: Target = HOST, **fields: object) -> None:
        """Ask for something that has no answer; a connection that is lost is noticed elsewhere."""
        with suppress(ConnectionLost):
            self._write(messages.as_line(request(op, of, **fields)))

    def new_number(self) -> int:
        """Return a number for something that is made there: a program, a reader, a plan."""
        return next(self._things)

    def hold(self, number: int, what: str, **fields: object) -> Any:  # noqa: ANN401
        """Have the agent keep what a method of its host gives; return what is told of it."""
        return self.ask("hold", number=number, what=what, fields=fields)

    def give_back(self, number: int) -> None:
        """Have it given back; once the connection is lost the agent does that by itself."""
        if self.lost is None:
            self.ask("give_back", number=number)

    def loss(self) -> ConnectionLost:
        """Return what to raise once there is no connection any more."""
        return ConnectionLost(
            f"the connection to {self.name} {self.lost}; see that it runs, then run again"
        )

    def close(self) -> None:
        """End the session, and all that it started there; then the stream."""
        if self.lost is None:
            with suppress(HostError, OSError):
                self.ask(messages.END)
        self._lose("has been closed")
        os.eventfd_write(self._stop, 1)
        self._thread.join()
        self._line.close()
        os.close(self._stop)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._writing:
            try:
                while rest and self.lost is None:
                    rest = rest[self._line.send(rest) :]
            except TimeoutError:
                self._lose(f"took nothing for {self._patience_s:g} s")
            except OSError as error:
                self._is_lost.wait(_LAST_WORDS_S)  # what was read last may say why
                self._lose(f"broke ({error.strerror})")
            if self.lost is not None:
                raise self.loss()

    def _read(self) -> None:
        """Hand on what comes, until the stream ends; in a thread of its own."""
        fd, held = self._line.fileno(), b""
        speak_s = time.monotonic() + self._keep_alive_s
        while True:
            left_s = max(0.0, speak_s - time.monotonic())
            ready, _, _ = select.select([fd, self._stop], [], [], left_s)
            if self._stop in ready:
                return
            if time.monotonic() >= speak_s:  # the agent hears that we are there
                speak_s += self._keep_alive_s
                with suppress(ConnectionLost):
                    self._write(b"\n")
            if not ready:
                continue
            try:
                data = self._line.recv(_READ_BYTES)
            except ConnectionResetError:  # an end with something left unread there
                data = b""
            except OSError as error:
                return self._lose(f"broke ({error.strerror})")
            at_ns = time.monotonic_ns()
            if not data:
                return self._lose("ended")
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                try:
                    self._take(messages.message_of(line), at_ns)
                except NotAMessage as error:
                    if self._opened:  # else a login shell says it
                        return self._lose(f"brings {error}")

    def _take(self, message: Message, at_ns: int) -> None:
        """Hand a message on; what comes before the session is opened is of an earlier one."""
        number = message.get("id")
        self._opened = self._opened or number == self._opening
        if not self._opened:
            return
        if number is None:
            listener = self.listeners.get(message["of"])
            if listener is not None:
                listener(message)
        elif (question := self._questions.pop(number, None)) is not None:
            question.set_result((at_ns, message))

    def _lose(self, how: str) -> None:
        """Note that there is no connection any more, and tell everybody."""
        with self._losing:
            if self.lost is not None:
                return
            self.lost = how
        self._is_lost.set()
        for number in [*self._questions]:
            if (question := self._questions.pop(number, None)) is not None:
                question.set_exception(self.loss())
        for listener in [*self.listeners.values()]:
            listener({"event": "lost"})
