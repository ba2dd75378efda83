"""A guest whose caches are simulated: its machine, and its state once it has booted, saved.

So booting is paid for once, and no cell can tell what ran before it: each goes on from a copy, and
all begin with the same bit in every place of memory, processor and devices.

Each run of the machine is the same to the last bit. What would differ is taken out: instructions
are the clock (`-icount`), which leaps over idle time instead of waiting; QEMU's threads take turns
(`rr=record`, of which the record is thrown away: else its main thread might look at that clock a
little before or after an idle processor has brought it up to date, and leap from another time); the
date, QEMU's own random numbers and the kernel's are fixed; addresses are not random; there is one
processor, and no line to the outside whose partner is a matter of time. What a cell is to run comes
as files of fw_cfg, which are read by ports.

Source: qemu-system-x86_64(1), QEMU 7.2; Documentation/admin-guide/kernel-parameters.txt.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from copycost.errors import HostError
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.kernel import Kernel
from copycost.hosts.guest.qemu import PROGRAM, find_qemu, running
from copycost.hosts.program import CONTROL

BOOT_TIMEOUT_S = 300.0
"""How long a guest may take to boot and be saved; on a quiet CPU of 2022 it takes 6 s [s]."""

MEMORY_BYTES = 512 << 20
# With `erms` the kernel and the C library copy long pieces by `rep movsb`, which is emulated a byte
# at a time; with 5-level page tables every look-up takes a step more.
_CPU = ("max", "-erms", "-rdrand", "-rdseed", "-la57")
_KERNEL_ARGUMENTS = (
    "console=ttyS0", "quiet", "panic=-1", "nokaslr", "norandmaps", "random.trust_cpu=off",
    "audit=0", "no_timer_check", "transparent_hugepage=madvise",
    "init_on_alloc=1",  # else a kernel's own default decides whether new pages are zeroed
)  # fmt: skip
_SYMBOLS = re.compile(r"^symbols (\d+) (\d+)$", re.MULTILINE)
_COMPLAINTS = re.compile(r"^copycost: .*$", re.MULTILINE)
_TEXT_SYMBOL = re.compile(r"^(f[0-9a-f]{15}) [tT] (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SimulatedMachine:
    """What of the machine may be changed; the guest is booted anew for each."""

    # what the processor has (``+erms``), or has not (``-avx2``), beyond the usual
    cpu_features: tuple[str, ...] = ()
    kernel_arguments: tuple[str, ...] = ()  # further words for the kernel: ``init_on_alloc=0``

    @property
    def cpu(self) -> str:
        """The processor, as QEMU is told; the last word on a feature counts."""
        changed = {feature[1:] for feature in self.cpu_features}
        usual = [word for word in _CPU if word[1:] not in changed]
        return ",".join((*usual, *self.cpu_features))

    @property
    def all_kernel_arguments(self) -> tuple[str, ...]:
        """Everything that the kernel is told; the last word on a parameter counts."""
        changed = {word.partition("=")[0] for word in self.kernel_arguments}
        usual = (word for word in _KERNEL_ARGUMENTS if word.partition("=")[0] not in changed)
        return (*usual, *self.kernel_arguments)

    def words(self, qemu: str, memory: Path, *, is_copy: bool) -> list[str]:
        """Return QEMU and its options that are the same for boot and copies.

        The console is its standard output, and its control line our line to QEMU itself. `memory`
        is the file that is the guest's memory; of a copy, what is written there is its alone.
        """
        share = "off" if is_copy else "on"
        backend = f"memory-backend-file,id=memory,share={share},size={MEMORY_BYTES}"
        return [
            qemu,
            *("-name", "copycost-simulated", "-nodefaults", "-no-user-config", "-display", "none"),
            "-no-reboot",  # a kernel that panics does that
            *("-machine", "pc,accel=tcg,memory-backend=memory", "-cpu", self.cpu, "-smp", "1"),
            *("-m", f"{MEMORY_BYTES >> 20}M", "-nic", "none"),
            *("-object", f"{backend},mem-path={escaped(memory)}"),
            *("-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null", "-seed", "1"),
            *("-rtc", "base=2020-01-01,clock=vm"),
            *("-device", "pvpanic", "-action", "panic=pause"),
            *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
            *("-chardev", f"socket,id=qmp,fd={CONTROL}", "-mon", "chardev=qmp,mode=control"),
        ]

    def boot_words(self, kernel: Path, initrd: Path) -> list[str]:
        """Return QEMU's further options to boot it."""
        append = " ".join(self.all_kernel_arguments)
        return ["-kernel", str(kernel), "-initrd", str(initrd), "-append", append]


def copy_words(files: Mapping[str, Path]) -> list[str]:
    """Return QEMU's further options to wait for a saved state, and to hand files over by name."""
    handed = [
        word
        for name, path in files.items()
        for word in ("-fw_cfg", f"name=opt/copycost/{name},file={escaped(path)}")
    ]
    # what was saved, was saved without the section that says of which machine it is
    return ["-S", "-incoming", "defer", "-global", "migration.send-configuration=off", *handed]


def escaped(path: Path) -> str:
    """Return a path as a value among QEMU's options: a comma is written twice."""
    return str(path).replace(",", ",,")


@dataclass(frozen=True, slots=True)
class Guest:
    """What a saved guest is, as records say it."""

    # its kernel's version, where that is from, and what it was told
    kernel: str
    kernel_source: str
    kernel_arguments: tuple[str, ...]
    qemu: str | None  # its version, which copies need too
    cpu: str
    # as in `SimulatedMachine`
    cpu_features: tuple[str, ...]
    own_kernel_arguments: tuple[str, ...]

    @property
    def machine(self) -> SimulatedMachine:
        """The machine that a copy needs."""
        return SimulatedMachine(self.cpu_features, self.own_kernel_arguments)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a saved guest."""

    memory: Path  # which copies map, each to itself
    state: Path  # of processor and devices
    symbols: Path  # the functions of its kernel, for the plugin
    facts: Path  # what it is, see `Guest`

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
    """Boot a guest, by its first file system (see `simulated_image`), and save it once it waits.

    The target's folder exists. Unavailable if there is no QEMU, HostError if the guest does not
    boot, or cannot be saved.
    """
    target.memory.unlink(missing_ok=True)
    shared = machine.words(find_qemu(), target.memory, is_copy=False)
    words = [*shared, *machine.boot_words(image, initrd)]
    with running(words, BOOT_TIMEOUT_S) as emulator:
        emulator.await_stop()
        said = "\n".join(emulator.console())
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


def symbol_table(kallsyms: str) -> str:
    """Return the functions in a text of /proc/kallsyms as the plugin reads them: sorted.

    Where two have the same address, the order of their names decides, so that the table is the same
    each time. HostError if there are none, as for who may not see addresses.
    """
    found = sorted(_TEXT_SYMBOL.findall(kallsyms))
    if not found:
        raise HostError("the simulated guest's /proc/kallsyms names no function's address")
    return "".join(f"{address} {name}\n" for address, name in found)
