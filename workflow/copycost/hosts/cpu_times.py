"""What a kernel says that all its CPUs together did: the first line of /proc/stat.

Source: proc(5) on /proc/stat.
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
