"""Counters of the kernel around the window: TCP, UDP, softirqs, CPU time, heat, lost datagrams.

They are read where they run: in both sides' network namespaces or guests, and in the network of
this machine that joins guests, where a TAP device drops what a guest has no room for
(drivers/net/tun.c, `tun_net_xmit`).

Source: proc(5) on /proc/net/snmp, /proc/net/softnet_stat and /proc/net/dev (whose columns are those
of softnet_seq_show and dev_seq_printf_stats in net/core/net-procfs.c); include/uapi/linux/snmp.h.
"""

import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from copycost.hosts.guest.network import BRIDGE
from copycost.hosts.host import Host, Reader
from copycost.hosts.parsing import parser_of
from copycost.hosts.processes import PATH as _STAT
from copycost.hosts.processes import CpuTimes, cpu_times_at
from copycost.hosts.side import Side, SideName
from copycost.hosts.testbeds.testbed import Testbed
from copycost.observers.protocol import WindowObserver

_SNMP, _SOFTNET, _DEVICES = "proc/net/snmp", "proc/net/softnet_stat", "proc/net/dev"
_SOCKETS = "proc/net/udp"
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

    def change(self) -> KernelSnapshot:
        """Return what was counted between both edges."""
        common = self.common.edges()
        networks = zip(*(one.edges() for one in self.networks), strict=True)
        times = cpu_times_at(common, self.machine.constant("SC_CLK_TCK"))
        before, after = (
            snapshot_of(texts, [of_one[_SNMP] for _, of_one in network], cpu)
            for (_, texts), network, cpu in zip(common, networks, times, strict=True)
        )
        return after - before

    def device_change(self) -> dict[str, int] | None:
        """Return the same of the network device."""
        if self.device is None:
            return None
        texts = [texts[_DEVICES] for _, texts in self.networks[0].edges()]
        before, after = (devices_in(text)[self.device] for text in texts)
        return {name: after[name] - before[name] for name in _OF_A_DEVICE}


