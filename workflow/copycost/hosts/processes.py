"""What CPUs did, what processes and threads have used, and who waits for us, as a kernel tells.

Source: proc(5) on /proc/stat, /proc/PID/io and /proc/PID/task/TID/stat, clock_getcpuclockid(3), and
Documentation/scheduler/sched-stats.rst on schedstat (CPU time, waiting time, number of runs).
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from copycost.hosts.parsing import Counters, parser_of
from copycost.hosts.window_edges import of_one_moment

PATH = "proc/stat"

_NAMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_NS_PER_S = 10**9


@dataclass(frozen=True, slots=True)
class CpuTimes(Counters):
    """CPU time of all CPUs by one moment [ns, counted in clock ticks]; `-` gives differences."""

    # when it was read [ns, CLOCK_MONOTONIC of that kernel]; in a difference, the time between
    at_ns: int
    # Neither idle nor stolen; counted from nothing, so that only differences mean something. Idle
    # time is measured (NO_HZ), while that of tasks is often only sampled by the timer tick, which
    # may run in step with what it samples, say a sender that a quota starts every period.
    busy_ns: int
    task_ns: int  # used by tasks, their kernel time included
    softirq_ns: int  # spent in interrupts and softirqs
    steal_ns: int  # taken away by the hypervisor


def cpu_times_at(
    edges: Iterable[tuple[int, Mapping[str, str]]], ticks_per_s: int
) -> list[CpuTimes]:
    """Return the times by the readings of /proc/stat at the edges of a window.

    A CPU that comes or goes in between counts as one that was idle: nobody tells since when.
    """
    stats = [(at_ns, texts[PATH]) for at_ns, texts in edges]
    n_cpus = min(stat.count("\ncpu") for _, stat in stats)
    return [cpu_times(stat, at_ns, ticks_per_s, n_cpus) for at_ns, stat in stats]


@parser_of(PATH)
def cpu_times(stat: str, at_ns: int, ticks_per_s: int, n_cpus: int) -> CpuTimes:
    """Return the times from the text of /proc/stat, which was read at a moment."""
    words = stat.partition("\n")[0].split()[1:]
    times_ns = (int(ticks) * _NS_PER_S // ticks_per_s for ticks in words)
    cpu = dict(zip(_NAMES, times_ns, strict=False))
    return CpuTimes(
        at_ns,
        n_cpus * at_ns - (cpu["idle"] + cpu["iowait"] + cpu["steal"]),
        cpu["user"] + cpu["nice"] + cpu["system"],
        cpu["irq"] + cpu["softirq"],
        cpu["steal"],
    )


# places in /proc/PID/stat behind the name, which is in parentheses and may hold spaces
_USER, _KERNEL, _GUEST = 11, 12, 40


@dataclass(frozen=True, slots=True)
class ThreadTimes(Counters):
    """What some threads have used by one moment, or between two."""

    # on a CPU, and runnable without one [ns], as the scheduler tells
    cpu_ns: int = 0
    waiting_ns: int = 0
    # CPU time in user and in kernel mode [ns, counted in clock ticks]
    user_ns: int = 0
    kernel_ns: int = 0
    # of that in user mode, what a virtual CPU ran in guest mode [ns, counted in clock ticks]; 0
    # where it is emulated
    guest_ns: int = 0


def paths_of(folders: Iterable[str]) -> list[str]:
    """Return the files to read of some threads, by their folders below the root."""
    return [f"{folder}/{name}" for folder in folders for name in ("schedstat", "stat")]


def times_of(folders: Iterable[str], texts: Mapping[str, str], ticks_per_s: int) -> ThreadTimes:
    """Return what some threads have used, all together, from the texts of their files."""
    found = ThreadTimes()
    for folder in folders:
        ticks = ticks_of(texts[f"{folder}/stat"], ticks_per_s)
        found += ThreadTimes(*on_cpu_and_waiting_ns(texts[f"{folder}/schedstat"]), *ticks)
    return found


@parser_of("/proc/PID/task/TID/schedstat")
def on_cpu_and_waiting_ns(schedstat: str) -> tuple[int, int]:
    """Return for how long a thread was on a CPU, and runnable without one [ns]."""
    on_cpu, waiting, *_ = map(int, schedstat.split())
    return on_cpu, waiting


@parser_of("/proc/PID/stat")
def value_of(stat: str, place: int) -> int:
    """Return a number of /proc/.../stat by its place behind the name: that of proc(5) less 3."""
    return int(stat.rpartition(")")[2].split()[place])


def ticks_of(stat: str, ticks_per_s: int) -> tuple[int, int, int]:
    """Return user, kernel and guest time [ns] from the text of a /proc/.../stat."""
    user, kernel, guest = (
        value_of(stat, at) * _NS_PER_S // ticks_per_s for at in (_USER, _KERNEL, _GUEST)
    )
    return user, kernel, guest


# include/linux/posix-timers.h: CPUCLOCK_SCHED of a whole process
_CPUCLOCK_SCHED = 2


@dataclass(frozen=True, slots=True)
class Usage(Counters):
    """What processes have used by one moment; `-` gives differences."""

    at_ns: int  # when it was read (CLOCK_MONOTONIC) [ns]; in a difference, the time between
    cpu_ns: int  # CPU time of all their threads, user and kernel [ns]
    # by read(2) and write(2) on whatever descriptor, which is how iperf3 uses its sockets; None
    # where the kernel does not count them
    read_bytes: int | None
    written_bytes: int | None
    # how many such calls
    read_calls: int | None
    write_calls: int | None
    # Time for which their threads could have run but had no CPU [ns]; None where nobody tells. A
    # thread takes its own with it when it ends, so a difference in which one did is None.
    waiting_ns: int | None
    # the threads that `waiting_ns` is the sum of; in a difference, those at its end
    threads: frozenset[int]

    def __sub__(self, earlier: Self) -> Self:
        """Return the differences since an earlier moment."""
        since = Counters.__sub__(self, earlier)
        waiting_ns = since.waiting_ns if earlier.threads <= self.threads else None
        return replace(since, waiting_ns=waiting_ns, threads=self.threads)


def usage_of(pids: Sequence[int]) -> Usage:
    """Return what processes have used by now, all together; OSError if one of them is gone."""
    return of_one_moment(lambda: _usage_of(pids))


def _usage_of(pids: Sequence[int]) -> Usage:
    at_ns = time.monotonic_ns()
    cpu_ns = sum(time.clock_gettime_ns((~pid << 3) | _CPUCLOCK_SCHED) for pid in pids)
    files: list[dict[str, int]] = []
    waiting: dict[int, int] = {}  # by thread
    for pid in pids:
        try:
            files.append(io_counts(Path(f"/proc/{pid}/io").read_text(errors="replace")))
        except (PermissionError, FileNotFoundError):
            files.append({})
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                waiting[int(file.parent.name)] = on_cpu_and_waiting_ns(file.read_text())[1]
    read, written, reads, writes = (
        sum(file[name] for file in files) if all(name in file for file in files) else None
        for name in ("rchar", "wchar", "syscr", "syscw")
    )
    waiting_ns = sum(waiting.values()) if waiting else None
    return Usage(at_ns, cpu_ns, read, written, reads, writes, waiting_ns, frozenset(waiting))


@parser_of("/proc/PID/io")
def io_counts(text: str) -> dict[str, int]:
    """Return what a process has read and written, by the kernel's names."""
    rows = (line.partition(":") for line in text.splitlines())
    return {name: int(count) for name, _, count in rows}


