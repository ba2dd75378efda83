"""What the threads of another process have used, each by itself, from /proc.

Source: proc(5) on /proc/PID/task/TID/stat, Documentation/scheduler/sched-stats.rst on schedstat.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from copycost.hosts.parsing import Counters, parser_of

_NS_PER_S = 10**9
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