class KernelCounters(WindowObserver):
    """Counters of the machines' kernels over the window, for whoever drives the traffic.

    `heated` are the CPUs that each side runs on, which are asked whether heat slowed them down.
    After the window `changes` has the differences by the sides of each machine.
    """

    name = "kernel"

    def __init__(self) -> None:
        self.heated: Mapping[SideName, Iterable[int]] = {}
        self.changes: dict[tuple[SideName, ...], KernelSnapshot] = {}
        self._counted: list[_Counted] = []
        self._devices: dict[tuple[SideName, ...], dict[str, int] | None] = {}

    def prepare(self, testbed: Testbed) -> None:
        """Open the counters of each side's network, and those of each machine."""
        self._counted = [
            self._open(testbed, machine, sides) for machine, sides in testbed.machines()
        ]

    def _open(self, testbed: Testbed, machine: Host, sides: tuple[SideName, ...]) -> _Counted:
        watched = sides if testbed.drop_hook is None else ("sender",)
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
        common = machine.reader([_SOFTNET, _STAT, *throttle])
        networks = [host.reader(of_a_network) for host in hosts.values()]
        return _Counted(machine, sides, common, networks, device)

    def at_edges(self) -> Iterable[tuple[Host, Reader]]:
        """Return what reads them."""
        return [
            (one.machine, reader) for one in self._counted for reader in (one.common, *one.networks)
        ]

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Ask what was read."""
        self.changes = {one.sides: one.change() for one in self._counted}
        self._devices = {one.sides: one.device_change() for one in self._counted}

    def found(self) -> dict[str, Any] | None:
        """Return what goes into the record: all machines together, and each where they are two."""
        if not self.changes:
            return None
        machines = {sides: asdict(change) for sides, change in self.changes.items()}
        together = {name: sum(change[name] for change in machines.values()) for name in _RECORDED}
        if len(machines) == 1:
            return {**together, "machines": None}
        for sides, device in self._devices.items():
            machines[sides] |= {"device": device} if device is not None else {}
        return {**together, "machines": {sides[0]: one for sides, one in machines.items()}}

    def close(self) -> None:
        """Close the files."""
        for _, reader in self.at_edges():
            reader.close()
        self._counted, self.changes = [], {}


Counters = dict[str, dict[str, int]]
"""By place, counter and value: `sender`, `receiver` where it has a namespace of its own, and
`switch` where guests are joined."""

_PROTOCOLS = ("Udp", "Ip")
# how long a receiver may take to read what lies in its buffer
_DRAIN_TIMEOUT_S = 1.0
_POLL_S = 0.002
# a virtual CPU that is emulated, or waits for one of ours, may rest for longer than that
_POLL_OF_GUESTS_S = 0.02
# what becomes of a datagram that arrives, and of its packets where it takes several; not packets of
# TCP, by which another machine is asked
_ARRIVED = ("Udp.InDatagrams", "Udp.InErrors", "Udp.NoPorts", "Ip.ReasmReqds")


class LossCounters(WindowObserver):
    """Says where datagrams went, by counters read at moments when none is under way.

    `OutDatagrams` is what the kernel took from senders, `InDatagrams` what receivers have read,
    `RcvbufErrors` what found the receive buffer full, `MemErrors` what found no memory for sockets
    (udp(7), udp_mem), and `InErrors` holds both.

    A side that reads to the end leaves nothing behind it. For any other the senders are stopped
    (SIGSTOP) after the window until the receivers have read all that had arrived. Then every
    datagram was read or lost, and the counters must say which; at any other moment some lie in the
    receive buffers and are neither.
    """

    name = "datagrams"
    takes_any_traffic = True

    def __init__(self) -> None:
        self._readers: dict[SideName | Literal["switch"], Reader] = {}
        self._begin: Counters = {}
        self._stopped: Counters | None = None
        self._drained = False
        self._reads_to_the_end = False
        self._poll_s = _POLL_S

    def prepare(self, testbed: Testbed) -> None:
        """Open the counters of each namespace, and read them before the first datagram."""
        self._testbed = testbed
        self._stopped, self._drained = None, False
        for name, host in testbed.hosts.items():
            if name == "sender" or testbed.own_namespaces:
                self._readers[name] = host.reader([_SNMP, _DEVICES, _SOCKETS])
        if testbed.switch is not None:
            self._readers["switch"] = testbed.switch.reader([_DEVICES])
        # the fastest way there and back; a datagram may be under way for half of that
        way_s = max(2 * host.clock_uncertainty_ns / 1e9 for host in testbed.hosts.values())
        self._poll_s = max(_POLL_OF_GUESTS_S if testbed.guests else _POLL_S, way_s)
        # with the handshake, of which a datagram that was said twice may be read after it
        self._begin = self._read()

    def attach(self, sides: Sequence[Side]) -> None:
        """Note how the receivers end."""
        self._reads_to_the_end = all(
            side.reads_to_the_end for side in sides if side.name == "receiver"
        )

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Stop the senders until the receivers have read all, where they would not otherwise."""
        if self._reads_to_the_end:
            return
        senders = [side for side in sides if side.name == "sender"]
        ports = [port for side in sides for port in side.ports]
        try:
            for side in senders:
                side.host.signal(side.pids, signal.SIGSTOP)
            self._drained = self._await_drained(ports)
            self._stopped = self._read()
        finally:
            for side in senders:
                side.host.signal(side.pids, signal.SIGCONT)

    def found(self) -> dict[str, Any]:
        """Return the record's entry about the datagrams; everything has ended."""
        end = self._read()
        return {
            "drained": self._drained or self._reads_to_the_end,
            "begin": self._begin,
            "stopped": self._stopped or end,
            "end": end,
        }

    def close(self) -> None:
        """Close the files."""
        for reader in self._readers.values():
            reader.close()

    def _read(self) -> Counters:
        """Return all counters as they stand now."""
        texts = {place: reader.read()[1] for place, reader in self._readers.items()}
        found: Counters = {}
        for place, text in texts.items():
            if place == "switch":
                found[place] = parse_switch(text[_DEVICES])
                continue
            found[place] = snmp_counts(text[_SNMP], *_PROTOCOLS)
            # the devices of a side that is at the switch are the switch's
            if self._testbed.hosts[place] is not self._testbed.switch:
                device = self._testbed.devices.get(place)
                found[place] |= parse_devices(text[_DEVICES], device)
        return found

    def _await_drained(self, ports: Sequence[int]) -> bool:
        """Wait until nobody sends and the sockets bound to some ports have nothing left to read.

        False if they still had at the end of the time.
        """
        sender = self._readers["sender"]
        receiver = self._readers.get("receiver", sender)
        deadline_s = time.monotonic() + _DRAIN_TIMEOUT_S
        before: list[int] | None = None
        while time.monotonic() < deadline_s:
            # another machine's programs are stopped by the time that it answers
            sent = snmp_counts(sender.read()[1][_SNMP], "Udp")["Udp.OutDatagrams"]
            _, texts = receiver.read()
            counters = snmp_counts(texts[_SNMP], *_PROTOCOLS)
            waiting = waiting_bytes(texts[_SOCKETS], ports)
            now = [waiting, sent, *(counters[name] for name in _ARRIVED)]
            # twice, and nothing came in between: a datagram may be on its way to the socket
            if waiting == 0 and now == before:
                return True
            before = now
            time.sleep(self._poll_s)
        return False


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


def parse_devices(text: str, device: str | None = None) -> dict[str, int]:
    """Return what a device, or all together, dropped and had errors with, from /proc/net/dev.

    Source: struct rtnl_link_stats64 of include/uapi/linux/if_link.h. Errors of sending hold those
    for want of room (fifo) and of a link (carrier); for want of room to receive, drivers differ.
    """
    rows = [of for name, of in devices_in(text).items() if device in (None, name)]
    return {
        "dev.rx_dropped": sum(row["rx_dropped"] for row in rows),
        "dev.tx_dropped": sum(row["tx_dropped"] for row in rows),
        "dev.rx_errors": sum(max(row["rx_errors"], row["rx_fifo_errors"]) for row in rows),
        "dev.tx_errors": sum(row["tx_errors"] for row in rows),
    }


def parse_switch(text: str) -> dict[str, int]:
    """Return what the TAP devices and the bridge between them dropped, from /proc/net/dev.

    What a TAP device transmits goes to its guest.
    """
    devices = devices_in(text)
    taps = [row for name, row in devices.items() if name not in (BRIDGE, "lo")]
    bridge = devices.get(BRIDGE)
    return {
        "tap.rx_dropped": sum(row["rx_dropped"] for row in taps),
        "tap.tx_dropped": sum(row["tx_dropped"] for row in taps),
        "bridge.dropped": bridge["rx_dropped"] + bridge["tx_dropped"] if bridge else 0,
    }


@parser_of(_SOCKETS)
def waiting_bytes(text: str, ports: Sequence[int]) -> int:
    """Return the receive queues of sockets bound to `ports`, from the text of /proc/net/udp."""
    wanted = {f"{port:04X}" for port in ports}
    rows = (line.split() for line in text.splitlines()[1:])
    return sum(
        int(row[4].partition(":")[2], 16) for row in rows if row[1].rpartition(":")[2] in wanted
    )
