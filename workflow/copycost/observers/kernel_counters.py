"""Kernel counters around the window: TCP and softirq counters, CPU time, throttling.

Source: proc(5) on /proc/net/snmp, /proc/net/softnet_stat and /proc/net/dev (whose columns are those
of softnet_seq_show and dev_seq_printf_stats in net/core/net-procfs.c).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from copycost.hosts.host import Host, Reader
from copycost.hosts.parsing import parser_of
from copycost.hosts.processes import PATH as _STAT
from copycost.hosts.processes import CpuTimes, cpu_times_at
from copycost.hosts.side import Side, SideName
from copycost.observers.protocol import WindowObserver
from copycost.testbeds.testbed import Testbed

_SNMP, _SOFTNET, _DEVICES = "proc/net/snmp", "proc/net/softnet_stat", "proc/net/dev"
# columns of a device: what it received, and what it was to send
_OF_A_DEVICE = {
    **{"rx_packets": 1, "rx_errors": 2, "rx_dropped": 3, "rx_fifo_errors": 4},
    **{"tx_packets": 9, "tx_errors": 10, "tx_dropped": 11, "tx_fifo_errors": 12},
    "tx_carrier_errors": 14,
}
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
class KernelSnapshot(CpuTimes):
    """CPU times and counters of a machine's kernel at one moment; `-` gives differences.

    What TCP sent again, datagrams that were not delivered, and those of them for which the receive
    buffer had no room, are of all networks of sides on the machine together; packets that the
    queues of all CPUs dropped (softnet), of the machine. `throttle_count` tells how often the CPUs
    in use were slowed down for heat.
    """

    tcp_retransmitted_segments: int
    udp_in_errors: int
    udp_receive_buffer_errors: int
    softnet_dropped: int
    softnet_squeezed: int
    throttle_count: int


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counters of one machine: files of its own, and of each network that a side is in.

    `device` is the network device of its only side, where that is told of; else None.
    """

    machine: Host
    sides: tuple[SideName, ...]
    common: Reader
    networks: Sequence[Reader]
    device: str | None

    def snapshots(self) -> list[KernelSnapshot]:
        """Return what was read at both edges."""
        ticks_per_s = self.machine.constant("SC_CLK_TCK")
        common = self.common.edges()
        networks = zip(*(one.edges() for one in self.networks), strict=True)
        return [
            snapshot_of(texts, [of_one[_SNMP] for _, of_one in network], cpu)
            for (_, texts), network, cpu in zip(
                common, networks, cpu_times_at(common, ticks_per_s), strict=True
            )
        ]


