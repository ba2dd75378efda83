"""Facts about memory limits and the network stack's settings."""

import re
from typing import Any

from copycost.hosts.facts.files import HostFiles, Unknowns

_CORE, _TCP = "proc/sys/net/core", "proc/sys/net/ipv4"
# where each setting is, and as what `HostFiles` reads it; sizes in bytes
_SETTINGS = {
    # limit of ancillary memory per socket, which notifications of zero-copy sends use up
    "optmem_max": (f"{_CORE}/optmem_max", "number"),
    # minimum, default and maximum of a TCP socket's buffers
    "tcp_rmem": (f"{_TCP}/tcp_rmem", "numbers"),
    "tcp_wmem": (f"{_TCP}/tcp_wmem", "numbers"),
    "rmem_max": (f"{_CORE}/rmem_max", "number"),
    "wmem_max": (f"{_CORE}/wmem_max", "number"),
    "congestion_default": (f"{_TCP}/tcp_congestion_control", "text"),
    "congestion_available": (f"{_TCP}/tcp_available_congestion_control", "words"),
    # algorithms that a process without CAP_NET_ADMIN may choose
    "congestion_allowed": (f"{_TCP}/tcp_allowed_congestion_control", "words"),
}


def read_memory(
    files: HostFiles, memlock_bytes: int | None, unknown: Unknowns
) -> dict[str, int | bool | None]:
    """Return the size of memory, and how much of it this user may pin.

    `memlock_bytes` is the limit that `About` tells, None where there is none.
    """
    match = re.search(r"(?m)^MemTotal:\s+(\d{1,15}) kB$", files.text("proc/meminfo") or "")
    # rounded to whole MiB, since ballooning moves the last digits
    total_bytes = (int(match[1]) >> 10) << 20 if match else None
    missing = "/proc/meminfo has no MemTotal"
    return {
        "total_bytes": unknown.checked("memory.total_bytes", total_bytes, missing),
        "memlock_bytes": memlock_bytes,
        # root (CAP_IPC_LOCK) is not held to a limit either
        "memlock_unlimited": memlock_bytes is None,
    }


def read_net(files: HostFiles, unknown: Unknowns) -> dict[str, Any]:
    """Return the settings of the network stack in the present network namespace."""
    facts = {
        name: (value, f"/{_SETTINGS[name][0]} cannot be read here")
        for name, value in net_settings(files).items()
    }
    return unknown.told("net", facts)


def net_settings(files: HostFiles) -> dict[str, Any]:
    """Return the settings that decide what sends cost, None for those that are not told."""
    return {name: getattr(files, read)(path) for name, (path, read) in _SETTINGS.items()}


# Of KVM and others, Hyper-V, VMware, Xen and PowerVM. Those of clouds that hand a card through
# (ena, gve, mlx5_core) are cards'. Source: drivers/net of Linux and its folders hyperv, vmxnet3 and
# ethernet/ibm; Xen's bus calls a driver by the type of its devices (drivers/xen/xenbus).
_PARAVIRTUAL = frozenset({"virtio_net", "hv_netvsc", "vmxnet3", "vif", "ibmveth"})


def is_virtual(driver: str | None) -> bool:
    """Return whether no network card is behind a device, or none that the device tells of.

    By the driver of its hardware, None where it has none.
    """
    return driver is None or driver in _PARAVIRTUAL
