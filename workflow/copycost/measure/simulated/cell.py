"""One cell of simulated counts: a copy of a saved guest that runs a sender and a receiver.

The window holds exactly so many messages, and nothing is under way at its edges.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from copycost.config.simulated import Geometry, Prefetcher
from copycost.config.testbeds import receives_on, transport_of
from copycost.errors import HostError
from copycost.hosts.guest.qemu import running
from copycost.hosts.testbeds.on_host import ADDRESSES
from copycost.measure.simulated.guest import copy_words, escaped

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


@dataclass(frozen=True, slots=True)
class Caches:
    """Caches ``l1d``, ``l2`` and ``llc``, each at least as large as the one before it.

    A line is a power of two; what is fetched before it is needed: see src/simulated/hierarchy.h.
    """

    levels: Mapping[str, Geometry]
    line_bytes: int = 64
    prefetcher: Prefetcher = "none"

    def words(self) -> list[str]:
        """Return the plugin's options."""
        return [
            *(f"{name}={level.size_bytes}:{level.ways}" for name, level in self.levels.items()),
            f"line={self.line_bytes}",
            f"prefetcher={self.prefetcher}",
        ]


def cell_text(
    testbed: str,
    msg_bytes: int,
    messages: int,
    warmup_messages: int,
    ring_bytes: int = 0,
    batch: int = 1,
    tunables: str = "",
) -> str:
    """Return what simulated_cell reads: what runs on ``loopback``, or ``sink``, without a receiver.

    So many messages are sent in the window, after others before it, in turn from a ring (0 for one
    hot message). The programs find nothing in their environment but GLIBC_TUNABLES.
    """
    common = f"--msg-bytes {msg_bytes} --io-timeout-ms {_IO_TIMEOUT_MS} "
    is_datagram = transport_of(testbed) == "datagram"
    common += "--transport datagram" if is_datagram else "--congestion cubic,reno"
    if receives_on(testbed):
        bound = f"--bind {_LOOPBACK}"
        other = f"receiver {common} --connect {_LOOPBACK}"
    else:
        bound = f"--sink --connect {ADDRESSES[1]} --port {_SINK_PORT}"
        other = "namespace /run/netns/sender"
    counted = (
        f"--counted-messages {messages} --warmup-messages {warmup_messages}"
        f" --ring-bytes {ring_bytes} --batch {batch}"
    )
    lines = [
        f"lead_ns {_LEAD_NS}",
        f"window_ns {_WINDOW_NS + messages * (_MESSAGE_NS + msg_bytes * _BYTE_NS)}",
        *([f"environment GLIBC_TUNABLES={tunables}"] if tunables else []),
        f"sender {common} {bound} {counted}",
        other,
    ]
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a cell has left: the plugin's result (src/simulated/result.h), and the programs'.

    Their times are the guest's, which mean nothing.
    """

    counted: dict[str, Any]
    sender: dict[str, Any]
    receiver: dict[str, Any] | None


def simulate(
    text: str,
    programs: Mapping[str, Path],
    guest: Path,
    plugin: Path,
    caches: Caches,
    timeout_s: float = TIMEOUT_S,
) -> Simulated:
    """Run a cell in a copy of a saved guest, and return what the plugin counted.

    `text` is what simulated_cell reads, and `programs` are the ``sender`` and, where somebody
    receives, the ``receiver``; `guest` is the folder of the saved one. Unavailable where there is
    no QEMU; HostError, with what it said last, where QEMU, the plugin, the guest or a program
    fails, or it takes too long.
    """
    with TemporaryDirectory(prefix="copycost_") as name:
        folder = Path(name)
        result = folder / "result"
        files = {side: folder / side for side in ("cell", *programs)}
        files["cell"].write_text(text, encoding="utf-8")
        for side, program in programs.items():
            files[side].write_bytes(loaded_part(program.read_bytes()))
        symbols = escaped(guest / "symbols")
        told = [
            escaped(plugin.resolve()),
            *caches.words(),
            f"symbols={symbols}",
            f"result={result}",
        ]
        words = [*copy_words(guest, files), "-plugin", ",".join(told)]
        with running(words, timeout_s) as emulator:
            emulator.load(guest / "state")
            emulator.tell("cont")
            emulator.await_stop()
            return _result_of(result, emulator.console(), programs)


def _result_of(result: Path, console: list[str], sides: Iterable[str]) -> Simulated:
    if not result.exists():
        raise HostError(
            "the plugin saw no window in the simulated guest: the programs have no marks of it, or"
            " were built for another processor"
        )
    said = {}
    for side in sides:
        start = f"{side}.out: "
        line = next(line for line in console if line.startswith(start))
        said[side] = json.loads(line.removeprefix(start))
    counted = json.loads(result.read_text(encoding="utf-8"))
    return Simulated(counted, said["sender"], said.get("receiver"))


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
