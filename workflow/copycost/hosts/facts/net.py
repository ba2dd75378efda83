"""Facts about memory limits and the network stack's settings."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from copycost.hosts.facts.files import HostFiles, Unknowns

_CORE, _TCP = "proc/sys/net/core", "proc/sys/net/ipv4"
_T = TypeVar("_T")


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

    def fact(name: str, path: str, read: Callable[[str], _T | None]) -> _T | None:
        return unknown.checked(f"net.{name}", read(path), f"/{path} cannot be read here")

    def words(path: str) -> list[str] | None:
        text = files.text(path)
        return None if text is None else text.split()

    congestion = f"{_TCP}/tcp_{{}}congestion_control"
    return NetFacts(
        optmem_max=fact("optmem_max", f"{_CORE}/optmem_max", files.number),
        tcp_rmem=fact("tcp_rmem", f"{_TCP}/tcp_rmem", files.numbers),
        tcp_wmem=fact("tcp_wmem", f"{_TCP}/tcp_wmem", files.numbers),
        rmem_max=fact("rmem_max", f"{_CORE}/rmem_max", files.number),
        wmem_max=fact("wmem_max", f"{_CORE}/wmem_max", files.number),
        congestion_default=fact("congestion_default", congestion.format(""), files.text),
        congestion_available=fact("congestion_available", congestion.format("available_"), words),
        congestion_allowed=fact("congestion_allowed", congestion.format("allowed_"), words),
    )


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
