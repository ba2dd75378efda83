"""Our end of the stream to an agent: requests and their answers, and news as they come.

A thread of its own reads the stream, so that a program's end or its line over there makes a
descriptor readable here while we wait for something else. Between the edges of a window nothing
comes, and it sleeps. Because of it, no user namespace can be entered any more by a process that has
a connection: enter first.
"""

import os
import secrets
import select
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from copycost.errors import HostError
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import HOST, Message, NotAMessage, Target, request

# how long an agent may take to answer what takes it no time, on a slow and busy machine [s]
PATIENCE_S = 20.0
# a pipe that poll(2) calls writable takes so much at once (pipe(7), PIPE_BUF)
_PIECE_BYTES = 4096
_READ_BYTES = 1 << 16
# what the other end said before it closed the stream is read within that time
_LAST_WORDS_S = 1.0

Answer = Future[tuple[int, Message]]
"""When an answer came [ns, CLOCK_MONOTONIC of ours], and the answer."""


class ConnectionLost(HostError):
    """The stream to an agent ended, or what comes on it is none of an agent's."""


class Connection:
    """A session with an agent, of which `introduction` is what it said of its host.

    `lost` is why there is none any more, None while there is one. Parameters and errors are those
    of `RemoteHost`.
    """

    def __init__(
        self,
        stream: int,
        name: str,
        patience_s: float = PATIENCE_S,
        keep_alive_s: float | None = None,
    ) -> None:
        self.name = name
        self.lost: str | None = None
        self._stream = stream
        self._patience_s = patience_s
        self._keep_alive_s = keep_alive_s
        self._spoke_s = time.monotonic()
        self._is_lost = threading.Event()
        # of questions and listeners, and of the stream
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._questions: dict[int, Answer] = {}
        self._listeners: dict[int, Callable[[Message], None]] = {}
        # nobody else's number, see `messages`
        self._opening = self._number = secrets.randbits(48) << 12
        self._last_thing = 0
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
        question = self.begin(asked)
        limit_s = self._patience_s + asked["with"].get("timeout_s", 0.0)
        try:
            at_ns, answer = question.result(limit_s)
        except TimeoutError:
            self._lose(f"did not answer within {limit_s:g} s ({asked['op']})")
            at_ns, answer = question.result()
        return at_ns, messages.result_of(answer)

    def begin(self, asked: Message) -> Answer:
        """Ask for something whose answer, or ConnectionLost, is waited for later."""
        with self._lock:
            self._number += 1
            number = self._number
            if asked["op"] == messages.OPEN:
                self._opening = number
            question: Answer = Future()
            self._questions[number] = question
        self._write(messages.as_line({"id": number, **asked}))
        return question

    def say(self, op: str, of: Target = HOST, **fields: object) -> None:
        """Ask for something that has no answer; a connection that is lost is noticed elsewhere."""
        with suppress(ConnectionLost):
            self._write(messages.as_line(request(op, of, **fields)))

    def new_number(self) -> int:
        """Return a number for something that is made there: a program, a reader, a plan."""
        self._last_thing += 1
        return self._last_thing

    def hold(self, what: str, **fields: object) -> tuple[int, Any]:
        """Have the agent keep what a method of its host gives; return its number, and its facts."""
        number = self.new_number()
        return number, self.ask("hold", number=number, what=what, fields=fields)

    def give_back(self, number: int) -> None:
        """Have it given back; once the connection is lost the agent does that by itself."""
        if self.lost is None:
            self.ask("give_back", number=number)

    def listen(self, number: int, listener: Callable[[Message], None]) -> None:
        """Have news of a program told to somebody, in the reading thread."""
        with self._lock:
            self._listeners[number] = listener

    def forget(self, number: int) -> None:
        """Tell nobody any more."""
        with self._lock:
            self._listeners.pop(number, None)

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
        os.close(self._stream)
        os.close(self._stop)

    # -- the stream -------------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        """Write in pieces that do not block, so that a stream which is stuck is noticed."""
        rest = memoryview(data)
        with self._writing:
            self._spoke_s = time.monotonic()
            while rest:
                if self.lost is not None:
                    raise self.loss()
                try:
                    if select.select([], [self._stream], [], self._patience_s)[1]:
                        rest = rest[os.write(self._stream, rest[:_PIECE_BYTES]) :]
                    else:
                        self._lose(f"took nothing for {self._patience_s:g} s")
                except OSError as error:
                    self._is_lost.wait(_LAST_WORDS_S)  # what was read last may say why
                    self._lose(f"broke ({error.strerror})")

    def _read(self) -> None:
        """Hand on what comes, until the stream ends; in a thread of its own."""
        fd = self._stream
        held = b""
        while True:
            ready, _, _ = select.select([fd, self._stop], [], [], self._keep_alive_s_left())
            if self._stop in ready:
                return
            if fd not in ready:
                continue
            try:
                data = os.read(fd, _READ_BYTES)
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
            if len(held) > messages.LONGEST_LINE_BYTES:
                return self._lose("brings a line without an end")

    def _keep_alive_s_left(self) -> float | None:
        """Let the agent know that we are there, if it is time; return when it is again [s]."""
        if self._keep_alive_s is None:
            return None
        if time.monotonic() >= self._spoke_s + self._keep_alive_s:
            with suppress(ConnectionLost):
                self._write(b"\n")
        return max(0.0, self._spoke_s + self._keep_alive_s - time.monotonic())

    def _take(self, message: Message, at_ns: int) -> None:
        """Hand a message on; what comes before the session is opened is of an earlier one."""
        number = message.get("id")
        self._opened = self._opened or number == self._opening
        if not self._opened:
            return
        with self._lock:
            question = None if number is None else self._questions.pop(number, None)
            listener = self._listeners.get(message.get("of", 0)) if number is None else None
        if question is not None:
            question.set_result((at_ns, message))
        if listener is not None:
            listener(message)

    def _lose(self, how: str) -> None:
        """Note that there is no connection any more, and tell everybody."""
        with self._lock:
            if self.lost is not None:
                return
            self.lost = how
            questions = [self._questions.pop(number) for number in [*self._questions]]
            listeners = list(self._listeners.values())
        self._is_lost.set()
        for question in questions:
            question.set_exception(self.loss())
        for listener in listeners:
            listener({"event": "lost"})
