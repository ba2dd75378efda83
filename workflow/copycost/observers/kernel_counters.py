"""Kernel counters around the window: TCP and softirq counters, CPU time, throttling.

Source: proc(5) on /proc/stat, /proc/net/snmp and /proc/net/softnet_stat (whose columns are those of
softnet_seq_show in net/core/net-procfs.c).
"""

import os
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from copycost.testbeds.testbed import Testbed

_CPU_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_THROTTLE_COUNTS = ("core_throttle_count", "package_throttle_count")


@dataclass(frozen=True, slots=True)
class KernelSnapshot:
    """Kernel counters at one moment; differences of two are taken with `-`.

    Attributes
    ----------
    tcp_retransmitted_segments : int
        Both sides' namespaces together.
    udp_in_errors, udp_receive_buffer_errors : int
        Datagrams that were not delivered, and those of them for which the receive buffer had no
        room; both sides' namespaces together.
    softnet_dropped, softnet_squeezed : int
        Host-wide, all CPUs.
    busy_ticks, task_ticks, softirq_ticks, steal_ticks : int
        CPU time of all CPUs [USER_HZ]: neither idle nor stolen (counted from nothing, so that only
        differences mean something); used by tasks, their kernel time included; spent in interrupts
        and softirqs; taken away by the hypervisor.
    throttle_count : int
        How often the CPUs in use were slowed down for heat.
    at_ns : int
        When this was read [ns, CLOCK_MONOTONIC]; in a difference, the time between.
    """

    tcp_retransmitted_segments: int
    udp_in_errors: int
    udp_receive_buffer_errors: int
    softnet_dropped: int
    softnet_squeezed: int
    busy_ticks: int
    task_ticks: int
    softirq_ticks: int
    steal_ticks: int
    throttle_count: int
    at_ns: int

    def __sub__(self, earlier: Self) -> Self:
        """Return the differences since an earlier snapshot."""
        names = [field.name for field in fields(self)]
        return type(self)(*(getattr(self, name) - getattr(earlier, name) for name in names))


class KernelCounters:
    """The counters' files, opened once in each side's namespace and read again at each snapshot.

    An open file of /proc/net belongs to the namespace in which it was opened.
    """

    def __init__(self, testbed: Testbed, cpus: Iterable[int]) -> None:
        self._files = ExitStack()
        with testbed.inside("sender"):
            self._snmp = [self._open("/proc/thread-self/net/snmp")]
        if testbed.receiver is not None:
            with testbed.inside("receiver"):
                self._snmp.append(self._open("/proc/thread-self/net/snmp"))
        self._softnet = self._open("/proc/net/softnet_stat")
        self._stat = self._open("/proc/stat")
        paths = [
            Path(f"/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{name}")
            for cpu in set(cpus)
            for name in _THROTTLE_COUNTS
        ]
        self._throttle = [self._open(path) for path in paths if path.exists()]

    def _open(self, path: str | Path) -> IO[str]:
        return self._files.enter_context(Path(path).open(encoding="ascii"))

    def __enter__(self) -> Self:
        """Return self; the files are open already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close the files."""
        self._files.close()

    def snapshot(self) -> KernelSnapshot:
        """Read all counters now."""
        at_ns = time.monotonic_ns()
        softnet = [line.split() for line in _read(self._softnet).splitlines()]
        cpu, n_cpus = _cpu_times(_read(self._stat))
        # Idle time is measured (NO_HZ); that of tasks is often only sampled by the timer tick,
        # which may run in step with what it samples, say a sender that a quota starts every period.
        all_ticks = n_cpus * at_ns * os.sysconf("SC_CLK_TCK") // 10**9
        snmp = [_read(file) for file in self._snmp]
        return KernelSnapshot(
            tcp_retransmitted_segments=sum(snmp_count(text, "Tcp", "RetransSegs") for text in snmp),
            udp_in_errors=sum(snmp_count(text, "Udp", "InErrors") for text in snmp),
            udp_receive_buffer_errors=sum(snmp_count(text, "Udp", "RcvbufErrors") for text in snmp),
            softnet_dropped=sum(int(row[1], 16) for row in softnet),
            softnet_squeezed=sum(int(row[2], 16) for row in softnet),
            busy_ticks=all_ticks - cpu["idle"] - cpu["iowait"] - cpu["steal"],
            task_ticks=cpu["user"] + cpu["nice"] + cpu["system"],
            softirq_ticks=cpu["irq"] + cpu["softirq"],
            steal_ticks=cpu["steal"],
            throttle_count=sum(int(_read(file)) for file in self._throttle),
            at_ns=at_ns,
        )


def snmp_count(snmp: str, protocol: str, name: str) -> int:
    """Return a counter from the text of /proc/net/snmp: a line of names, a line of values."""
    rows = [line.split() for line in snmp.splitlines() if line.startswith(f"{protocol}:")]
    names, values = rows
    return int(values[names.index(name)])


def _cpu_times(stat: str) -> tuple[dict[str, int], int]:
    """Return the times of all CPUs together [USER_HZ] by name, and how many CPUs are online."""
    rows = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    times = dict(zip(_CPU_TIMES, map(int, rows[0][1:]), strict=False))
    return times, len(rows) - 1


def ticks_to_s(ticks: int) -> float:
    """Return a time of /proc/stat in seconds."""
    return ticks / os.sysconf("SC_CLK_TCK")


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()