def value_of_process(pid: int, place: int) -> int:
    """Return what `value_of` does of a process; OSError if it is gone."""
    # its name may be cut within a letter of several bytes
    return value_of(Path(f"/proc/{pid}/stat").read_text(errors="replace"), place)


def parent_of(pid: int) -> int:
    """Return the parent's process id; OSError if the process is gone."""
    return value_of_process(pid, 1)


_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})


@contextmanager
def watched_parents() -> Iterator[tuple[int, ...]]:
    """Yield descriptors (pidfds) that become readable when the workflow that started us is gone.

    A job outlives a workflow that is killed with ``kill -9``: it would go on measuring for nobody,
    and hold the lock meanwhile. A signal on the parent's death (prctl(2), PR_SET_PDEATHSIG) does
    not help, since there may be a shell in between, which lives on: so both are watched.
    """
    fds: list[int] = []
    try:
        for pid in _parents():
            with suppress(OSError):
                fds.append(os.pidfd_open(pid))
        yield tuple(fds)
    finally:
        for fd in fds:
            os.close(fd)


def waiting_process() -> int:
    """Return the process that waits for us: the parent, or whose shell that is."""
    return ([*_parents()] or [os.getppid()])[-1]


def _parents() -> Iterator[int]:
    """Yield the parent and, as long as that is a shell, its own."""
    pid = os.getppid()
    with suppress(OSError, ValueError):  # its parent may be out of sight, in another container
        while pid > 1:
            yield pid
            if Path(f"/proc/{pid}/comm").read_text().strip() not in _SHELLS:
                break
            pid = parent_of(pid)
