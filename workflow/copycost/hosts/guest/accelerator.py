"""Who runs a guest's instructions: the processor, where that works, or an emulator.

That there is a /dev/kvm says little: a virtual machine may offer one with which no guest comes up.
So one is booted.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest.boot import RunningGuest
from copycost.hosts.guest.qemu import GuestMachine

PROBE_LIMIT_S = 10.0
_KVM = Path("/dev/kvm")


@dataclass(frozen=True, slots=True)
class KvmProbe:
    """Whether guests come up with KVM."""

    usable: bool  # whether one did
    reason: str | None  # why not; None if one did


def probe_kvm(qemu: str, machine: GuestMachine, stop_fds: Sequence[int] = ()) -> KvmProbe:
    """Boot a guest with KVM, and end it."""
    try:
        require_kvm_device()
    except Unavailable as missing:
        return KvmProbe(False, missing.reason)
    running = RunningGuest(replace(machine, accelerator="kvm"), qemu)
    try:
        running.await_up(PROBE_LIMIT_S, stop_fds)
    except HostError as error:
        return KvmProbe(False, str(error))
    finally:
        running.close()
    return KvmProbe(True, None)


def require_kvm_device() -> None:
    """Raise Unavailable where there is no device, or none that we may open."""
    if not _KVM.exists():
        raise Unavailable(
            f"there is no {_KVM}",
            "sudo modprobe kvm_intel (or kvm_amd); of a virtual machine, allow nested ones",
        )
    if not os.access(_KVM, os.R_OK | os.W_OK):
        raise Unavailable(f"{_KVM} may not be opened", "sudo adduser $USER kvm, then log in again")


def require_kvm(probe: KvmProbe) -> None:
    """Raise Unavailable where guests do not come up with it."""
    if not probe.usable:
        raise Unavailable(
            f"no guest can be run by KVM: {probe.reason}",
            "set virtual.accelerator to tcg or auto in config.yaml",
        )
