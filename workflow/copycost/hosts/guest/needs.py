"""What guests take of this machine, and whether it is there; nothing is fetched, nothing booted."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from copycost.errors import Unavailable
from copycost.hosts.facts.tools import describe_tool
from copycost.hosts.guest.image import find_busybox
from copycost.hosts.guest.kernel import own_kernel, package_names
from copycost.hosts.guest.network import has_vhost, require_taps
from copycost.hosts.guest.qemu import PROGRAM, find_qemu, require_kvm_device


@dataclass(frozen=True, slots=True)
class Need:
    """Something that guests take."""

    name: str
    use: str  # what it is for
    found: str | None  # what is there, in a few words; None where it is missing
    necessary: bool = True  # whether there are no guests without it
    # why it is missing and what helps; None where it is there, or nothing helps
    reason: str | None = None
    remedy: str | None = None


def guest_needs() -> list[Need]:
    """Return everything that guests take."""
    vhost = has_vhost()
    return [
        _tried("QEMU", "runs them", find_qemu, describe_tool(PROGRAM).version or "yes"),
        _tried("busybox", "is their first process", find_busybox, "static"),
        _tried("kernel", "is what they boot", _kernel),
        _tried(
            "TAP devices", "join them: vm_pair and vm_host; vm_loopback does without",
            require_taps, "yes", necessary=False,
        ),
        _tried(
            "KVM",
            "lets the processor run them; ./run tries it with a guest, since a device that is there"
            " may not work; without it they are emulated",
            require_kvm_device, "a device", necessary=False,
        ),
        Need(
            "vhost-net", "has the kernel move their packets; without it QEMU does",
            "yes" if vhost else None, necessary=False,
            remedy=None if vhost else "sudo modprobe vhost_net",
        ),
    ]  # fmt: skip


def _tried(
    name: str,
    use: str,
    find: Callable[[], object],
    found: str | None = None,
    *,
    necessary: bool = True,
) -> Need:
    """Return whether something can be found; in words of its own unless `found` has some."""
    try:
        there = find()
    except Unavailable as missing:
        return Need(name, use, None, necessary, missing.reason, missing.remedy)
    return Need(name, use, found or str(there), necessary)


def _kernel() -> str:
    own, packages = own_kernel(), package_names()
    if own is not None:
        return f"the host's own, {own.name.removeprefix('vmlinuz-')}"
    if packages:
        return f"package {packages[0]}"
    raise Unavailable(
        f"the kernel of this host, {os.uname().release}, cannot be read",
        "sudo chmod a+r /boot/vmlinuz-*, or state virtual.kernel in config.yaml",
    )
