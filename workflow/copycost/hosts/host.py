"""A host: a place where programs run, files of the kernel are read, and a clock goes.

Whoever measures asks a `Host`, and knows not which kind it is. Two kinds are here: the machine that
we run on (`copycost.hosts.local`), and a network namespace of it (`copycost.hosts.namespace`). A
machine at the other end of a connection, or a guest, is one more module of this room; so this is
what such a host must be able to do, and what its users must not assume:

Clocks
    `clock_ns` is the host's own CLOCK_MONOTONIC. What is planned for a host is said in its clock:
    ours plus `clock_offset_ns`, known to `clock_uncertainty_ns`; both 0 where a clock is shared.
No traffic in the window
    What is done at the edges of a window is prepared before it (`AtEdges`), so that a host far away
    can do it by itself, at its own times, and tell afterwards.
Machines
    Several hosts may be one `machine`, as namespaces are: one kernel, clock and set of CPUs.
Programs
    A `Launch` is data: descriptors are made where the program is started, and programs of ours are
    brought there by `path_of`. A program's end shows at `Program.ended_fd` whatever ended it, a
    connection that broke included.
Errors
    What a host does not have or allow is `Unavailable`, with a reason and a remedy; what went wrong
    is a `HostError`.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Literal, Protocol

from copycost.hosts.cgroups import CpuGroup
from copycost.hosts.clock import ClockReading
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.launch import Launch
from copycost.hosts.lock import HeldLock
from copycost.hosts.process_usage import Usage
from copycost.hosts.uname import About
from copycost.hosts.window_edges import AtEdges

MachineKind = Literal["local", "guest", "ssh"]
"""The one that we run on, a virtual machine of ours, or one at the other end of a network."""


class Program(Protocol):
    """A program that was started on a host."""

    @property
    def launch(self) -> Launch:
        """What was started."""

    @property
    def pid(self) -> int:
        """Its process id there; that of the wrapper, if one runs it."""

    @property
    def ended_fd(self) -> int:
        """A descriptor that is readable once it has ended."""

    @property
    def control_fd(self) -> int:
        """A descriptor that is readable when a line has come in; -1 without a control line."""

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None as long as it runs."""

    @property
    def killed(self) -> bool:
        """Whether `end` had to kill it."""

    def read_line(self) -> str | None:
        """Return the next line that has come in on the control line, or None if none has."""

    def say(self, line: str) -> None:
        """Send a line on the control line; that it may just have died is noticed elsewhere."""

    def hang_up(self) -> None:
        """Close the control line, by which a program is asked to end."""

    def output(self) -> str:
        """Return its stdout so far."""

    def errors(self) -> str:
        """Return its stderr so far."""

    def file(self, name: str) -> str:
        """Return what a memory file of the launch holds so far."""

    def file_path(self, name: str) -> str:
        """Return a path at which other programs on that host can read a memory file."""

    def write_pipe(self, name: str, data: bytes) -> None:
        """Write to a pipe whose write end is ours; a reader that is gone is noticed elsewhere."""

    def read_pipe(self, name: str, timeout_s: float) -> bytes | None:
        """Return what comes in on a pipe whose read end is ours, None if nothing does in time."""

    def ask(self, asked: str, answers: str, data: bytes, timeout_s: float) -> bytes | None:
        """Write to one pipe and return what comes in on another.

        None if nothing does in time, or before the program ends.
        """

    def ask_at_edges(
        self, asked: str, answers: str, data: tuple[bytes, bytes], timeout_s: float
    ) -> AtEdges[bytes | None]:
        """Return what does so at both edges of a window."""

    def child_pid(self) -> int:
        """Return the process that it runs as a wrapper; HostError if there is none any more."""

    def signal(self, number: int) -> None:
        """Send it a signal; one that has ended gets none."""

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end, and return its exit code; None if it still runs."""

    def end(self, grace_s: float = 0.0) -> None:
        """Make it end, and all that it started: ask by hanging up, kill what still runs then."""

    def close(self) -> None:
        """Give back the descriptors."""


Reading = tuple[int, dict[str, str]]
"""What was read of several files: when [ns, the host's clock], and each file's text by its path."""


class Reader(AtEdges[Reading], Protocol):
    """Files of a host that are read together at moments, opened once."""

    def read(self) -> Reading:
        """Read them now."""

    def close(self) -> None:
        """Close the files."""


class Host(Protocol):
    """A place where programs run."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def files(self) -> HostFiles:
        """The files by which its kernel describes it."""

    @property
    def about(self) -> About:
        """What no file of the kernel tells of it."""

    @property
    def kind(self) -> MachineKind:
        """What kind of machine it is, or is part of."""

    @property
    def machine(self) -> "Host":
        """The machine that it is part of, or is: whose CPUs, memory, clock and kernel it uses."""

    @property
    def clock_offset_ns(self) -> int:
        """Its clock less ours [ns]."""

    @property
    def clock_uncertainty_ns(self) -> int:
        """By how much the offset may be wrong [ns]."""

    def clock_ns(self) -> int:
        """Return its CLOCK_MONOTONIC now [ns]."""

    def resync(self) -> ClockReading:
        """Compare its clock with ours anew; offset and uncertainty are those from then on."""

    def constant(self, name: str) -> int:
        """Return what sysconf(3) says there: of a page, of a tick, of the CPUs online."""

    def usable_cpus(self) -> set[int]:
        """Return the CPUs that programs may run on."""

    def path_of(self, program: Path) -> str:
        """Return where a program of ours is on that host, having brought it there if need be."""

    def find_tool(self, name: str) -> str | None:
        """Return the path of a program of the host's own, or None."""

    def start(self, launch: Launch) -> Program:
        """Start a program there; CannotStart if it cannot be executed."""

    def run(
        self, words: Sequence[str], text: str = "", *, timeout_s: float = 10.0
    ) -> CompletedProcess[str]:
        """Run a short command to its end, with `text` as its standard input.

        HostError if it did not end in time, OSError if it cannot be executed.
        """

    def reader(self, paths: Iterable[str]) -> Reader:
        """Open files, by their paths below the root, to be read at several moments."""

    def usage(self, pids: Sequence[int]) -> Usage:
        """Return what processes have used by now; OSError if one of them is gone."""

    def usage_at_edges(self, pids: Sequence[int]) -> AtEdges[Usage | None]:
        """Return what tells so at both edges of a window; None where one of them is gone."""

    def written_bytes(self, pid: int) -> int | None:
        """Return the bytes that a process has written so far; None where nobody counts them."""

    def signal(self, pids: Iterable[int], number: int) -> None:
        """Send processes a signal; one that has ended gets none."""

    def prioritise(self, pids: Iterable[int]) -> None:
        """Give processes precedence over those that measure, where that is allowed."""

    def cpu_group(self, limit_percent: float | None) -> AbstractContextManager[CpuGroup]:
        """Return a block with a control group that may use so much of a CPU; None for any."""

    def free_ports(self, address: str, n: int, ports: tuple[int, int] | None = None) -> list[int]:
        """Return TCP ports at an address that nobody listens at."""

    def allows_congestion_control(self, name: str) -> bool:
        """Return whether sockets there may have this TCP congestion control."""

    def lock(
        self, path: Path | None, parent_fds: Sequence[int]
    ) -> AbstractContextManager[HeldLock]:
        """Return a block in which no other run measures there; programs started in it hold it too.

        Without a path, the lock is the one that all runs on that host share. `parent_fds` become
        readable when nobody waits for us any more, see `copycost.hosts.parent`.
        """
