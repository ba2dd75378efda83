"""QEMU's command line for a guest.

Source: qemu-system-x86_64(1), QEMU 7.2; `/dev/kvm` and vhost-net of the kernel.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from copycost.errors import Unavailable
from copycost.hosts.local import LocalHost

Accelerator = Literal["kvm", "tcg"]
NetworkDevice = Literal["virtio", "e1000"]

ARCHITECTURE = "x86_64"
PROGRAM = "qemu-system-x86_64"
# what the kernel is told: say less (each character on the serial line is an exit), reboot at once
# when it panics, which QEMU makes an end of; equal addresses at each boot
KERNEL_ARGUMENTS = (
    "console=ttyS0", "quiet", "panic=-1", "nokaslr", "audit=0", "random.trust_cpu=on",
)  # fmt: skip
# The kernel copies by `rep movsb` where the processor says that is fast, and the emulator runs that
# a byte at a time.
CPUS: dict[Accelerator, str] = {"kvm": "host", "tcg": "max,-erms"}
_OFFLOAD_FEATURES = (
    "csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo", "host_tso4",
    "host_tso6", "host_ecn", "host_ufo",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """A network device of a guest, behind a TAP device."""

    tap_fd: int  # the TAP device, as a descriptor that QEMU inherits
    mac: str  # the guest's address
    device: NetworkDevice = "virtio"  # which one the guest sees
    # /dev/vhost-net, for the kernel to move packets by itself; None without
    vhost_fd: int | None = None
    # whether segmentation and checksums are left to the other end; virtio only
    offloads: bool = True


@dataclass(frozen=True, slots=True)
class GuestMachine:
    """A virtual machine, as QEMU is told."""

    name: str  # what it is called, in the list of processes too
    # what is booted
    kernel: Path
    initrd: Path
    # what runs in it: words behind the kernel's arguments, handed to the first process
    command: Sequence[str] = ()
    accelerator: Accelerator = "tcg"  # who runs its instructions
    vcpus: int = 1  # virtual processors [count]
    memory_bytes: int = 1 << 30  # its memory [bytes]
    # lines between us and programs in it, by their names in /dev/virtio-ports: descriptors of
    # connected sockets that QEMU inherits
    ports: dict[str, int] = field(default_factory=dict)
    link: Link | None = None  # its network device, None without one

    def words(self, qemu: str = PROGRAM) -> list[str]:
        """Return the command; the console is its standard output."""
        append = [*KERNEL_ARGUMENTS, *(["--", *self.command] if self.command else [])]
        return [
            qemu,
            *("-name", f"{self.name},debug-threads=on"),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-machine", f"pc,accel={self.accelerator}"),
            *("-cpu", CPUS[self.accelerator]),
            *("-smp", str(self.vcpus)),
            *("-m", f"{self.memory_bytes >> 20}M"),
            *("-kernel", str(self.kernel), "-initrd", str(self.initrd)),
            *("-append", " ".join(append)),
            *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
            *self._port_words(),
            *self._link_words(),
        ]

    @property
    def inherited(self) -> list[int]:
        """Descriptors that QEMU has to inherit."""
        fds = list(self.ports.values())
        if self.link is not None:
            fds += [fd for fd in (self.link.tap_fd, self.link.vhost_fd) if fd is not None]
        return fds

    def _port_words(self) -> list[str]:
        if not self.ports:
            return []
        words = ["-device", "virtio-serial-pci"]
        for name, fd in self.ports.items():
            words += ["-chardev", f"socket,id={name},fd={fd}"]
            words += ["-device", f"virtserialport,chardev={name},name={name}"]
        return words

    def _link_words(self) -> list[str]:
        link = self.link
        if link is None:
            return ["-nic", "none"]
        vhost = f",vhost=on,vhostfd={link.vhost_fd}" if link.vhost_fd is not None else ",vhost=off"
        if link.device == "e1000":
            # the tap's own offloads are those of virtio
            device, vhost = f"e1000,netdev=net,mac={link.mac}", ",vhost=off"
        else:
            device = f"virtio-net-pci,netdev=net,mac={link.mac}"
            if not link.offloads:
                device += "".join(f",{feature}=off" for feature in _OFFLOAD_FEATURES)
        return ["-netdev", f"tap,id=net,fd={link.tap_fd}{vhost}", "-device", f"{device},romfile="]


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """What guests are made of: the same for all guests of a run."""

    qemu: str  # path of QEMU
    # what is booted
    kernel: Path
    initrd: Path
    accelerator: Accelerator  # who runs its instructions
    vcpus: int  # virtual processors [count]
    memory_bytes: int  # its memory [bytes]
    network_device: NetworkDevice  # what its network device is
    vhost: bool  # whether the host's kernel moves its packets by itself (vhost-net)
    offloads: bool  # whether segmentation and checksums are left to the other end

    def as_plain(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"kernel": str(self.kernel), "initrd": str(self.initrd)}

    def for_record(self) -> dict[str, Any]:
        """Return what a record says: all but where things lie."""
        used = self.as_plain()
        return {name: used[name] for name in used if name not in ("qemu", "kernel", "initrd")}

    def absolute(self) -> Self:
        """Return the same with paths that hold in any folder."""
        return replace(self, kernel=self.kernel.absolute(), initrd=self.initrd.absolute())

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """Return what `as_plain` gave."""
        paths = {name: Path(values[name]) for name in ("kernel", "initrd")}
        return cls(**{**values, **paths})


def find_qemu() -> str:
    """Return the path of QEMU; Unavailable without it, or on another architecture."""
    machine = os.uname().machine
    if machine != ARCHITECTURE:
        raise Unavailable(
            f"guests are made for {ARCHITECTURE} alone, and this machine is {machine}",
            "measure guests on another machine",
        )
    found = LocalHost().find_tool(PROGRAM)
    if found is None:
        raise Unavailable(
            f"the command {PROGRAM} was not found", "install the package qemu-system-x86"
        )
    return found
