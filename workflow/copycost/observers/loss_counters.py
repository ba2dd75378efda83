"""Kernel counters that say where datagrams went, read in both network namespaces.

Source: proc(5) on /proc/net/snmp and /proc/net/dev; include/uapi/linux/snmp.h. `OutDatagrams` is
what the kernel took from senders, `InDatagrams` what receivers have read, `RcvbufErrors` what found
the receive buffer full, `MemErrors` what found no memory for sockets (udp(7), udp_mem), and
`InErrors` holds both.
"""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import IO, Literal

from copycost.testbeds.testbed import Testbed

Counters = dict[str, dict[str, int]]
"""By side (`sender`, and `receiver` where it has a namespace of its own), counter and value."""

_POLL_S = 0.002
_SIDES: tuple[Literal["sender", "receiver"], ...] = ("sender", "receiver")


class DatagramCounters:
    """The counters of a testbed; to be used in a ``with`` block.

    An open file of /proc/net belongs to the namespace in which it was opened.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._files: dict[str, dict[str, IO[str]]] = {}

    @classmethod
    def in_testbed(cls, testbed: Testbed) -> "DatagramCounters":
        """Return the counters of a testbed's namespaces."""
        counters = cls()
        for side in _SIDES:
            if side == "receiver" and testbed.receiver is None:
                continue  # one namespace for both
            with testbed.inside(side):
                counters.open_side(side, Path("/proc/thread-self/net"))
        return counters

    def open_side(self, side: str, folder: Path) -> None:
        """Open the files of one side's namespace, which then stays as long as they are open."""
        self._files[side] = {
            name: self._stack.enter_context((folder / name).open(encoding="ascii"))
            for name in ("snmp", "dev", "udp")
        }

    def __enter__(self) -> "DatagramCounters":
        """Return self; the files are open already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        self._stack.close()

    def read(self) -> Counters:
        """Return all counters as they stand now."""
        return {
            side: parse_snmp(_text(files["snmp"])) | parse_devices(_text(files["dev"]))
            for side, files in self._files.items()
        }

    def await_drained(self, ports: Sequence[int], timeout_s: float) -> bool:
        """Wait until the sockets bound to some ports have nothing left to read.

        Returns
        -------
        bool
            False if they still had at the end of the time.
        """
        deadline_s = time.monotonic() + timeout_s
        empty = 0
        while time.monotonic() < deadline_s:
            # twice, since a datagram may be between device and socket
            empty = empty + 1 if self._waiting(ports) == 0 else 0
            if empty >= 2:
                return True
            time.sleep(_POLL_S)
        return False

    def _waiting(self, ports: Sequence[int]) -> int:
        """Return how many bytes of memory wait in the receive queues."""
        return waiting_bytes(
            _text(self._files.get("receiver", self._files["sender"])["udp"]), ports
        )


def parse_snmp(text: str) -> dict[str, int]:
    """Return `Udp.NAME` and `Ip.NAME` from the text of /proc/net/snmp."""
    found: dict[str, int] = {}
    rows = [line.split() for line in text.splitlines()]
    for names, values in pairwise(rows):
        if names[0] == values[0] and names[0] in ("Udp:", "Ip:") and not names[1].isdigit():
            for name, value in zip(names[1:], values[1:], strict=True):
                found[f"{names[0][:-1]}.{name}"] = int(value)
    return found


def parse_devices(text: str) -> dict[str, int]:
    """Return `rx_dropped` and `tx_dropped`, all devices together, from /proc/net/dev."""
    rows = [line.partition(":")[2].split() for line in text.splitlines()[2:]]
    return {
        "dev.rx_dropped": sum(int(row[3]) for row in rows),
        "dev.tx_dropped": sum(int(row[11]) for row in rows),
    }


def waiting_bytes(text: str, ports: Sequence[int]) -> int:
    """Return the receive queues of sockets bound to `ports`, from the text of /proc/net/udp."""
    wanted = {f"{port:04X}" for port in ports}
    total = 0
    for line in text.splitlines()[1:]:
        row = line.split()
        if row[1].rpartition(":")[2] in wanted:
            total += int(row[4].partition(":")[2], 16)
    return total


def _text(file: IO[str]) -> str:
    # in one read(2): the kernel makes the text afresh at its start
    return os.pread(file.fileno(), 1 << 20, 0).decode("ascii")
