"""One cell of simulated counts: a copy of a saved guest that runs a sender and a receiver.

The window holds exactly so many messages, and nothing is under way at its edges.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from copycost.config.testbeds import receives_on, transport_of
from copycost.errors import HostError
from copycost.hosts.guest.qemu import find_qemu
from copycost.hosts.guest.qmp import running
from copycost.measure.simulated.snapshot import Snapshot, copy_words, escaped
from copycost.testbeds.on_host import ADDRESSES

TIMEOUT_S = 120.0
"""How long a cell may take [s]; one of 32 MiB takes 1 to 3 s."""

_LOOPBACK = "127.0.0.1"
_PT_LOAD = 1
# the port of the discard service (RFC 863), as for the sink of a host
_SINK_PORT = 9
# Room for what is sent before the window, and in it: a multiple of what that takes in the guest,
# where an instruction takes 1 ns. Time that is left is leapt over.
_LEAD_NS = 1_000_000_000
_WINDOW_NS = 1_000_000_000
_MESSAGE_NS = 200_000
_BYTE_NS = 20
_IO_TIMEOUT_MS = 100_000

Prefetcher = Literal["none", "next_line"]


@dataclass(frozen=True, slots=True)
class Level:
    """One level: its size [bytes] and the lines of a set [count]."""

    size_bytes: int
    ways: int


@dataclass(frozen=True, slots=True)
class Caches:
    """A hierarchy of caches, each level at least as large as the one before it.

    A line is a power of two; what is fetched before it is needed: see src/simulated/hierarchy.h.
    """

    l1d: Level
    l2: Level
    llc: Level
    line_bytes: int = 64
    prefetcher: Prefetcher = "none"

    def words(self) -> list[str]:
        """Return the plugin's options."""
        levels = {"l1d": self.l1d, "l2": self.l2, "llc": self.llc}
        return [
            *(f"{name}={level.size_bytes}:{level.ways}" for name, level in levels.items()),
            f"line={self.line_bytes}",
            f"prefetcher={self.prefetcher}",
        ]


@dataclass(frozen=True, slots=True)
class SimulatedCell:
    """What runs in the guest, on the testbed ``loopback`` or ``sink``, where nobody receives.

    So many messages are sent in the window, after others before it, in turn from a ring (0 for one
    hot message). The programs find nothing in their environment beyond ``GLIBC_TUNABLES``.
    """

    testbed: str
    sender: Path
    receiver: Path | None
    msg_bytes: int
    messages: int
    warmup_messages: int
    ring_bytes: int = 0
    batch: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """Return what simulated_cell reads."""
        window_ns = _WINDOW_NS + self.messages * (_MESSAGE_NS + self.msg_bytes * _BYTE_NS)
        lines = [
            f"lead_ns {_LEAD_NS}",
            f"window_ns {window_ns}",
            *(f"environment {name}={value}" for name, value in self.environment.items()),
            f"sender {' '.join(self._sender_words())}",
        ]
        if receives_on(self.testbed):
            words = [*self._common_words(), "--connect", _LOOPBACK]
            lines.append(f"receiver {' '.join(words)}")
        else:
            lines.append("namespace /run/netns/sender")
        return "".join(f"{line}\n" for line in lines)

    def _common_words(self) -> list[str]:
        words = ["--msg-bytes", str(self.msg_bytes), "--io-timeout-ms", str(_IO_TIMEOUT_MS)]
        if transport_of(self.testbed) == "datagram":
            return [*words, "--transport", "datagram"]
        return [*words, "--congestion", "cubic,reno"]

    def _sender_words(self) -> list[str]:
        counted = {
            "--counted-messages": self.messages,
            "--warmup-messages": self.warmup_messages,
            "--ring-bytes": self.ring_bytes,
            "--batch": self.batch,
        }
        place = ["--bind", _LOOPBACK]
        if not receives_on(self.testbed):
            place = ["--sink", "--connect", ADDRESSES[1], "--port", str(_SINK_PORT)]
        options = [word for name, value in counted.items() for word in (name, str(value))]
        return [*self._common_words(), *place, *options]


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a cell has left: the plugin's result (src/simulated/result.h), and the programs'.

    Their times are the guest's, which mean nothing.
    """

    counted: dict[str, Any]
    sender: dict[str, Any]
    receiver: dict[str, Any] | None


def simulate(
    cell: SimulatedCell,
    snapshot: Snapshot,
    plugin: Path,
    caches: Caches,
    timeout_s: float = TIMEOUT_S,
) -> Simulated:
    """Run a cell in a copy of a saved guest, and return what the plugin counted.

    Unavailable where there is no QEMU; HostError, with what it said last, where QEMU, the plugin,
    the guest or a program fails, or it takes too long.
    """
    with TemporaryDirectory(prefix="copycost_") as name:
        folder = Path(name)
        result = folder / "result"
        request = folder / "cell"
        request.write_text(cell.text(), encoding="utf-8")
        files = {"cell": request}
        for side, program in (("sender", cell.sender), ("receiver", cell.receiver)):
            if program is not None:
                files[side] = folder / side
                files[side].write_bytes(loaded_part(program.read_bytes()))
        told = [*caches.words(), f"symbols={escaped(snapshot.symbols)}", f"result={result}"]
        machine = snapshot.read_guest().machine
        shared = machine.words(find_qemu(), snapshot.memory, is_copy=True)
        plugged = ["-plugin", ",".join([escaped(plugin.resolve()), *told])]
        with running([*shared, *copy_words(files), *plugged], timeout_s) as emulator:
            emulator.load(snapshot.state)
            emulator.tell("cont")
            emulator.await_stop()
            return _gathered(emulator.console(), result, receives_on(cell.testbed))


def loaded_part(program: bytes) -> bytes:
    """Return a program as far as it is loaded to run; debug data, most of it, come behind that.

    The guest reads it byte by byte. Source: elf(5), Elf64_Ehdr and Elf64_Phdr.
    """
    (first,) = struct.unpack_from("<Q", program, 0x20)
    size, n = struct.unpack_from("<HH", program, 0x36)
    ends = [first + n * size]
    for at in range(first, first + n * size, size):
        kind, offset, length = struct.unpack_from("<I4xQ16xQ", program, at)
        if kind == _PT_LOAD:
            ends.append(offset + length)
    return program[: max(ends)]


def _gathered(said: list[str], result: Path, has_receiver: bool) -> Simulated:
    if not result.exists():
        raise HostError(
            "the plugin saw no window in the simulated guest: the programs have no marks of it, or"
            " were built for another processor"
        )
    counted = json.loads(result.read_text(encoding="utf-8"))
    return Simulated(
        counted, _said_by("sender", said), _said_by("receiver", said) if has_receiver else None
    )


def _said_by(name: str, console: list[str]) -> Any:  # noqa: ANN401 - a program's JSON
    start = f"{name}.out: "
    return json.loads(next(line for line in console if line.startswith(start))[len(start) :])
