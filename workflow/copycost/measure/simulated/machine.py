"""The machine that simulated guests run on, such that each run of it is the same to the last bit.

What would differ from run to run is taken out: instructions are the clock (`-icount`), which leaps
over idle time instead of waiting; QEMU's threads take turns (`rr=record`, of which the record is
thrown away: else its main thread might look at that clock a little before or after an idle
processor has brought it up to date, and leap from another time); the date, QEMU's own random
numbers and the kernel's are fixed; addresses are not random; there is one processor, and no line to
the outside whose partner is a matter of time. What a cell is to run comes as files of fw_cfg, which
are read by ports.

Source: qemu-system-x86_64(1), QEMU 7.2; Documentation/admin-guide/kernel-parameters.txt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MEMORY_BYTES = 512 << 20
# With `erms` the kernel and the C library copy long pieces by `rep movsb`, which is emulated a byte
# at a time; with 5-level page tables every look-up takes a step more.
_CPU = ("max", "-erms", "-rdrand", "-rdseed", "-la57")
_KERNEL_ARGUMENTS = (
    "console=ttyS0", "quiet", "panic=-1", "nokaslr", "norandmaps", "random.trust_cpu=off",
    "audit=0", "transparent_hugepage=madvise",
    "init_on_alloc=1",  # else a kernel's own default decides whether new pages are zeroed
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SimulatedMachine:
    """What of the machine may be changed; the guest is booted anew for each.

    Attributes
    ----------
    cpu_features
        Features that the processor has (``+erms``), or has not (``-avx2``), beyond the usual.
    kernel_arguments
        Further words for the kernel: ``init_on_alloc=0``.
    """

    cpu_features: tuple[str, ...] = ()
    kernel_arguments: tuple[str, ...] = ()

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

    def words(self, qmp_fd: int, memory: Path, *, is_copy: bool) -> list[str]:
        """Return QEMU's options that are the same for boot and copies.

        The console is its standard output.

        Parameters
        ----------
        qmp_fd
            Our line to QEMU itself: a connected socket that it inherits.
        memory
            The file that is the guest's memory.
        is_copy
            Whether what is written there is this machine's alone, and the file stays as it is.
        """
        share = "off" if is_copy else "on"
        backend = f"memory-backend-file,id=memory,share={share},size={MEMORY_BYTES}"
        return [
            *("-name", "copycost-simulated", "-nodefaults", "-no-user-config", "-display", "none"),
            "-no-reboot",  # a kernel that panics does that
            *("-machine", "pc,accel=tcg,memory-backend=memory", "-cpu", self.cpu, "-smp", "1"),
            *("-m", f"{MEMORY_BYTES >> 20}M", "-nic", "none"),
            *("-object", f"{backend},mem-path={escaped(memory)}"),
            *("-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null", "-seed", "1"),
            *("-rtc", "base=2020-01-01,clock=vm"),
            *("-device", "pvpanic", "-action", "panic=pause"),
            *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
            *("-chardev", f"socket,id=qmp,fd={qmp_fd}", "-mon", "chardev=qmp,mode=control"),
        ]

    def boot_words(self, kernel: Path, initrd: Path) -> list[str]:
        """Return QEMU's further options to boot it."""
        append = " ".join(self.all_kernel_arguments)
        return ["-kernel", str(kernel), "-initrd", str(initrd), "-append", append]


def copy_words(files: Mapping[str, Path]) -> list[str]:
    """Return QEMU's further options to wait for the state of a saved machine.

    Parameters
    ----------
    files
        What the guest is handed, by name.
    """
    handed: Sequence[str] = [
        word
        for name, path in files.items()
        for word in ("-fw_cfg", f"name=opt/copycost/{name},file={escaped(path)}")
    ]
    # what was saved, was saved without the section that says of which machine it is
    return ["-S", "-incoming", "defer", "-global", "migration.send-configuration=off", *handed]


def escaped(path: Path) -> str:
    """Return a path as a value among QEMU's options: a comma is written twice."""
    return str(path).replace(",", ",,")
