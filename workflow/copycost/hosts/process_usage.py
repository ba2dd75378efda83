"""What the kernel says of a running process: CPU time, and bytes read and written.

Source: proc(5) on /proc/PID/io, clock_getcpuclockid(3), and Documentation/scheduler/sched-stats.rst
on /proc/PID/task/TID/schedstat (CPU time, waiting time, number of runs).
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from copycost.hosts.cpu_times import on_cpu_and_waiting_ns
from copycost.hosts.parsing import parser_of
from copycost.hosts.window_edges import of_one_moment

# include/linux/posix-timers.h: CPUCLOCK_SCHED of a whole process
_CPUCLOCK_SCHED = 2


@dataclass(frozen=True, slots=True)
class Usage:
    """What processes have used by one moment; differences of two are taken with `-`."""

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

        def difference(name: str) -> int | None:
            later, before = getattr(self, name), getattr(earlier, name)
            return None if later is None or before is None else later - before

        differences: dict[str, Any] = {
            one.name: difference(one.name) for one in fields(self) if one.name != "threads"
        }
        if not earlier.threads <= self.threads:
            differences["waiting_ns"] = None
        return replace(self, **differences)


def usage_of(pids: Sequence[int]) -> Usage:
    """Return what processes have used by now, all together; OSError if one of them is gone."""
    return of_one_moment(lambda: _usage_of(pids))


def _usage_of(pids: Sequence[int]) -> Usage:
    at_ns = time.monotonic_ns()
    cpu_ns = sum(time.clock_gettime_ns((~pid << 3) | _CPUCLOCK_SCHED) for pid in pids)
    files = [_io_of(pid) for pid in pids]
    waiting = _waiting_by_thread(pids)
    waiting_ns = sum(waiting.values()) if waiting else None
    read, written, reads, writes = (
        _total(files, name) for name in ("rchar", "wchar", "syscr", "syscw")
    )
    return Usage(at_ns, cpu_ns, read, written, reads, writes, waiting_ns, frozenset(waiting))


def _io_of(pid: int) -> dict[str, int]:
    try:
        return io_counts(Path(f"/proc/{pid}/io").read_text(errors="replace"))
    except (PermissionError, FileNotFoundError):
        return {}


@parser_of("/proc/PID/io")
def io_counts(text: str) -> dict[str, int]:
    """Return what a process has read and written, by the kernel's names."""
    rows = (line.partition(":") for line in text.splitlines())
    return {name: int(count) for name, _, count in rows}


def _total(files: Sequence[dict[str, int]], key: str) -> int | None:
    if any(key not in file for file in files):
        return None
    return sum(file[key] for file in files)


def _waiting_by_thread(pids: Sequence[int]) -> dict[int, int]:
    found = {}
    for pid in pids:
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                found[int(file.parent.name)] = on_cpu_and_waiting_ns(file.read_text())[1]
    return found
