"""The running kernel: how it was built, its memory, and its network stack's settings."""

import posixpath
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from copycost.errors import AttemptFailed
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.wording.numbers import approximate_size

_NO_CONFIG = "the kernel's configuration is in none of the usual places (/proc/config.gz, /boot)"
# the options of which one is set, the strongest first
_PREEMPTION = {
    "PREEMPT_RT": "rt",
    "PREEMPT": "full",
    "PREEMPT_LAZY": "lazy",
    "PREEMPT_VOLUNTARY": "voluntary",
    "PREEMPT_NONE": "none",
}


def read_kernel(files: HostFiles, unknown: Unknowns) -> dict[str, Any]:
    """Return the facts about the running kernel; see `read_cpu`."""
    release = files.text("proc/sys/kernel/osrelease")
    version = files.text("proc/sys/kernel/version")
    options = _options(files, release or "")
    command_line = (files.text("proc/cmdline") or "").split()
    hz = (options or {}).get("HZ", "")
    irq_time = _is_on(options, "IRQ_TIME_ACCOUNTING")
    facts: dict[str, tuple[object, str]] = {
        "release": (release, "/proc/sys/kernel/osrelease cannot be read"),
        "version": (version, "/proc/sys/kernel/version cannot be read"),
        # timer ticks per second
        "hz": (int(hz) if re.fullmatch(r"[0-9]{1,6}", hz) else None, _NO_CONFIG),
        # whether CPU clocks leave out the time in interrupts (CONFIG_IRQ_TIME_ACCOUNTING): then
        # the CPU time of a task does not contain the softirq work done in its context
        "irq_time_accounting": (irq_time and "tsc=noirqtime" not in command_line, _NO_CONFIG),
        # whether CPU time is taken at each kernel entry instead of by ticks
        "virt_cpu_accounting_gen": (_is_on(options, "VIRT_CPU_ACCOUNTING_GEN"), _NO_CONFIG),
        "preempt": (_preempt(options, command_line), _NO_CONFIG),  # none, voluntary, ..., rt
    }
    return unknown.told("kernel", facts)


def _is_on(options: dict[str, str] | None, name: str) -> bool | None:
    return None if options is None else options.get(name) == "y"


def _options(files: HostFiles, release: str) -> dict[str, str] | None:
    """Return the options of the running kernel that are set: ``{"HZ": "250", "VETH": "m"}``.

    None where its configuration is in none of the places where distributions put it. Source:
    kbuild/kconfig-language.rst of the kernel; options that are off are comments only.
    """
    modules = f"lib/modules/{release}/config"
    places = ("proc/config.gz", f"boot/config-{release}", f"usr/{modules}", modules)
    config = next(filter(None, map(files.text, places)), None)
    return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", config, re.MULTILINE)) if config else None


def _preempt(options: dict[str, str] | None, command_line: list[str]) -> str | None:
    """Return the preemption model; with PREEMPT_DYNAMIC the command line may overrule it.

    debugfs knows what it was switched to later, but only root may look there, and a fact must
    not depend on who asks.
    """
    if options is None:
        return None
    if options.get("PREEMPT_DYNAMIC") == "y":
        chosen = [word[8:] for word in command_line if word.startswith("preempt=")]
        if chosen:
            return chosen[-1]
    return next((name for option, name in _PREEMPTION.items() if _is_on(options, option)), None)


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


# what is left to everybody else, and to the kernel's own buffers
_SPARE_SHARE = 0.1
_CGROUPS = PurePosixPath("sys/fs/cgroup")


def require_memory(files: HostFiles, need_bytes: int, what: str, remedy: str) -> None:
    """Refuse what has no room in memory; `what` needs it, in the plural."""
    have_bytes = available_memory_bytes(files)
    if have_bytes is not None and need_bytes > have_bytes * (1 - _SPARE_SHARE):
        raise AttemptFailed(
            f"{what} need {approximate_size(need_bytes)} of memory, where"
            f" {approximate_size(have_bytes)} are available, of which a tenth is to stay free",
            remedy,
        )


def available_memory_bytes(files: HostFiles) -> int | None:
    """Return how much memory can be had without swapping, in this container too [bytes].

    None where nobody tells.

    Source: proc(5), MemAvailable; kernel document admin-guide/cgroup-v2.rst, "Memory".
    """
    text = files.text("proc/meminfo") or ""
    found = re.search(r"^MemAvailable:\s+(\d{1,15}) kB", text, re.MULTILINE)
    rooms = [int(found[1]) << 10 if found else None]
    own = re.search(r"^0::/*(.*)$", files.text("proc/self/cgroup") or "", re.MULTILINE)
    if own:
        folder = PurePosixPath(posixpath.normpath(_CGROUPS / own[1]))
        groups = (group for group in (folder, *folder.parents) if group.is_relative_to(_CGROUPS))
        rooms += [_room_of(files, group) for group in groups]
    return min((room for room in rooms if room is not None), default=None)


def _room_of(files: HostFiles, group: PurePosixPath) -> int | None:
    """Return what is left below a control group's limit [bytes], None where there is no limit."""
    limit = files.number(f"{group}/memory.max")
    used = files.number(f"{group}/memory.current")
    stat = files.text(f"{group}/memory.stat")
    if limit is None or used is None or stat is None:
        return None
    # the kernel gives up cached files before anybody goes without
    cached = re.search(r"^inactive_file (\d{1,18})$", stat, re.MULTILINE)
    return max(0, limit - used + (int(cached[1]) if cached else 0))


_CORE, _TCP = "proc/sys/net/core", "proc/sys/net/ipv4"


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


# where each setting is, and what makes a value of its text; sizes in bytes
_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    # limit of ancillary memory per socket, which notifications of zero-copy sends use up
    "optmem_max": (f"{_CORE}/optmem_max", int),
    # minimum, default and maximum of a TCP socket's buffers
    "tcp_rmem": (f"{_TCP}/tcp_rmem", _numbers),
    "tcp_wmem": (f"{_TCP}/tcp_wmem", _numbers),
    "rmem_max": (f"{_CORE}/rmem_max", int),
    "wmem_max": (f"{_CORE}/wmem_max", int),
    "congestion_default": (f"{_TCP}/tcp_congestion_control", str),
    "congestion_available": (f"{_TCP}/tcp_available_congestion_control", str.split),
    # algorithms that a process without CAP_NET_ADMIN may choose
    "congestion_allowed": (f"{_TCP}/tcp_allowed_congestion_control", str.split),
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
    return {name: files.parsed(path, read) for name, (path, read) in _SETTINGS.items()}


# Of KVM and others, Hyper-V, VMware, Xen and PowerVM. Those of clouds that hand a card through
# (ena, gve, mlx5_core) are cards'. Source: drivers/net of Linux and its folders hyperv, vmxnet3 and
# ethernet/ibm; Xen's bus calls a driver by the type of its devices (drivers/xen/xenbus).
_PARAVIRTUAL = frozenset({"virtio_net", "hv_netvsc", "vmxnet3", "vif", "ibmveth"})


def is_virtual(driver: str | None) -> bool:
    """Return whether no network card is behind a device, or none that the device tells of.

    By the driver of its hardware, None where it has none.
    """
    return driver is None or driver in _PARAVIRTUAL
