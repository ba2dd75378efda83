"""What CPUs did, and what threads of other processes have used, as a kernel tells in /proc.

Source: proc(5) on /proc/stat and /proc/PID/task/TID/stat, Documentation/scheduler/sched-stats.rst
on schedstat.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from copycost.hosts.parsing import Counters, parser_of

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
