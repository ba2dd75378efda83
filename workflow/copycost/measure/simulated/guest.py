"""A guest whose caches are simulated: its files, its machine, and its state once it has booted.

So booting is paid for once, and no cell can tell what ran before it: each goes on from a copy, and
all begin with the same bit in every place of memory, processor and devices.

Each run of the machine is the same to the last bit. What would differ is taken out: instructions
are the clock (`-icount`), which leaps over idle time instead of waiting; QEMU's threads take turns
(`rr=record`, of which the record is thrown away: else its main thread might look at that clock a
little before or after an idle processor has brought it up to date, and leap from another time); the
date, QEMU's own random numbers and the kernel's are fixed; addresses are not random; there is one
processor, and no line to the outside whose partner is a matter of time. What a cell is to run comes
as files of fw_cfg, which are read by ports.

A saved guest is a folder: ``memory``, which copies map, each to itself; ``state``, of processor and
devices; ``symbols``, the functions of its kernel, for the plugin; and ``guest.json``, what it is.

Source: qemu-system-x86_64(1), QEMU 7.2; Documentation/admin-guide/kernel-parameters.txt.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from copycost.config.simulation_variants import Variant
from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.image import GuestImage, libraries_of
from copycost.hosts.guest.kernel import Kernel
from copycost.hosts.guest.qemu import PROGRAM, find_qemu, running
from copycost.hosts.program import CONTROL
from copycost.hosts.testbeds.drop_hook import drop_rules
from copycost.hosts.testbeds.links import veth_pair_commands
from copycost.hosts.testbeds.on_host import ADDRESSES, LARGEST_MTU_BYTES

INIT = Path(__file__).with_name("init.sh")
DRIVERS = ("veth", "nf_tables")
"""What the testbed `sink` needs of the kernel."""

TOOLS = ("ip", "nft")
"""Programs of this host that make the testbeds in it."""

BOOT_TIMEOUT_S = 300.0
"""How long a guest may take to boot and be saved; on a quiet CPU of 2022 it takes 6 s [s]."""

MEMORY_BYTES = 512 << 20
# What `sink` needs besides on some kernels: the checksum that libcrc32c asks for by a name that
# only modprobe knows, a module where it is not built in; and the counter of what was dropped, since
# Linux 6.2 a part of nf_tables (commit d037abc2414b).
_BEFORE, _BEHIND = "crc32c_generic", "nft_objref"
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


def drivers_of(kernel: Kernel) -> list[str]:
    """Return what of a kernel is loaded, in this order."""
    names = (_BEFORE, *DRIVERS, _BEHIND)
    return [name for name in names if name in DRIVERS or not kernel.lacks([name])]


def simulated_image(kernel: Kernel, orchestrator: Path, programs: Iterable[Path]) -> GuestImage:
    """Return the file system of a guest in which simulated_cell, the orchestrator, runs.

    It has the libraries of senders and receivers, which are handed over with each cell. Unavailable
    if a tool, a library or a driver is missing here.
    """
    image = GuestImage(kernel, drivers_of(kernel), INIT)
    image.add_tools(TOOLS)
    for name in TOOLS:
        if not image.has(f"/usr/bin/{name}"):
            why = f"the command {name} was not found"
            raise Unavailable(why, "install the packages iproute2 and nftables")
    image.add_program(orchestrator, "/usr/bin/simulated_cell")
    for library in {path for program in programs for path in libraries_of(program)}:
        image.add_copy(Path(library))
    links = veth_pair_commands(ADDRESSES, "receiver", LARGEST_MTU_BYTES)
    for side, commands in zip(("sender", "receiver"), links, strict=True):
        text = "".join(f"{command}\n" for command in commands)
        image.add(f"/etc/links_{side}", text.encode())
    image.add("/etc/drop_hook", drop_rules("receiver", f"ip daddr {ADDRESSES[1]}").encode())
    return image


def cpu_of(features: Iterable[str]) -> str:
    """Return the processor for QEMU, some features not as usual; the last word on one counts."""
    changed = {feature[1:] for feature in features}
    return ",".join([*(word for word in _CPU if word[1:] not in changed), *features])


def kernel_arguments_of(own: Iterable[str]) -> list[str]:
    """Return all that the kernel is told; the last word on a parameter counts."""
    changed = {word.partition("=")[0] for word in own}
    return [*(word for word in _KERNEL_ARGUMENTS if word.partition("=")[0] not in changed), *own]


def save_guest(variant: Variant, kernel: Kernel, image: Path, initrd: Path, folder: Path) -> None:
    """Boot a guest, by its first file system (see `simulated_image`), and save it once it waits.

    The folder exists. Unavailable if there is no QEMU, HostError if the guest does not boot, or
    cannot be saved.
    """
    cpu, arguments = cpu_of(variant.cpu_features), kernel_arguments_of(variant.kernel_arguments)
    booted = ["-kernel", str(image), "-initrd", str(initrd), "-append", " ".join(arguments)]
    with running([*_machine(cpu, folder, share="on"), *booted], BOOT_TIMEOUT_S) as emulator:
        emulator.await_stop()
        said = "\n".join(emulator.console())
        found = _SYMBOLS.search(said)
        if _COMPLAINTS.search(said) or found is None:
            raise HostError(f"the simulated guest is not complete: {emulator.last_words()}")
        kallsyms = folder / "kallsyms"
        address, n_bytes = map(int, found.groups())
        emulator.tell("memsave", val=address, size=n_bytes, filename=str(kallsyms.resolve()))
        symbols = symbol_table(kallsyms.read_text(encoding="utf-8"))
        (folder / "symbols").write_text(symbols, encoding="utf-8")
        kallsyms.unlink()
        emulator.save(folder / "state")
    qemu = describe_tool(PROGRAM).version or ""
    version = re.search(r"\d+(?:\.\d+)+", qemu)
    guest = {
        "kernel": kernel.release,
        "kernel_source": kernel.source,
        "kernel_arguments": arguments,
        "qemu": version[0] if version else qemu,
        "cpu": cpu,
    }
    (folder / "guest.json").write_text(json.dumps(guest, indent=2) + "\n", encoding="utf-8")


def read_guest(folder: Path) -> dict[str, Any]:
    """Return what a saved guest is, as records say it."""
    guest: dict[str, Any] = json.loads((folder / "guest.json").read_text(encoding="utf-8"))
    return guest


def copy_words(folder: Path, files: Mapping[str, Path]) -> list[str]:
    """Return QEMU and its options for a copy of a saved guest, to which files are handed by name.

    It waits for the saved state.
    """
    handed = [
        word
        for name, path in files.items()
        for word in ("-fw_cfg", f"name=opt/copycost/{name},file={escaped(path)}")
    ]
    return [
        *_machine(read_guest(folder)["cpu"], folder, share="off"),
        # what was saved, was saved without the section that says of which machine it is
        *("-S", "-incoming", "defer", "-global", "migration.send-configuration=off"),
        *handed,
    ]


def _machine(cpu: str, folder: Path, share: str) -> list[str]:
    """Return QEMU and its options that are the same for boot and copies.

    The console is its standard output, and its control line our line to QEMU itself. The memory is
    a file; what a copy writes to it (`share` is ``off``) is its own.
    """
    memory = escaped(folder / "memory")
    backend = f"memory-backend-file,id=memory,share={share},size={MEMORY_BYTES},mem-path={memory}"
    return [
        find_qemu(),
        *("-name", "copycost-simulated", "-nodefaults", "-no-user-config", "-display", "none"),
        "-no-reboot",  # a kernel that panics does that
        *("-machine", "pc,accel=tcg,memory-backend=memory", "-cpu", cpu, "-smp", "1"),
        *("-m", f"{MEMORY_BYTES >> 20}M", "-nic", "none", "-object", backend),
        *("-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null", "-seed", "1"),
        *("-rtc", "base=2020-01-01,clock=vm"),
        *("-device", "pvpanic", "-action", "panic=pause"),
        *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        *("-chardev", f"socket,id=qmp,fd={CONTROL}", "-mon", "chardev=qmp,mode=control"),
    ]


def escaped(path: Path) -> str:
    """Return a path as a value among QEMU's options: a comma is written twice."""
    return str(path).replace(",", ",,")


def symbol_table(kallsyms: str) -> str:
    """Return the functions in a text of /proc/kallsyms as the plugin reads them: sorted.

    Where two have the same address, the order of their names decides, so that the table is the same
    each time. HostError if there are none, as for who may not see addresses.
    """
    found = sorted(_TEXT_SYMBOL.findall(kallsyms))
    if not found:
        raise HostError("the simulated guest's /proc/kallsyms names no function's address")
    return "".join(f"{address} {name}\n" for address, name in found)
