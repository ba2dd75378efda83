"""The agent: serves the machine that it runs on to a `RemoteHost` at the other end of a stream.

It takes nothing but the standard library, since it is sent as one file to machines that have
nothing of ours. When the stream ends, it ends all that it started, and itself. On a stream that
goes on, as a guest's serial line does, one session follows another.

One thread reads the stream and answers pings, so that neither they nor the end of the stream wait
for anything; the main thread does what is asked, in order.
"""

import argparse
import hashlib
import os
import sched
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from copycost.errors import CopycostError, HostError
from copycost.hosts.local import LocalHost
from copycost.hosts.program import LocalProgram
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Message, NotAMessage, Target

# a session's things are ended by the main thread; if that is busy for longer, all are just killed
_LONGEST_GOODBYE_S = 1.5
_READ_BYTES = 1 << 16
SILENT = 93
"""What the agent ends with where the stream was silent for too long."""
_CONSTANTS = ("SC_PAGE_SIZE", "SC_CLK_TCK", "SC_NPROCESSORS_ONLN")
# which kernel it is, and which boot of it
_KERNEL = ("osrelease", "version", "random/boot_id")
# poll(2) counts whole milliseconds: the last one before a planned moment is slept through
_POLL_GRAIN_NS = 1_000_000


class Agent:
    """Everything that one stream leads to.

    Programs that are brought here are kept in a folder, by their digest. After `silence_s` without
    a word the stream is taken for broken; None waits for ever.
    """

    def __init__(
        self, stream_in: int, stream_out: int, folder: Path, silence_s: float | None
    ) -> None:
        self._host = LocalHost()
        self._stream_in, self._stream_out = stream_in, stream_out
        self._folder = folder
        self._silence_s = silence_s
        self._is_silent = False
        self._sending = threading.Lock()  # messages of both threads go out in one piece
        # filled by the reading thread, and by signals whenever they come; None ends us
        self._inbox: deque[Message | None] = deque()
        # readable when something has come in there
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._begin_session()

    def _begin_session(self) -> None:
        # requests that are done at their times, and their answers
        self._due = sched.scheduler(lambda: time.monotonic_ns() + _POLL_GRAIN_NS)
        self._answers: list[Message] = []
        # what can be asked, by what requests call it; numbers are given by who asks
        self._things: dict[Target, Any] = {
            messages.HOST: self._host,
            messages.FILES: self._host.files,
        }
        self._blocks: dict[int, ExitStack] = {}  # of those that are to be given back
        self._running: dict[int, LocalProgram] = {}  # programs whose end has not been told

    def _end_session(self) -> None:
        """End all that was started and give everything back."""
        for program in self._programs():
            program.hang_up()
        for number in reversed([*self._blocks]):
            with suppress(CopycostError):  # nobody is there to hear of it
                self._do_give_back(number)

    def _programs(self) -> list[LocalProgram]:
        return [one for one in [*self._things.values()] if isinstance(one, LocalProgram)]

    def serve(self) -> int:
        """Serve until the stream ends, or somebody asks us to end; return our exit code."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._note(None))
        # what is to be done at the edges of a window does not wait for those that are measured
        self._host.prioritise([os.getpid()])
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while True:
                self._wait_for_news()
                with suppress(BlockingIOError):
                    os.eventfd_read(self._bell)
                for _ in range(len(self._inbox)):
                    message = self._inbox.popleft()
                    if message is None:
                        return SILENT if self._is_silent else 0
                    if message["op"] == messages.AT_EDGES:
                        self._plan(message["id"], **message["with"])
                        continue
                    answer = messages.answer_of(self._do, message)
                    if "id" in message:
                        self._send({"id": message["id"], **answer})
        finally:
            self._end_session()

    def _do(self, message: Message) -> Any:  # noqa: ANN401 - JSON
        """Do what a request asks, and return the answer, or raise what it ran into.

        What is more than a call has a method here: ``hold``, say, is ``_do_hold``.
        """
        op, fields = message["op"], message["with"]
        serve = getattr(self, f"_do_{op}", None) or getattr(self._things[message["of"]], op, None)
        if serve is None:
            raise HostError(f"the agent knows no request {op!r}; send it anew")
        return serve(**fields)

    def _plan(self, number: int, edges_ns: Sequence[int], requests: Sequence[Message]) -> None:
        """Have requests done by themselves at the edges of a window [ns, CLOCK_MONOTONIC]."""
        answers: list[Message] = []
        # what was planned first begins first and ends last
        for at_ns, request, order in zip(edges_ns, requests, (number, -number), strict=True):
            self._due.enterabs(at_ns, order, self._do_at, (at_ns, request, answers))
        self._answers.append({"id": number, "result": answers})

    def _do_at(self, at_ns: int, request: Message, answers: list[Message]) -> None:
        time.sleep(max(0, at_ns - time.monotonic_ns()) / 1e9)
        answers.append(messages.answer_of(self._do, request))

    def _do_what_is_due(self) -> int | None:
        """Do what is planned for now; return how long nothing is due then [ms], None for ever."""
        left_ns = self._due.run(blocking=False)
        if left_ns is not None:
            return int(left_ns) // _POLL_GRAIN_NS
        while self._answers:  # nothing travels before the last edge
            self._send(self._answers.pop())
        return None

    def _wait_for_news(self) -> None:
        """Wait for a request; tell meanwhile what programs say, and do what was planned."""
        while True:
            left_ms = self._do_what_is_due()
            poll = select.poll()
            poll.register(self._bell, select.POLLIN)
            for program in self._running.values():
                poll.register(program.ended_fd, select.POLLIN)
                if program.control_fd >= 0:
                    poll.register(program.control_fd, select.POLLIN)
            events = dict(poll.poll(left_ms))
            for number, program in [*self._running.items()]:
                if program.control_fd in events or program.ended_fd in events:
                    self._tell_news(number, program, events.get(program.control_fd, 0))
            if self._bell in events:
                return

    def _tell_news(self, number: int, program: LocalProgram, event: int) -> None:
        """Tell what a program has said, and its end after that."""
        code = program.exit_code
        lines = list(iter(program.read_line, None))
        if lines:
            self._send({"event": "lines", "of": number, "lines": lines})
        elif event & select.POLLHUP:
            program.hang_up()
        if code is not None:
            del self._running[number]
            printed = {"output": program.output(), "errors": program.errors()}
            self._send({"event": "ended", "of": number, "code": code, **printed})

    def _do_open(self) -> Message:
        """Begin a session, an earlier one being over; return what everybody asks of a host."""
        self._do_end_session()
        host = self._host
        return {
            "about": host.about,
            "constants": {name: host.constant(name) for name in _CONSTANTS},
            "usable_cpus": host.usable_cpus(),
            "kernel": {name: host.files.text(f"proc/sys/kernel/{name}") for name in _KERNEL},
        }

    def _do_end_session(self) -> None:
        self._end_session()
        self._begin_session()

    def _do_hold(self, number: int, what: str, fields: dict[str, Any]) -> object:
        """Keep what a method of the host returns, or its block gives; return what is told of it."""
        if what == "lock":
            # whoever asked for it says nothing before it has it, unless to call it off
            fields = {**fields, "parent_fds": [self._bell]}
        found = getattr(self._host, what)(**fields)
        is_block = isinstance(found, AbstractContextManager)
        block = ExitStack()
        held = block.enter_context(found if is_block else closing(found))
        self._things[number], self._blocks[number] = held, block
        if isinstance(held, LocalProgram):
            block.callback(held.end)
            self._running[number] = held
            return held.pid
        return held if is_dataclass(held) else None

    def _do_give_back(self, number: int) -> None:
        del self._things[number]
        self._running.pop(number, None)
        self._blocks.pop(number).close()

    def _do_bring(self, digest: str, name: str, data: bytes | None) -> str | None:
        """Keep a program that is brought here; it appears whole or not at all.

        Without data, return where one is that was brought earlier; None if there is none.
        """
        path = self._folder.absolute() / digest[:16] / Path(name).name
        if data is None:
            return str(path) if path.exists() else None
        if hashlib.sha256(data).hexdigest() != digest:
            raise HostError(f"{name}: came to {path} damaged; run again")
        half = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            half.write_bytes(data)
            half.chmod(0o755)
            half.replace(path)
        except OSError:
            with suppress(OSError):
                half.unlink()
            raise
        return str(path)

    def _send(self, message: Message) -> None:
        """Send a message; that nobody is there any more is noticed where we read."""
        rest = memoryview(messages.as_line(message))
        with self._sending, suppress(OSError):
            while rest:
                rest = rest[os.write(self._stream_out, rest) :]

    def _read(self) -> None:
        """Read the stream to its end, or until it is silent for too long; in a thread of its own.

        Then the main thread ends everything; if it is busy for too long, kill it all.
        """
        held = b""
        with suppress(OSError):
            while True:
                ready, _, _ = select.select([self._stream_in], [], [], self._silence_s)
                self._is_silent = not ready
                if not ready or not (data := os.read(self._stream_in, _READ_BYTES)):
                    break
                *lines, held = (held + data).split(b"\n")
                for line in lines:
                    self._take(line)
        self._note(None)
        time.sleep(_LONGEST_GOODBYE_S)
        for program in self._programs():
            program.kill()
        os.killpg(0, signal.SIGKILL)

    def _take(self, line: bytes) -> None:
        # what is no message is the rest of one that a killed run left: it is over
        with suppress(NotAMessage):
            message = messages.message_of(line)
            if message["op"] == messages.PING:
                self._send({"id": message["id"], "result": self._host.clock_ns()})
            else:
                self._note(message)

    def _note(self, message: Message | None) -> None:
        self._inbox.append(message)
        os.eventfd_write(self._bell, 1)


def main() -> int:
    """Serve this machine over a stream, which is standard input and output."""
    parser = argparse.ArgumentParser(prog="copycost-agent", description=main.__doc__)
    add = parser.add_argument
    add("--programs", type=Path, required=True, metavar="DIR", help="keeps programs")
    add("--silence", type=float, metavar="S", help="end after so long without a word")
    options = parser.parse_args()
    stream_in, stream_out = os.dup(0), os.dup(1)
    # whatever prints by mistake, and programs that read, must not meddle with the stream
    os.dup2(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), 0)
    os.dup2(2, 1)
    # a process group of our own, which short commands belong to
    with suppress(PermissionError):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return Agent(stream_in, stream_out, options.programs, options.silence).serve()


if __name__ == "__main__":
    sys.exit(main())
