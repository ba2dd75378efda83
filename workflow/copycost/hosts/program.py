"""A program: what is to be started on whatever host, and one that runs on this machine.

A launch is plain data, so that it means the same on a host that is a line of text away. Words name
descriptors that exist only once the program is started there: ``{control}``, ``{file:NAME}``,
``{pipe:NAME:read}``, ``{pipe:NAME:write}``.
"""

import ctypes
import os
import re
import select
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from copycost.errors import CannotStart, HostError
from copycost.hosts.processes import parent_of
from copycost.hosts.window_edges import DoneHere

_READ_BYTES = 1 << 16  # of a pipe: all that it holds
# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_NAME = re.compile(r"\{[\w:]+\}")

CONTROL = "{control}"
"""Stands for the program's end of its control line."""


def file_word(name: str) -> str:
    """Return the word that stands for a memory file of the launch."""
    return f"{{file:{name}}}"


def pipe_word(name: str, end: str) -> str:
    """Return the word that stands for one end, ``read`` or ``write``, of a pipe of the launch."""
    return f"{{pipe:{name}:{end}}}"


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that is to be started."""

    # the program and its options; names of descriptors may stand within them
    words: tuple[str, ...]
    program: str  # path of what is meant to run, which some wrapper among the words starts
    # Whether it gets a control line: a socket for lines of text in both ways. Our end is closed to
    # ask it to end.
    control: bool = False
    # names of memory files that it may write, besides its stdout and stderr
    files: tuple[str, ...] = ()
    pipes: tuple[str, ...] = ()  # names of pipes; the ends that no word names are ours
    output: str | None = None  # the pipe that its stdout goes to, else a memory file
    cpus: frozenset[int] | None = None  # CPUs that it may run on; None leaves that to the program
    # whether it gets a signal when its starter ends; else it has to notice by its control line
    dies_with_us: bool = False


class Talking:
    """What has a control line, or none: `_control` is our end, which never blocks."""

    _control: socket.socket | None = None
    _received = b""

    @property
    def control_fd(self) -> int:
        """A descriptor that is readable when a line has come in; -1 without a control line."""
        return -1 if self._control is None else self._control.fileno()

    def read_line(self) -> str | None:
        """Return the next line that has come in on the control line, or None if none has."""
        if b"\n" not in self._received and self._control is not None:
            with suppress(BlockingIOError, ConnectionError):
                self._received += self._control.recv(_READ_BYTES)
        line, newline, rest = self._received.partition(b"\n")
        if not newline:
            return None
        self._received = rest
        return line.decode(errors="replace")

    def hang_up(self) -> None:
        """Close the control line, by which a program is asked to end."""
        if self._control is not None:
            self._control.close()
            self._control = None


class LocalProgram(Talking):
    """A program on this machine; what it prints goes to memory files.

    Unlike pipes they never fill up, and unlike files they need no cleaning up. It leads a process
    group of its own, so that Ctrl-C reaches only us, who end the group. It holds the `inherited`
    descriptors besides, such as those of locks.
    """

    def __init__(self, launch: Launch, inherited: Sequence[int] = ()) -> None:
        self.launch = launch
        self.killed = False
        self._memory = {name: os.memfd_create(name) for name in ("stdout", "stderr", *launch.files)}
        names = {file_word(name): self._memory[name] for name in launch.files}
        self._pipes: dict[str, int] = {}  # by their words
        for name in launch.pipes:
            read, write = os.pipe()
            self._pipes |= {pipe_word(name, "read"): read, pipe_word(name, "write"): write}
        names |= self._pipes
        if launch.control:
            self._control, theirs = socket.socketpair()
            self._control.setblocking(False)
            names[CONTROL] = theirs.detach()
        used = {names[one] for word in launch.words for one in _NAME.findall(word) if one in names}
        stdout = self._memory["stdout"]
        if launch.output is not None:
            stdout = self._pipes[pipe_word(launch.output, "write")]
            used.add(stdout)

        def prepare() -> None:  # between fork and exec
            if launch.dies_with_us:
                _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # of the thread that started it
            if launch.cpus is not None:
                os.sched_setaffinity(0, launch.cpus)

        try:
            self._process = subprocess.Popen(
                [_NAME.sub(lambda it: str(names.get(it[0], it[0])), one) for one in launch.words],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=self._memory["stderr"],
                pass_fds=(*used, *inherited),
                process_group=0,
                preexec_fn=prepare if launch.dies_with_us or launch.cpus is not None else None,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            self._close_all()
            path = error.filename or launch.words[0]
            raise CannotStart(path, error.strerror or str(error)) from error
        finally:
            if launch.control:
                os.close(names[CONTROL])
        self.pid = self._process.pid  # that of the wrapper, if one runs it
        self.ended_fd = os.pidfd_open(self.pid)
        for word, fd in list(self._pipes.items()):  # the other ends are ours
            if fd in used:
                os.close(self._pipes.pop(word))

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None as long as it runs.

        Its process is waited for only by `end`: until then its group's number is nobody else's.
        """
        if self._process.returncode is not None:
            return self._process.returncode
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def say(self, line: str) -> None:
        """Send a line on the control line; that it may just have died is noticed elsewhere."""
        if self._control is not None:
            with suppress(ConnectionError):
                self._control.send(line.encode() + b"\n")

    def output(self) -> str:
        """Return its stdout so far."""
        return self.file("stdout")

    def errors(self) -> str:
        """Return its stderr so far."""
        return self.file("stderr")

    def file(self, name: str) -> str:
        """Return what a memory file of the launch holds so far."""
        fd = self._memory[name]
        return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")

    def file_path(self, name: str) -> str:
        """Return a path at which other programs on that host can read a memory file."""
        return f"/proc/{os.getpid()}/fd/{self._memory[name]}"

    def write_pipe(self, name: str, data: bytes) -> None:
        """Write to a pipe whose write end is ours; a reader that is gone is noticed elsewhere."""
        with suppress(BrokenPipeError):
            os.write(self._pipes[pipe_word(name, "write")], data)

    def read_pipe(self, name: str, timeout_s: float) -> bytes | None:
        """Return what comes in on a pipe whose read end is ours, None if nothing does in time."""
        fd = self._pipes[pipe_word(name, "read")]
        ready, _, _ = select.select([fd], [], [], timeout_s)
        return os.read(fd, _READ_BYTES) if ready else None

    def ask(self, asked: str, answers: str, data: bytes, timeout_s: float) -> bytes | None:
        """Write to one pipe and return what comes in on another.

        None if nothing does in time, or before the program ends.
        """
        self.write_pipe(asked, data)
        fd = self._pipes[pipe_word(answers, "read")]
        ready, _, _ = select.select([fd, self.ended_fd], [], [], timeout_s)
        return os.read(fd, _READ_BYTES) if fd in ready else None

    def ask_at_edges(
        self, asked: str, answers: str, data: tuple[bytes, bytes], timeout_s: float
    ) -> DoneHere[bytes | None]:
        """Return what does so at both edges of a window."""
        return DoneHere([partial(self.ask, asked, answers, one, timeout_s) for one in data])

    def child_pid(self) -> int:
        """Return the process that it runs as a wrapper; HostError if there is none any more."""
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # many a process ends before we look at it
                if parent_of(int(entry.name)) == self.pid:
                    return int(entry.name)
        raise HostError(f"{self.launch.words[0]} runs no program any more; run again")

    def signal(self, number: int) -> None:
        """Send it a signal; one that has ended gets none."""
        if self._process.returncode is None:
            os.kill(self.pid, number)

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end, and return its exit code; None if it still runs."""
        select.select([self.ended_fd], [], [], timeout_s)
        return self.exit_code

    def end(self, timeout_s: float = 0.0) -> bool:
        """Make it end, and all that it started: ask by hanging up, kill what still runs then.

        Return whether it was killed. The group is killed in any case, since a wrapper may have
        ended while the program below it has not; and before its leader is waited for, as long as
        nobody else can have its number.
        """
        if self._process.returncode is None:  # else its number may by now be another's
            self.hang_up()
            ended, _, _ = select.select([self.ended_fd], [], [], timeout_s)
            self.killed = not ended
            self.kill()
            self._process.wait()
        return self.killed

    def kill(self) -> None:
        """Kill all of its process group at once."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give back the descriptors, and its process if it has ended."""
        self._process.poll()
        os.close(self.ended_fd)
        self._close_all()

    def _close_all(self) -> None:
        self.hang_up()
        for fd in (*self._memory.values(), *self._pipes.values()):
            os.close(fd)
