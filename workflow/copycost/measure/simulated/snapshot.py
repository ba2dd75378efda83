"""A guest that has booted, saved: each cell goes on from a copy of it.

So booting is paid for once, and no cell can tell what ran before it: all begin with the same bit in
every place of memory, processor and devices.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from copycost.errors import HostError
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.kernel import Kernel
from copycost.hosts.guest.qemu import PROGRAM, find_qemu
from copycost.hosts.guest.qmp import running
from copycost.measure.simulated.machine import SimulatedMachine

BOOT_TIMEOUT_S = 300.0
"""How long a guest may take to boot and be saved; on a quiet CPU of 2022 it takes 6 s [s]."""

_SYMBOLS = re.compile(r"^symbols (\d+) (\d+)$", re.MULTILINE)
_COMPLAINTS = re.compile(r"^copycost: .*$", re.MULTILINE)
_TEXT_SYMBOL = re.compile(r"^(f[0-9a-f]{15}) [tT] (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Guest:
    """What a saved guest is, as records say it.

    Attributes
    ----------
    kernel, kernel_source
        Its version, and where it is from.
    kernel_arguments
        What it was told.
    qemu
        Version of QEMU, which copies need too.
    cpu_features, own_kernel_arguments
        As in `SimulatedMachine`.
    """

    kernel: str
    kernel_source: str
    kernel_arguments: tuple[str, ...]
    qemu: str | None
    cpu: str
    cpu_features: tuple[str, ...]
    own_kernel_arguments: tuple[str, ...]

    @property
    def machine(self) -> SimulatedMachine:
        """The machine that a copy needs."""
        return SimulatedMachine(self.cpu_features, self.own_kernel_arguments)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a saved guest.

    Attributes
    ----------
    memory
        Its memory, which copies map, each to itself.
    state
        The state of processor and devices.
    symbols
        The functions of its kernel, for the plugin.
    facts
        What it is, see `Guest`.
    """

    memory: Path
    state: Path
    symbols: Path
    facts: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """Return the files in a folder."""
        return cls(folder / "memory", folder / "state", folder / "symbols", folder / "guest.json")

    def read_guest(self) -> Guest:
        """Return what it is."""
        found = json.loads(self.facts.read_text(encoding="utf-8"))
        lists = ("kernel_arguments", "cpu_features", "own_kernel_arguments")
        return Guest(**{**found, **{name: tuple(found[name]) for name in lists}})


def save_guest(
    machine: SimulatedMachine, kernel: Kernel, image: Path, initrd: Path, target: Snapshot
) -> None:
    """Boot a guest, and save it once it waits for what to run.

    Parameters
    ----------
    machine
        What it runs on.
    kernel, image
        What the kernel is, and its file.
    initrd
        Its first file system, of `simulated_image`.
    target
        Where it is saved; the folder exists.

    Raises
    ------
    Unavailable
        If there is no QEMU.
    HostError
        If it does not boot, or cannot be saved.
    """
    _boot(machine, image, initrd, target)
    guest = Guest(
        kernel.release,
        kernel.source,
        machine.all_kernel_arguments,
        describe_tool(PROGRAM).version,
        machine.cpu,
        machine.cpu_features,
        machine.kernel_arguments,
    )
    target.facts.write_text(json.dumps(asdict(guest), indent=2) + "\n", encoding="utf-8")


def _boot(machine: SimulatedMachine, image: Path, initrd: Path, target: Snapshot) -> None:
    """Boot a guest and write memory, state and symbols."""

    def words(qmp_fd: int) -> list[str]:
        shared = machine.words(qmp_fd, target.memory, is_copy=False)
        return [*shared, *machine.boot_words(image, initrd)]

    target.memory.unlink(missing_ok=True)
    with running(find_qemu(), words, BOOT_TIMEOUT_S) as emulator:
        emulator.await_stop()
        said = "\n".join(emulator.console)
        complaints = _COMPLAINTS.findall(said)
        found = _SYMBOLS.search(said)
        if complaints or found is None:
            raise HostError(f"the simulated guest is not complete: {emulator.last_words()}")
        raw = target.symbols.with_name("kallsyms")
        address, n_bytes = map(int, found.groups())
        emulator.tell("memsave", val=address, size=n_bytes, filename=str(raw.resolve()))
        target.symbols.write_text(symbol_table(raw.read_text(encoding="utf-8")))
        raw.unlink()
        emulator.save(target.state)


def symbol_table(kallsyms: str) -> str:
    """Return the functions in a text of /proc/kallsyms as the plugin reads them: sorted.

    Where two have the same address, the order of their names decides, so that the table is the same
    each time.

    Raises
    ------
    HostError
        If there are none, as for who may not see addresses.
    """
    found = sorted(_TEXT_SYMBOL.findall(kallsyms))
    if not found:
        raise HostError("the simulated guest's /proc/kallsyms names no function's address")
    return "".join(f"{address} {name}\n" for address, name in found)
