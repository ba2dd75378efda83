"""Facts about memory limits and the network stack's settings."""

import re
from dataclasses import dataclass

from copycost.hosts.facts.files import HostFiles, Unknowns

_CORE, _TCP = "proc/sys/net/core", "proc/sys/net/ipv4"
# where each fact is, and as what `HostFiles` reads it
_SETTINGS = {
    "optmem_max": (f"{_CORE}/optmem_max", "number"),
    "tcp_rmem": (f"{_TCP}/tcp_rmem", "numbers"),
    "tcp_wmem": (f"{_TCP}/tcp_wmem", "numbers"),
    "rmem_max": (f"{_CORE}/rmem_max", "number"),
    "wmem_max": (f"{_CORE}/wmem_max", "number"),
    "congestion_default": (f"{_TCP}/tcp_congestion_control", "text"),
    "congestion_available": (f"{_TCP}/tcp_available_congestion_control", "words"),
    "congestion_allowed": (f"{_TCP}/tcp_allowed_congestion_control", "words"),
}


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """Memory of the host, and how much of it this user may pin."""

    total_bytes: int | None  # rounded to whole MiB, since ballooning moves the last digits
    memlock_bytes: int | None  # RLIMIT_MEMLOCK; None where there is no limit or it cannot be told
    # whether there is no limit; root (CAP_IPC_LOCK) is not held to one either
    memlock_unlimited: bool


@dataclass(frozen=True, slots=True)
class NetFacts:
    """Settings of the network stack that decide what sends cost; sizes in bytes."""

    # limit of ancillary memory per socket, which notifications of zero-copy sends use up
    optmem_max: int | None
    # minimum, default and maximum of a TCP socket's buffers
    tcp_rmem: list[int] | None
    tcp_wmem: list[int] | None
    rmem_max: int | None
    wmem_max: int | None
    congestion_default: str | None
    congestion_available: list[str] | None
    # algorithms that a process without CAP_NET_ADMIN may choose
    congestion_allowed: list[str] | None


def read_memory(files: HostFiles, memlock_bytes: int | None, unknown: Unknowns) -> MemoryFacts:
    """Read the size of memory; `memlock_bytes` is the limit that `About` tells."""
    match = re.search(
        r"^MemTotal:\s+(\d{1,15}) kB$", files.text("proc/meminfo") or "", re.MULTILINE
    )
    return MemoryFacts(
        total_bytes=unknown.checked(
            "memory.total_bytes",
            (int(match[1]) >> 10) << 20 if match else None,
            "/proc/meminfo has no MemTotal",
        ),
        memlock_bytes=memlock_bytes,
        memlock_unlimited=memlock_bytes is None,
    )


def read_net(files: HostFiles, unknown: Unknowns) -> NetFacts:
    """Read the settings of the network stack in the present network namespace."""
    found = {name: getattr(files, read)(path) for name, (path, read) in _SETTINGS.items()}
    why = {name: f"/{path} cannot be read here" for name, (path, _) in _SETTINGS.items()}
    return unknown.noted("net", NetFacts(**found), why)


PARAVIRTUAL = frozenset({"virtio_net", "hv_netvsc", "vmxnet3", "vif", "ibmveth"})
"""Of KVM and others, Hyper-V, VMware, Xen and PowerVM.

Source: drivers/net and drivers/net/{hyperv,vmxnet3,ethernet/ibm} of Linux; Xen's bus calls a driver
by the type of its devices (drivers/xen/xenbus). Those of clouds that hand a card through (ena, gve,
mlx5_core) are cards'.
"""


def is_virtual(driver: str | None) -> bool:
    """Return whether no network card is behind a device, or none that the device tells of.

    By the driver of its hardware, None where it has none.
    """
    return driver is None or driver in PARAVIRTUAL
