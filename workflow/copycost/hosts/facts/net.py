"""Facts about memory limits and the network stack's settings."""

import re
from dataclasses import dataclass

from copycost.hosts.facts.files import HostFiles, Unknowns

_TCP = "proc/sys/net/ipv4"


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """Memory of the host, and how much of it this user may pin.

    Attributes
    ----------
    total_bytes
        Rounded to whole MiB, since ballooning moves the last digits.
    memlock_bytes
        RLIMIT_MEMLOCK; None where there is no limit or it cannot be told.
    memlock_unlimited
        Whether there is no limit; root (CAP_IPC_LOCK) is not held to one either.
    """

    total_bytes: int | None
    memlock_bytes: int | None
    memlock_unlimited: bool


@dataclass(frozen=True, slots=True)
class NetFacts:
    """Settings of the network stack that decide what sends cost; sizes in bytes.

    Attributes
    ----------
    optmem_max
        Limit of ancillary memory per socket, which notifications of zero-copy sends use up.
    tcp_rmem, tcp_wmem
        Minimum, default and maximum of a TCP socket's buffers.
    congestion_allowed
        Algorithms that a process without CAP_NET_ADMIN may choose.
    """

    optmem_max: int | None
    tcp_rmem: list[int] | None
    tcp_wmem: list[int] | None
    rmem_max: int | None
    wmem_max: int | None
    congestion_default: str | None
    congestion_available: list[str] | None
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

    def unreadable(path: str) -> str:
        return f"/{path} cannot be read here"

    def words(path: str) -> list[str] | None:
        text = files.text(path)
        return None if text is None else text.split()

    core = "proc/sys/net/core"
    return NetFacts(
        optmem_max=unknown.checked(
            "net.optmem_max",
            files.number(f"{core}/optmem_max"),
            unreadable(f"{core}/optmem_max"),
        ),
        tcp_rmem=unknown.checked(
            "net.tcp_rmem", files.numbers(f"{_TCP}/tcp_rmem"), unreadable(f"{_TCP}/tcp_rmem")
        ),
        tcp_wmem=unknown.checked(
            "net.tcp_wmem", files.numbers(f"{_TCP}/tcp_wmem"), unreadable(f"{_TCP}/tcp_wmem")
        ),
        rmem_max=unknown.checked(
            "net.rmem_max", files.number(f"{core}/rmem_max"), unreadable(f"{core}/rmem_max")
        ),
        wmem_max=unknown.checked(
            "net.wmem_max", files.number(f"{core}/wmem_max"), unreadable(f"{core}/wmem_max")
        ),
        congestion_default=unknown.checked(
            "net.congestion_default",
            files.text(f"{_TCP}/tcp_congestion_control"),
            unreadable(f"{_TCP}/tcp_congestion_control"),
        ),
        congestion_available=unknown.checked(
            "net.congestion_available",
            words(f"{_TCP}/tcp_available_congestion_control"),
            unreadable(f"{_TCP}/tcp_available_congestion_control"),
        ),
        congestion_allowed=unknown.checked(
            "net.congestion_allowed",
            words(f"{_TCP}/tcp_allowed_congestion_control"),
            unreadable(f"{_TCP}/tcp_allowed_congestion_control"),
        ),
    )