class KernelCounters(WindowObserver):
    """Counters of the machines' kernels over the window, for whoever drives the traffic.

    `heated` are the CPUs that each side runs on, which are asked whether heat slowed them down.
    After the window `changes` has the differences by the sides of each machine, and `devices` those
    of each side's network device, where the testbed tells it.
    """

    name = "kernel"

    def __init__(self) -> None:
        self.heated: Mapping[SideName, Iterable[int]] = {}
        self._counted: list[_Counted] = []
        self.changes: dict[tuple[SideName, ...], KernelSnapshot] = {}
        self.devices: dict[SideName, dict[str, int]] = {}

    def prepare(self, testbed: Testbed) -> None:
        """Open the counters of each side's network, and those of each machine."""
        self._counted = [
            self._open(testbed, machine, sides) for machine, sides in testbed.machines()
        ]

    def _open(self, testbed: Testbed, machine: Host, sides: tuple[SideName, ...]) -> _Counted:
        watched = ["sender"] if testbed.drop_hook is not None else sides
        hosts = {id(host): host for side, host in testbed.hosts.items() if side in watched}
        cpus = {cpu for side in sides for cpu in self.heated.get(side, ())}
        there = set(map(str, machine.files.glob(_THROTTLE.format(cpu="[0-9]*", name="*_count"))))
        throttle = [
            path
            for cpu in sorted(cpus)
            for name in _THROTTLE_COUNTS
            if (path := _THROTTLE.format(cpu=cpu, name=name)) in there
        ]
        device = testbed.devices.get(sides[0])
        of_a_network = [_SNMP] if device is None else [_SNMP, _DEVICES]
        return _Counted(
            machine,
            sides,
            machine.reader([_SOFTNET, _STAT, *throttle]),
            [host.reader(of_a_network) for host in hosts.values()],
            device,
        )

    def at_edges(self) -> Iterable[tuple[Host, Reader]]:
        """Return what reads them."""
        return [
            (one.machine, reader) for one in self._counted for reader in (one.common, *one.networks)
        ]

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Ask what was read."""
        for one in self._counted:
            before, after = one.snapshots()
            self.changes[one.sides] = after - before
            if one.device is not None:
                edges = one.networks[0].edges()
                first, last = (device_counts(texts[_DEVICES], one.device) for _, texts in edges)
                changes = {name: last[name] - first[name] for name in _OF_A_DEVICE}
                self.devices[one.sides[0]] = changes

    def found(self) -> dict[str, Any] | None:
        """Return what goes into the record: all machines together, and each where they are two."""
        if not self.changes:
            return None
        machines = {sides: asdict(change) for sides, change in self.changes.items()}
        together = {name: sum(change[name] for change in machines.values()) for name in _RECORDED}
        apart = {
            side: change | ({"device": self.devices[side]} if side in self.devices else {})
            for sides, change in machines.items()
            for side in sides
            if len(machines) > 1
        }
        return {**together, "machines": apart or None}

    def close(self) -> None:
        """Close the files."""
        for _, reader in self.at_edges():
            reader.close()
        self._counted.clear()
        self.changes.clear()
        self.devices.clear()


@parser_of(_SOFTNET)
def snapshot_of(texts: Mapping[str, str], snmp: Sequence[str], cpu: CpuTimes) -> KernelSnapshot:
    """Return a snapshot from the texts of a machine's files, and those of its networks."""
    throttle = [int(text) for path, text in texts.items() if path not in (_SOFTNET, _STAT)]
    softnet = [line.split() for line in texts[_SOFTNET].splitlines()]
    networks = [snmp_counts(text, "Tcp", "Udp") for text in snmp]
    return KernelSnapshot(
        **asdict(cpu),
        tcp_retransmitted_segments=sum(one["Tcp.RetransSegs"] for one in networks),
        udp_in_errors=sum(one["Udp.InErrors"] for one in networks),
        udp_receive_buffer_errors=sum(one["Udp.RcvbufErrors"] for one in networks),
        softnet_dropped=sum(int(row[1], 16) for row in softnet),
        softnet_squeezed=sum(int(row[2], 16) for row in softnet),
        throttle_count=sum(throttle),
    )


@parser_of(_SNMP)
def snmp_counts(snmp: str, *protocols: str) -> dict[str, int]:
    """Return `Udp.NAME` and the like from the text of /proc/net/snmp: names and values in turns."""
    rows = [line.split() for line in snmp.splitlines()]
    return {
        f"{protocol}.{name}": int(value)
        for names, values in zip(rows[::2], rows[1::2], strict=True)
        if (protocol := names[0].removesuffix(":")) in protocols
        for name, value in zip(names[1:], values[1:], strict=True)
    }


@parser_of(_DEVICES)
def devices_in(text: str) -> dict[str, dict[str, int]]:
    """Return packets, errors and drops by network device from the text of /proc/net/dev."""
    rows = (line.partition(":") for line in text.splitlines()[2:])
    return {
        name.strip(): {
            counter: int(rest.split()[column]) for counter, column in _OF_A_DEVICE.items()
        }
        for name, _, rest in rows
    }


@parser_of(_DEVICES)
def device_counts(text: str, name: str) -> dict[str, int]:
    """Return those of one device."""
    return devices_in(text)[name]
