"""One side of a stream: a program under perf, its control line, and what it left when it ended."""

import os
import select
import signal
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from copycost.errors import HostError
from copycost.hosts.parent import parent_of
from copycost.perf.command import ControlPipes, PerfPlan, perf_command
from copycost.testbeds.testbed import Testbed

SideName = Literal["sender", "receiver"]

# exit codes of the programs (`--help` states them)
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 77
_SIGNALS = {signal.strsignal(number): number for number in signal.valid_signals()}
# what perf itself says on stderr each time it is switched
_PERF_CHATTER = ("Events enabled", "Events disabled")


class PerfUnusable(HostError):
    """perf could not be started around a program, or gave up before it."""


@dataclass(slots=True)
class Side:
    """A running side.

    Attributes
    ----------
    program : str
        Path of the program.
    under_perf : bool
        perf is between us and the program.
    killed : bool
        It had to be killed by `end`.
    process : Popen
        perf with the program below it, or the program alone; leads a process group of its own, so
        that Ctrl-C reaches only the orchestrator, which ends the group.
    control : socket
        Our end of the control line. Closing it makes the program end at once.
    pidfd : int
        Readable once the process has ended, see pidfd_open(2).
    output_fd, error_fd, perf_fd : int
        Memory files with the program's stdout, with stderr, and with perf's counts. Unlike pipes
        they never fill up, and unlike files they need no cleaning up.
    """

    name: SideName
    program: str
    process: subprocess.Popen[bytes]
    control: socket.socket
    pidfd: int
    output_fd: int
    error_fd: int
    perf_fd: int
    under_perf: bool
    killed: bool = False
    received: bytes = field(default=b"")

    @property
    def program_pid(self) -> int:
        """The process id of the program, which is perf's child where perf is between us.

        Raises
        ------
        HostError
            If perf has no child any more.
        """
        if not self.under_perf:
            return self.process.pid
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # many a process ends before we look at it
                if parent_of(int(entry.name)) == self.process.pid:
                    return int(entry.name)
        raise HostError(f"the {self.name} has no process below perf any more; run again")

    def read_line(self) -> str | None:
        """Return the next line that has come in on the control line, or None if none has."""
        line, newline, rest = self.received.partition(b"\n")
        if not newline:
            with suppress(BlockingIOError, ConnectionError):
                self.received += self.control.recv(4096)
            line, newline, rest = self.received.partition(b"\n")
        if not newline:
            return None
        self.received = rest
        return line.decode(errors="replace")

    def say(self, line: str) -> None:
        """Send a line to the program; that it may just have died is noticed elsewhere."""
        with suppress(ConnectionError):
            self.control.send(line.encode() + b"\n")

    def output(self) -> str:
        """Return the program's stdout so far."""
        return _content(self.output_fd)

    def perf_output(self) -> str:
        """Return what perf has counted; empty before the end."""
        return _content(self.perf_fd)

    def errors(self) -> list[str]:
        """Return the lines on stderr, without what perf says each time it is switched."""
        lines = [line.strip() for line in _content(self.error_fd).splitlines()]
        return [line for line in lines if line and line not in _PERF_CHATTER]

    def ended_by_signal(self) -> int | None:
        """Return the signal that killed the program (or perf above it), None if there was none.

        To be asked after `end`, whose own killing does not count. perf ends with 0 when its program
        was killed, and only says so: ``./sender: Killed``.
        """
        code = self.process.returncode
        if self.killed:
            return None
        if code < 0:
            return -code
        if self.under_perf and not self.output():
            for line in self.errors():
                # the program's own lines begin otherwise, and "Broken pipe" may be an error too
                words = line.removeprefix(f"{self.program}: ")
                if words != line and words in _SIGNALS:
                    return int(_SIGNALS[words])
        return None

    @property
    def perf_was_killed(self) -> bool:
        """Whether it was perf itself that a signal ended."""
        return self.under_perf and not self.killed and self.process.returncode < 0

    @property
    def last_words(self) -> str:
        """The last line in which the program itself says what is wrong; '' if there is none."""
        own = [line for line in self.errors() if line.startswith(f"{self.name}:")]
        return own[-1] if own else ""

    @property
    def mute(self) -> bool:
        """Whether the program left neither a result nor a reason, which only a sudden death does.

        perf does not always tell that its program was killed.
        """
        return not self.output() and not self.last_words

    def end(self, grace_s: float) -> None:
        """Make the side end: ask by closing its control line, then kill its process group.

        The group is killed in any case, since perf may have ended while the program below it has
        not; and before its leader is waited for, as long as nobody else can have its number.
        """
        if self.process.returncode is not None:
            return  # its number may by now be another's
        self.control.close()
        ended, _, _ = select.select([self.pidfd], [], [], grace_s)
        self.killed = not ended
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Give back the file descriptors."""
        for fd in (self.pidfd, self.output_fd, self.error_fd, self.perf_fd):
            os.close(fd)


def start_side(
    name: SideName,
    program: Sequence[str],
    testbed: Testbed,
    plan: PerfPlan | None,
    lock_fd: int,
) -> Side:
    """Start a program in its side's namespace, under perf if there is a plan for it.

    Parameters
    ----------
    program : sequence of str
        Path and options, without those for control line and perf, which are added here.
    lock_fd : int
        The host-wide lock: a program whose orchestrator was killed holds it until it has ended.

    Raises
    ------
    PerfUnusable
        If perf cannot be executed.
    HostError
        If the program cannot be executed.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    ours.setblocking(False)
    memory = [os.memfd_create(f"{name}_{what}") for what in ("stdout", "stderr", "perf")]
    pipes = None if plan is None else ControlPipes.make()
    command = [*program, "--control-fd", str(theirs.fileno())]
    inherited = [theirs.fileno(), lock_fd]
    if plan is not None and pipes is not None:
        command += pipes.program_option
        command = perf_command(plan, pipes, memory[2], command)
        inherited += [memory[2], *pipes.fds]
    try:
        with testbed.inside(name):
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=memory[0],
                stderr=memory[1],
                pass_fds=inherited,
                process_group=0,
                env={**os.environ, "LC_ALL": "C"},
            )
    except OSError as error:
        ours.close()
        for fd in memory:
            os.close(fd)
        if plan is not None and error.filename == plan.path:
            raise PerfUnusable(f"{plan.path}: {error.strerror}") from error
        raise HostError(f"{command[0]}: cannot be started: {error.strerror}") from error
    finally:
        theirs.close()
        for fd in pipes.fds if pipes else ():
            os.close(fd)
    return Side(
        name=name,
        program=program[0],
        process=process,
        control=ours,
        pidfd=os.pidfd_open(process.pid),
        output_fd=memory[0],
        error_fd=memory[1],
        perf_fd=memory[2],
        under_perf=plan is not None,
    )


def end_sides(sides: Sequence[Side], grace_s: float) -> None:
    """Make several sides end, at the same time."""
    for side in sides:
        side.control.close()
    for side in sides:
        side.end(grace_s)


def _content(fd: int) -> str:
    return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")
