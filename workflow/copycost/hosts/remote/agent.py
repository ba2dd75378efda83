"""The agent: serves the machine that it runs on to a `RemoteHost` at the other end of a stream.

It takes nothing but the standard library, since it is sent as one file to machines that have
nothing of ours. When the stream ends, it ends all that it started, and itself. On a stream that
goes on, as a guest's serial line does, one session follows another.

One thread reads the stream and answers pings, so that neither they nor the end of the stream wait
for anything; the main thread does what is asked, in order.
"""

import argparse
import os
import select
import signal
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from copycost.hosts.local import LocalHost
from copycost.hosts.parent import parent_of
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Message, NotAMessage
from copycost.hosts.remote.service import Line, Service, introduction

# a session's things are ended by the main thread; if that is busy for longer, all are just killed
_LONGEST_GOODBYE_S = 1.5
_READ_BYTES = 1 << 16


class Agent:
    """Everything that one stream leads to.

    Programs that are brought here are kept in a folder, by their digest. After `silence_s` without
    a word the stream is taken for broken; None waits for ever.
    """

    def __init__(
        self,
        host: LocalHost,
        stream_in: int,
        stream_out: int,
        programs: Path,
        silence_s: float | None = None,
    ) -> None:
        self._host = host
        self._stream = stream_in
        self._silence_s = silence_s
        self._line = Line(stream_out)
        self._programs = programs
        # filled by another thread, and by signals whenever they come
        self._inbox: deque[Message | None] = deque()
        self._is_silent = False
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._service = Service(host, self._line, programs, self._bell)

    def serve(self) -> None:
        """Serve until the stream ends, or somebody asks us to end."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._tell(None))
        # what is to be done at the edges of a window does not wait for those that are measured
        self._host.prioritise([os.getpid()])
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while True:
                self._service.wait_for_news()
                with suppress(BlockingIOError):
                    os.eventfd_read(self._bell)
                for _ in range(len(self._inbox)):
                    message = self._inbox.popleft()
                    if message is None:
                        return
                    answer = messages.answer_of(self._result_of, message)
                    if "id" in message:
                        self._line.send({"id": message["id"], **answer})
        finally:
            self._service.close()
            self._end_ssh_session()

    def _result_of(self, message: Message) -> Any:  # noqa: ANN401 - JSON
        if message["op"] not in (messages.OPEN, messages.END):
            return self._service.do(message)
        self._service.close()
        self._service = Service(self._host, self._line, self._programs, self._bell)
        return introduction(self._host) if message["op"] == messages.OPEN else None

    def _read(self) -> None:
        """Read the stream to its end, or until it is silent for too long; in a thread of its own.

        Then the main thread ends everything; if it is busy for too long, kill it all.
        """
        held = b""
        with suppress(OSError):
            while True:
                ready, _, _ = select.select([self._stream], [], [], self._silence_s)
                self._is_silent = not ready
                if not ready or not (data := os.read(self._stream, _READ_BYTES)):
                    break
                *lines, held = (held + data).split(b"\n")
                for line in lines:
                    self._take(line)
        self._tell(None)
        time.sleep(_LONGEST_GOODBYE_S)
        self._service.kill()
        self._end_ssh_session()
        os.killpg(0, signal.SIGKILL)

    def _take(self, line: bytes) -> None:
        # what is no message is the rest of one that a killed run left: it is over
        with suppress(NotAMessage):
            message = messages.message_of(line)
            if message["op"] == messages.PING:
                self._line.send({"id": message["id"], "result": self._host.clock_ns()})
            else:
                self._tell(message)

    def _end_ssh_session(self) -> None:
        """End the sshd of a link that is broken: else it waits for many minutes for TCP to give up.

        It is our own session's, since the one that listens is no child of another sshd.
        """
        if not self._is_silent:
            return
        with suppress(OSError):
            pid = os.getppid()
            while pid > 1 and not _is_sshd(pid):
                pid = parent_of(pid)
            if pid > 1 and _is_sshd(parent_of(pid)):
                os.kill(pid, signal.SIGTERM)

    def _tell(self, message: Message | None) -> None:
        self._inbox.append(message)
        os.eventfd_write(self._bell, 1)


def _is_sshd(pid: int) -> bool:
    """Return whether a process is sshd; since OpenSSH 9.8 a session's is called sshd-session."""
    return Path(f"/proc/{pid}/comm").read_text().startswith("sshd")


def main(arguments: list[str] | None = None) -> int:
    """Serve this machine over a stream: standard input and output, or one file for both."""
    parser = argparse.ArgumentParser(prog="copycost-agent", description=main.__doc__)
    add = parser.add_argument
    add("--stream", type=Path, metavar="FILE", help="a serial line, say")
    add("--programs", type=Path, required=True, metavar="DIR", help="keeps programs")
    add("--silence", type=float, metavar="S", help="end after so long without a word")
    options = parser.parse_args(arguments)
    if options.stream is None:
        stream_in, stream_out = os.dup(0), os.dup(1)
    else:
        stream_in = stream_out = os.open(options.stream, os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    # whatever prints by mistake, and programs that read, must not meddle with the stream
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    # a process group of our own, which short commands belong to
    with suppress(PermissionError):
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Agent(LocalHost(), stream_in, stream_out, options.programs, options.silence).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
