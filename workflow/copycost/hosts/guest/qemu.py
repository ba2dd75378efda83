"""QEMU's command line for a guest.

Source: qemu-system-x86_64(1), QEMU 7.2; `/dev/kvm` and vhost-net of the kernel.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from copycost.errors import Unavailable
from copycost.hosts.local import LocalHost

Accelerator = Literal["kvm", "tcg"]
NetworkDevice = Literal["virtio", "e1000"]

ARCHITECTURE = "x86_64"
PROGRAM = "qemu-system-x86_64"
AGENT_PORT = "agent"
"""Name of the line to the agent, in the guest's /dev/virtio-ports (agent.sh)."""

_KVM = Path("/dev/kvm")
# what the kernel is told: say less (each character on the serial line is an exit), reboot at once
# when it panics, which QEMU makes an end of; equal addresses at each boot; and not to count timer
# interrupts against a delay loop, which an emulator on a busy host may fail ("IO-APIC + timer
# doesn't work": a panic; Documentation/admin-guide/kernel-parameters.txt)
KERNEL_ARGUMENTS = (
    "console=ttyS0", "quiet", "panic=-1", "nokaslr", "audit=0", "random.trust_cpu=on",
    "no_timer_check",
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
    """What a guest's network device is attached to."""

    tap: str  # the TAP device
    mac: str  # the guest's address


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """What guests are made of: the same for all guests of a run."""

    qemu: str  # path of QEMU
    # paths of what is booted
    kernel: str
    initrd: str
    accelerator: Accelerator = "tcg"  # who runs its instructions
    vcpus: int = 1  # virtual processors [count]
    memory_bytes: int = 1 << 30  # its memory [bytes]
    network_device: NetworkDevice = "virtio"  # what its network device is
    vhost: bool = False  # whether the host's kernel moves its packets by itself (vhost-net)
    offloads: bool = True  # whether segmentation and checksums are left to the other end

    def words(
        self, name: str, command: Sequence[str], agent_fd: int | None, link: Link | None
    ) -> list[str]:
        """Return the command that starts a guest; the console is its standard output.

        It is called `name` in the list of processes too. The command's words stand behind the
        kernel's arguments, and are handed to the first process. The line to an agent in it is a
        connected socket that QEMU inherits. Without a link there is no network device.
        """
        append = [*KERNEL_ARGUMENTS, *(["--", *command] if command else [])]
        words = [
            self.qemu,
            *("-name", f"{name},debug-threads=on"),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-machine", f"pc,accel={self.accelerator}"),
            *("-cpu", CPUS[self.accelerator]),
            *("-smp", str(self.vcpus)),
            *("-m", f"{self.memory_bytes >> 20}M"),
            *("-kernel", self.kernel, "-initrd", self.initrd),
            *("-append", " ".join(append)),
            *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        ]
        if agent_fd is not None:
            words += ["-device", "virtio-serial-pci"]
            words += ["-chardev", f"socket,id={AGENT_PORT},fd={agent_fd}"]
            words += ["-device", f"virtserialport,chardev={AGENT_PORT},name={AGENT_PORT}"]
        if link is None:
            return [*words, "-nic", "none"]
        # vhost and the tap's own offloads are those of virtio
        is_virtio = self.network_device == "virtio"
        vhost = "on" if self.vhost and is_virtio else "off"
        tap = f"tap,id=net,ifname={link.tap},script=no,downscript=no,vhost={vhost}"
        device = f"{'virtio-net-pci' if is_virtio else 'e1000'},netdev=net,mac={link.mac}"
        if is_virtio and not self.offloads:
            device += "".join(f",{feature}=off" for feature in _OFFLOAD_FEATURES)
        return [*words, "-netdev", tap, "-device", f"{device},romfile="]


def require_kvm_device() -> None:
    """Raise Unavailable where there is no device of KVM, or none that we may open."""
    if not _KVM.exists():
        raise Unavailable(
            f"there is no {_KVM}",
            "sudo modprobe kvm_intel (or kvm_amd); of a virtual machine, allow nested ones",
        )
    if not os.access(_KVM, os.R_OK | os.W_OK):
        raise Unavailable(f"{_KVM} may not be opened", "sudo adduser $USER kvm, then log in again")


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
