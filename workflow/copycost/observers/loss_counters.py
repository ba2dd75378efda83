"""Kernel counters that say where datagrams went, read where they run.

That is in both sides' network namespaces or guests, and in the network of this machine that joins
guests, where a TAP device drops what a guest has no room for (drivers/net/tun.c, `tun_net_xmit`).

Source: proc(5) on /proc/net/snmp and /proc/net/dev; include/uapi/linux/snmp.h. `OutDatagrams` is
what the kernel took from senders, `InDatagrams` what receivers have read, `RcvbufErrors` what found
the receive buffer full, `MemErrors` what found no memory for sockets (udp(7), udp_mem), and
`InErrors` holds both.
"""

import signal
import time
from collections.abc import Sequence
from typing import Any, Literal

from copycost.hosts.guest.network import BRIDGE
from copycost.hosts.host import Reader
from copycost.hosts.parsing import parser_of
from copycost.hosts.side import Side, SideName
from copycost.observers.kernel_counters import devices_in, snmp_counts
from copycost.observers.protocol import WindowObserver
from copycost.testbeds.testbed import Testbed

Counters = dict[str, dict[str, int]]
"""By place, counter and value: `sender`, `receiver` where it has a namespace of its own, and
`switch` where guests are joined."""

_LOOPBACK = "lo"
_SNMP, _DEVICES, _SOCKETS = "proc/net/snmp", "proc/net/dev", "proc/net/udp"
_PROTOCOLS = ("Udp", "Ip")
# how long a receiver may take to read what lies in its buffer
_DRAIN_TIMEOUT_S = 1.0
_POLL_S = 0.002
# a virtual CPU that is emulated, or waits for one of ours, may rest for longer than that
_POLL_OF_GUESTS_S = 0.02
# what becomes of a datagram that arrives, and of its packets where it takes several; not packets of
# TCP, by which another machine is asked
_ARRIVED = ("Udp.InDatagrams", "Udp.InErrors", "Udp.NoPorts", "Ip.ReasmReqds")
# within so many times the shortest way, what is under way has arrived
_WAYS = 2.0


class LossCounters(WindowObserver):
    """Reads the counters at moments when no datagram is under way.

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
        self._reads_to_the_end = False
        self._poll_s = _POLL_S

    def prepare(self, testbed: Testbed) -> None:
        """Open the counters of each namespace, and read them before the first datagram."""
        self._stopped, self._drained = None, False
        for name, host in testbed.hosts.items():
            if name == "sender" or testbed.own_namespaces:
                self._readers[name] = host.reader([_SNMP, _DEVICES, _SOCKETS])
        if testbed.switch is not None:
            self._readers["switch"] = testbed.switch.reader([_DEVICES])
        self._testbed = testbed
        if testbed.guests:
            self._poll_s = _POLL_OF_GUESTS_S
        # half of the fastest way there and back; a datagram may be under way for as long
        way_ns = max(host.clock_uncertainty_ns for host in testbed.hosts.values())
        self._poll_s = max(self._poll_s, _WAYS * way_ns * 1e-9)
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
    taps = [row for name, row in devices.items() if name not in (BRIDGE, _LOOPBACK)]
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
    total = 0
    for line in text.splitlines()[1:]:
        row = line.split()
        if row[1].rpartition(":")[2] in wanted:
            total += int(row[4].partition(":")[2], 16)
    return total
