"""Who runs a guest's instructions: the processor, where that works, or an emulator.

That there is a /dev/kvm says little: a virtual machine may offer one with which no guest comes up.
So one is booted.
"""

import os
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest.boot import RunningGuest
from copycost.hosts.guest.qemu import GuestSpec

PROBE_LIMIT_S = 10.0
_KVM = Path("/dev/kvm")


@dataclass(frozen=True, slots=True)
class KvmProbe:
    """Whether guests come up with KVM."""

    usable: bool  # whether one did
    reason: str | None  # why not; None if one did


def probe_kvm(spec: GuestSpec) -> KvmProbe:
    """Boot a guest with KVM, and end it."""
    try:
        require_kvm_device()
    except Unavailable as missing:
        return KvmProbe(False, missing.reason)
    running = RunningGuest(replace(spec, accelerator="kvm"), "copycost-probe", ["true"])
    with closing(running):
        try:
            running.await_up(PROBE_LIMIT_S)
        except HostError as error:
            return KvmProbe(False, str(error))
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
