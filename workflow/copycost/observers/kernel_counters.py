"""Kernel counters around the window: TCP and softirq counters, CPU time, throttling.

Source: proc(5) on /proc/stat, /proc/net/snmp and /proc/net/softnet_stat (whose columns are those of
softnet_seq_show in net/core/net-procfs.c).
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

from copycost.hosts.host import Reader
from copycost.hosts.local import LocalHost
from copycost.observers.protocol import WindowObserver
from copycost.testbeds.testbed import Testbed

_CPU_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_SNMP, _SOFTNET, _STAT = "proc/net/snmp", "proc/net/softnet_stat", "proc/stat"
_THROTTLE = "sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{name}"
_THROTTLE_COUNTS = ("core_throttle_count", "package_throttle_count")
_RECORDED = (
    "softnet_dropped",
    "softnet_squeezed",
    "tcp_retransmitted_segments",
    "udp_in_errors",
    "udp_receive_buffer_errors",
)


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
    busy_ns, task_ns, softirq_ns, steal_ns : int
        CPU time of all CPUs [ns, counted in clock ticks]: neither idle nor stolen (counted from
        nothing, so that only differences mean something); used by tasks, their kernel time
        included; spent in interrupts and softirqs; taken away by the hypervisor.
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
    busy_ns: int
    task_ns: int
    softirq_ns: int
    steal_ns: int
    throttle_count: int
    at_ns: int

    def __sub__(self, earlier: Self) -> Self:
        """Return the differences since an earlier snapshot."""
        names = [field.name for field in fields(self)]
        return type(self)(*(getattr(self, name) - getattr(earlier, name) for name in names))


class KernelCounters(WindowObserver):
    """Counters of the hosts' kernels over the window, for whoever drives the traffic."""

    name = "kernel"

    def __init__(self, cpus: Iterable[int]) -> None:
        self._cpus = sorted(set(cpus))
        self._machine: LocalHost | None = None
        self._network: list[Reader] = []
        self._common: Reader | None = None
        self._edges: list[KernelSnapshot] = []

    def open(self, machine: LocalHost) -> None:
        """Note the machine that both sides run on."""
        self._machine = machine

    def prepare(self, testbed: Testbed) -> None:
        """Open the counters of each side's network and those of the machine."""
        assert self._machine is not None
        hosts = {id(host): host for host in testbed.hosts.values()}
        if testbed.drop_hook is not None:
            hosts = {0: testbed.hosts["sender"]}
        self._network = [host.reader([_SNMP]) for host in hosts.values()]
        throttle = [
            path
            for cpu in self._cpus
            for name in _THROTTLE_COUNTS
            if self._machine.files.text(path := _THROTTLE.format(cpu=cpu, name=name)) is not None
        ]
        self._common = self._machine.reader([_SOFTNET, _STAT, *throttle])

    def window_begins(self) -> None:
        """Take the first snapshot."""
        self._edges = [self.snapshot()]

    def window_ends(self) -> None:
        """Take the second one."""
        self._edges.append(self.snapshot())

    def snapshot(self) -> KernelSnapshot:
        """Read all counters now."""
        assert self._common is not None
        assert self._machine is not None
        at_ns, common = self._common.read()
        snmp = [reader.read()[1][_SNMP] for reader in self._network]
        softnet = [line.split() for line in common.pop(_SOFTNET).splitlines()]
        cpu, n_cpus = _cpu_times(common.pop(_STAT), self._machine.constant("SC_CLK_TCK"))
        # Idle time is measured (NO_HZ); that of tasks is often only sampled by the timer tick,
        # which may run in step with what it samples, say a sender that a quota starts every period.
        not_busy_ns = cpu["idle"] + cpu["iowait"] + cpu["steal"]
        return KernelSnapshot(
            tcp_retransmitted_segments=sum(snmp_count(text, "Tcp", "RetransSegs") for text in snmp),
            udp_in_errors=sum(snmp_count(text, "Udp", "InErrors") for text in snmp),
            udp_receive_buffer_errors=sum(snmp_count(text, "Udp", "RcvbufErrors") for text in snmp),
            softnet_dropped=sum(int(row[1], 16) for row in softnet),
            softnet_squeezed=sum(int(row[2], 16) for row in softnet),
            busy_ns=n_cpus * at_ns - not_busy_ns,
            task_ns=cpu["user"] + cpu["nice"] + cpu["system"],
            softirq_ns=cpu["irq"] + cpu["softirq"],
            steal_ns=cpu["steal"],
            throttle_count=sum(map(int, common.values())),
            at_ns=at_ns,
        )

    @property
    def change(self) -> KernelSnapshot | None:
        """The differences over the window; None before its end."""
        return self._edges[1] - self._edges[0] if len(self._edges) == 2 else None

    def found(self) -> dict[str, int] | None:
        """Return what goes into the record."""
        change = self.change
        return None if change is None else {name: getattr(change, name) for name in _RECORDED}

    def close(self) -> None:
        """Close the files."""
        for reader in (*self._network, self._common):
            if reader is not None:
                reader.close()


def snmp_count(snmp: str, protocol: str, name: str) -> int:
    """Return a counter from the text of /proc/net/snmp: a line of names, a line of values."""
    rows = [line.split() for line in snmp.splitlines() if line.startswith(f"{protocol}:")]
    names, values = rows
    return int(values[names.index(name)])


def _cpu_times(stat: str, ticks_per_s: int) -> tuple[dict[str, int], int]:
    """Return the times of all CPUs together [ns] by name, and how many CPUs are online."""
    rows = [line.split() for line in stat.splitlines() if line.startswith("cpu")]
    times_ns = (int(ticks) * 10**9 // ticks_per_s for ticks in rows[0][1:])
    return dict(zip(_CPU_TIMES, times_ns, strict=False)), len(rows) - 1
