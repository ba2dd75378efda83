"""A machine that a stream of bytes leads to, as a host: a guest, or one at the other end of ssh."""

import errno
import hashlib
import re
import select
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Self

from copycost.errors import AttemptFailed, HostError, MeasurementStopped, Unavailable
from copycost.hosts.cgroups import CpuGroup
from copycost.hosts.local import About, LocalHost, MachineKind
from copycost.hosts.lock import HeldLock, say
from copycost.hosts.processes import Usage
from copycost.hosts.program import Launch
from copycost.hosts.remote import calls, messages
from copycost.hosts.remote.calls import PlannedThere, RemoteProgram, RemoteReader, asked, told
from copycost.hosts.remote.connection import PATIENCE_S, Connection
from copycost.hosts.remote.messages import request
from copycost.hosts.window_edges import ClockReading

_PINGS = 10
_NEVER_S = 1e6
# how often who waits for a lock there looks whether anybody still waits for it here
_LOOK_S = 0.2
# longer than an answer takes over a slow link, shorter than a user wonders
_SILENT_WAIT_S = 1.0


class RemoteHost:
    """A host that an agent serves; see `copycost.hosts.host`.

    The descriptor of the stream is ours from now on. Its agent may take `patience_s` for an
    answer, and we say something every `keep_alive_s`. ConnectionLost if no agent answers.
    """

    _of = messages.HOST

    def __init__(
        self,
        stream: int,
        name: str,
        patience_s: float = PATIENCE_S,
        *,
        kind: MachineKind = "ssh",
        keep_alive_s: float = _NEVER_S,
    ) -> None:
        self.name = name
        self.machine = self
        self.kind: MachineKind = kind
        self._connection = Connection(stream, name, patience_s, keep_alive_s)
        # what the agent said of its machine when the session was opened
        self.introduction = self._connection.introduction
        self.about: About = self.introduction["about"]
        self.files = calls.RemoteFiles(_connection=self._connection)
        try:
            self.resync()
        except HostError:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Begin a block at whose end the session is closed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session."""
        self.close()

    def close(self) -> None:
        """End the session, all that was started there, and the stream."""
        self._connection.close()

    def clock_ns(self) -> int:
        """Return its CLOCK_MONOTONIC now [ns]."""
        return time.monotonic_ns() + self.clock_offset_ns

    def resync(self) -> ClockReading:
        """Compare its clock with ours anew.

        The answer was made at some moment of the round trip. In the shortest of several least can
        have happened but the way there and back, so that the middle is wrong by half of it at most.
        """
        self.clock = min((self._ping() for _ in range(_PINGS)), key=lambda it: it.uncertainty_ns)
        self.clock_offset_ns = self.clock.offset_ns
        self.clock_uncertainty_ns = self.clock.uncertainty_ns
        return self.clock

    def _ping(self) -> ClockReading:
        asked_ns = time.monotonic_ns()
        answered_ns, there_ns = self._connection.ask_timed(request(messages.PING))
        resolution_ns = round(time.get_clock_info("monotonic").resolution * 1e9)
        half_ns = -(-(answered_ns - asked_ns) // 2)
        return ClockReading(there_ns - asked_ns - half_ns, half_ns + resolution_ns)

    def constant(self, name: str) -> int:
        """Return what sysconf(3) says there."""
        known: int | None = self.introduction["constants"].get(name)
        return self._connection.ask("constant", name=name) if known is None else known

    def usable_cpus(self) -> set[int]:
        """Return the CPUs that programs may run on."""
        return set(self.introduction["usable_cpus"])

    find_tool = asked(LocalHost.find_tool)
    free_ports = asked(LocalHost.free_ports)
    allows_congestion_control = asked(LocalHost.allows_congestion_control)

    def path_of(self, program: Path) -> str:
        """Return where a program of ours is there, having sent it if it is not."""
        digest, needed = _described(program, program.stat().st_mtime_ns)
        found = self.about.c_library
        if needed > _glibc_version(found):
            raise Unavailable(
                f"{program.name} was built here for glibc {needed[0]}.{needed[1]} or newer,"
                f" {self.name} has {found or 'another C library'}",
                "install the C library for static linking here (with gcc's libc6-dev on Debian), or"
                " run copycost from a machine whose C library is no newer than that",
            )
        bring = partial(self._connection.ask, "bring", digest=digest, name=program.name)
        try:
            path: str = bring(data=None) or bring(data=program.read_bytes())
        except OSError as error:
            raise self.cannot_keep(program, error) from error
        return path

    def cannot_keep(self, program: Path, error: OSError) -> HostError:
        """Return why a program of ours cannot be brought there."""
        folder = error.filename or "its cache"
        remedy = "let us write there"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = f"make room for {program.stat().st_size >> 10} KiB there"
        return AttemptFailed(
            f"{self.name}: {program.name} cannot be kept in {folder} ({error.strerror})", remedy
        )

    def start(self, launch: Launch) -> RemoteProgram:
        """Start a program there."""
        return RemoteProgram(self._connection, launch)

    run = asked(LocalHost.run)
    signal = told(LocalHost.signal)
    prioritise = told(LocalHost.prioritise)

    def reader(self, paths: Iterable[str]) -> RemoteReader:
        """Open files, by their paths below the root, to be read at several moments."""
        return RemoteReader(self._connection, list(paths))

    usage = asked(LocalHost.usage)

    def usage_at_edges(self, pids: Sequence[int]) -> PlannedThere[Usage | None]:
        """Return what tells so at both edges of a window."""
        return PlannedThere(self._connection, [request("usage", pids=pids)] * 2)

    @contextmanager
    def cpu_group(self, limit_percent: float | None) -> Iterator[CpuGroup]:
        """Make a control group there that may use so much of a CPU; remove it after the block."""
        number = self._connection.new_number()
        try:
            made = self._connection.hold(number, "cpu_group", limit_percent=limit_percent)
        except Unavailable as missing:  # whose cure is needed there, and not here
            raise Unavailable(f"{self.name}: {missing.reason}", missing.remedy) from missing
        try:
            yield calls.RemoteGroup(made.version, made.path, self._connection, number)
        finally:
            self._connection.give_back(number)

    @contextmanager
    def lock(
        self,
        path: Path | None,
        parent_fds: Sequence[int],
        when_it_takes_long: Callable[[], None] = lambda: None,
    ) -> Iterator[HeldLock]:
        """Keep other runs there from measuring for the time of the block.

        The descriptor of the lock is there, and what is started there holds it. Who has to wait is
        told so, and once that has been done `when_it_takes_long` is called.
        """
        number = self._connection.new_number()
        hold = request("hold", number=number, what="lock", fields={"path": path})
        question = self._connection.begin(hold)
        said, patient_until_s = False, time.monotonic() + _SILENT_WAIT_S
        while not wait([question], _LOOK_S).done:
            if select.select(parent_fds, [], [], 0)[0]:
                raise MeasurementStopped("the workflow ended while it waited for its turn")
            if not said and time.monotonic() >= patient_until_s:
                said = True
                say(f"another measurement runs on {self.name}: waiting")
                when_it_takes_long()
        wait_s: float = messages.result_of(question.result()[1]).wait_s
        if said:
            say(f"the other measurement on {self.name} is over after {wait_s:.1f} s: going on")
        try:
            yield HeldLock(-1, wait_s)  # its descriptor is there
        finally:
            with suppress(HostError):
                self._connection.give_back(number)


def _glibc_version(name: str | None) -> tuple[int, int]:
    """Return the version in a name such as ``glibc 2.36``; (0, 0) where it is none."""
    found = re.fullmatch(r"glibc (\d+)\.(\d+).*", name or "")
    return (int(found[1]), int(found[2])) if found else (0, 0)


@cache
def _described(program: Path, _modified_ns: int) -> tuple[str, tuple[int, int]]:
    """Return a file's SHA-256, and the newest glibc that it names versions of symbols of.

    (0, 0) where it names none. Source: the names that ``readelf --version-info`` shows lie as they
    are in the file.
    """
    content = program.read_bytes()
    names = re.findall(rb"GLIBC_(\d+)\.(\d+)", content)
    needed = max(((int(major), int(minor)) for major, minor in names), default=(0, 0))
    return hashlib.sha256(content).hexdigest(), needed
