"""The machine that we run on, as a host."""

import errno
import os
import platform
import resource
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from copycost.errors import AttemptFailed, HostError
from copycost.hosts.cgroups import CpuGroup, cpu_group, find_hierarchy
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.lock import HeldLock, host_lock_path, measurement_lock
from copycost.hosts.processes import Usage, usage_of
from copycost.hosts.program import Launch, LocalProgram
from copycost.hosts.window_edges import SAME_CLOCK, ClockReading, DoneHere, Reading, of_one_moment

MachineKind = Literal["local", "guest", "ssh"]
"""The one that we run on, a virtual machine of ours, or one at the other end of a network."""

# ordinary users often lack these folders in their PATH
_SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/sbin")
_LOWEST_PRIORITY = os.sched_param(1)
_READ_AT_ONCE_BYTES = 1 << 20


def search_path() -> str:
    """Return the PATH with the folders of system tools."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), *_SYSTEM_FOLDERS))


def of_this_thread(path: str) -> str:
    """Return a path of /proc/net as that of the calling thread's network namespace."""
    rest = path.removeprefix("proc/net/")
    return path if rest == path else f"proc/thread-self/net/{rest}"


class LocalReader(DoneHere[Reading]):
    """Files of this machine's kernel that are read together at moments, opened once.

    An open file of /proc/net belongs to the namespace in which it was opened.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        super().__init__([self.read] * 2)
        self._files: dict[str, int] = {}
        with ExitStack() as opened:
            for path in paths:
                fd = os.open(f"/{of_this_thread(path)}", os.O_RDONLY | os.O_CLOEXEC)
                opened.callback(os.close, fd)
                self._files[path] = fd
            self._fds = opened.pop_all()

    def read(self) -> Reading:
        """Read them now, all at one moment."""
        return of_one_moment(self._read)

    def _read(self) -> Reading:
        # in one read(2): the kernel makes such a text afresh at its start
        return time.monotonic_ns(), {
            path: os.pread(fd, _READ_AT_ONCE_BYTES, 0).decode("ascii", errors="replace")
            for path, fd in self._files.items()
        }

    def close(self) -> None:
        """Close the files."""
        self._fds.close()


@dataclass(frozen=True, slots=True)
class About:
    """What programs on a host are, as far as they can tell by themselves."""

    architecture: str  # of the processor, in uname(1)'s words
    # what confstr(3) calls it, ``glibc 2.36``; None where it does not say, as musl
    c_library: str | None
    is_root: bool  # whether they run as root, maybe of a user namespace only
    memlock_bytes: int | None  # RLIMIT_MEMLOCK; None where there is no limit


class LocalHost:
    """The machine that we run on; see `copycost.hosts.host`."""

    kind: MachineKind = "local"
    clock_offset_ns = 0
    clock_uncertainty_ns = 0

    def __init__(self, name: str = "this host") -> None:
        self.name = name
        self.machine: LocalHost = self  # whose CPUs, memory, clock and lock are this host's
        self.files = HostFiles()
        self.turn: HeldLock | None = None  # the lock by which we measure here
        # of locks, which programs hold as long as they run, whatever becomes of us
        self._held_fds: list[int] = []

    @property
    def about(self) -> About:
        """What no file of the kernel tells of it."""
        soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        limit = None if soft == resource.RLIM_INFINITY else soft
        c_library = None
        with suppress(OSError, ValueError):
            c_library = os.confstr("CS_GNU_LIBC_VERSION")
        return About(platform.machine(), c_library, os.geteuid() == 0, limit)

    def inside(self) -> AbstractContextManager[None]:
        """Return a block in which what is started, opened or connected belongs to this host."""
        return nullcontext()

    def clock_ns(self) -> int:
        """Return its CLOCK_MONOTONIC now [ns]."""
        return time.monotonic_ns()

    def resync(self) -> ClockReading:
        """Compare its clock with ours anew; offset and uncertainty are those from then on."""
        return SAME_CLOCK

    def constant(self, name: str) -> int:
        """Return what sysconf(3) says there: of a page, of a tick, of the CPUs online."""
        return os.sysconf(name)

    def usable_cpus(self) -> set[int]:
        """Return the CPUs that this process may run on."""
        return os.sched_getaffinity(0)

    def path_of(self, program: Path) -> str:
        """Return where a program of ours is on that host, having brought it there if need be."""
        return str(program.absolute())

    def find_tool(self, name: str) -> str | None:
        """Return the path of a program, looked for in PATH and the system folders, or None."""
        return shutil.which(name, path=search_path())

    def start(self, launch: Launch) -> LocalProgram:
        """Start a program there; CannotStart if it cannot be executed."""
        with self.inside():
            return LocalProgram(launch, self._held_fds)

    def run(
        self, words: Sequence[str], text: str = "", *, timeout_s: float = 10.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command to its end, with `text` as its standard input.

        HostError if it did not end in time, OSError if it cannot be executed.
        """
        try:
            with self.inside():
                return subprocess.run(
                    words,
                    input=text,
                    capture_output=True,
                    encoding="utf-8",
                    errors="replace",
                    check=False,
                    timeout=timeout_s,
                    env={**os.environ, "LC_ALL": "C", "PATH": search_path()},
                )
        except subprocess.TimeoutExpired as error:
            raise HostError(
                f"{' '.join(words)} did not end within {timeout_s:g} s; look for an overloaded host"
            ) from error

    def reader(self, paths: Iterable[str]) -> LocalReader:
        """Open files, by their paths below the root, to be read at several moments."""
        with self.inside():
            return LocalReader(paths)

    def usage(self, pids: Sequence[int]) -> Usage | None:
        """Return what processes have used by now; None if one of them is gone."""
        with suppress(OSError):
            return usage_of(pids)
        return None

    def usage_at_edges(self, pids: Sequence[int]) -> DoneHere[Usage | None]:
        """Return what tells so at both edges of a window."""
        return DoneHere([partial(self.usage, pids)] * 2)

    def signal(self, pids: Iterable[int], number: int) -> None:
        """Send processes a signal; one that has ended gets none."""
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def prioritise(self, pids: Iterable[int]) -> None:
        """Give processes a real-time priority, which lets them in at once, where that is allowed.

        What they start later begins with the usual one. Source: sched(7), "SCHED_FIFO", "Resetting
        scheduling policy for child processes".
        """
        for pid in pids:
            # who is gone is noticed elsewhere; without the right (CAP_SYS_NICE) it stays as it is
            with suppress(OSError):
                policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
                os.sched_setscheduler(pid, policy, _LOWEST_PRIORITY)

    def cpu_group(self, limit_percent: float | None) -> AbstractContextManager[CpuGroup]:
        """Make a control group that may use so much of a CPU, and remove it after the block."""
        return cpu_group(find_hierarchy(), limit_percent)

    def free_ports(self, address: str, n: int, ports: tuple[int, int] | None = None) -> list[int]:
        """Return TCP ports at an address that nobody listens at, of a range or of all."""
        wanted = [0] * n if ports is None else list(range(ports[0], ports[1] + 1))
        found: list[int] = []
        with ExitStack() as stack, self.inside():
            for port in wanted:
                probe = stack.enter_context(socket.socket())
                try:
                    probe.bind((address, port))
                except OSError as error:
                    if port == 0 or error.errno != errno.EADDRINUSE:
                        raise
                    continue
                found.append(probe.getsockname()[1])
                if len(found) == n:
                    return found
        raise AttemptFailed(
            f"{self.name}: ports {wanted[0]} to {wanted[-1]} at {address}: {len(found)} free,"
            f" {n} needed",
            "stop what holds them, or widen the range, wire.ports in config.yaml",
        )

    def allows_congestion_control(self, name: str) -> bool:
        """Return whether sockets may have this TCP congestion control.

        Not every user may have every one (net.ipv4.tcp_allowed_congestion_control).
        """
        with self.inside(), socket.socket() as probe:
            try:
                probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            except OSError:
                return False
        return True

    @contextmanager
    def lock(self, path: Path | None, parent_fds: Sequence[int]) -> Iterator[HeldLock]:
        """Keep other runs on this machine from measuring for the time of the block.

        Programs started in it hold the lock too. Without a path, it is the one that all runs on
        that host share. `parent_fds` become readable when nobody waits for us any more, see
        `watched_parents`.
        """
        with measurement_lock(path or host_lock_path(), parent_fds) as held:
            self._held_fds.append(held.fd)
            self.turn = held
            try:
                yield held
            finally:
                self.turn = None
                self._held_fds.remove(held.fd)
