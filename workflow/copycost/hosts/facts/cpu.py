"""Facts about the processors."""

import re
from dataclasses import dataclass
from typing import TypeVar

from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.processor import processor_name, processor_vendor
from copycost.hosts.facts.virtualisation import virtualisation
from copycost.wording.numbers import format_cpu_list

_CPU = "sys/devices/system/cpu"
_T = TypeVar("_T")
_SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Caches:
    """Sizes of the caches that CPU 0 uses, in bytes; `llc_bytes` is the outermost level."""

    l1d_bytes: int | None
    l2_bytes: int | None
    llc_bytes: int | None


@dataclass(frozen=True, slots=True)
class CpuFacts:
    """The processors; a fact that the host does not tell is None."""

    model: str | None
    vendor: str | None
    cpus_online: int | None
    cores: int | None
    threads_per_core: int | None
    # CPU lists by kind of core on a hybrid processor, ``{"core": "0-11", "atom": "12-19"}``; empty
    # where all cores are of one kind
    core_types: dict[str, str]
    numa_nodes: int | None
    caches: Caches
    governor: str | None  # frequency governor; several, joined by "+", where CPUs differ
    turbo: bool | None  # whether the processor may clock above its base frequency
    virtualisation: str | None  # "none", or the hypervisor as far as it can be told


def read_cpu(files: HostFiles, machine: str, unknown: Unknowns) -> CpuFacts:
    """Read the facts about the processors of a host with the given machine name."""
    cpuinfo = files.text("proc/cpuinfo") or ""
    online = online_cpus(files)
    siblings = _sibling_lists(files, online)
    nodes = files.cpus("sys/devices/system/node/online")

    def fact(name: str, value: _T | None, why: str) -> _T | None:
        return unknown.checked(f"cpu.{name}", value, why)

    return CpuFacts(
        model=fact("model", processor_name(files, cpuinfo), "/proc/cpuinfo names no model"),
        vendor=fact("vendor", processor_vendor(cpuinfo), "/proc/cpuinfo names no vendor"),
        cpus_online=fact("cpus_online", len(online) or None, f"/{_CPU}/online cannot be read"),
        cores=fact("cores", len(set(siblings)) or None, f"no topology under /{_CPU}"),
        threads_per_core=fact(
            "threads_per_core", max(map(len, siblings), default=None), f"no topology under /{_CPU}"
        ),
        core_types=_core_types(files),
        numa_nodes=fact(
            "numa_nodes", len(nodes or ()) or None, "the kernel has no NUMA support or hides it"
        ),
        caches=_caches(files, unknown),
        governor=fact(
            "governor", read_governor(files), "no cpufreq driver (usual in virtual machines)"
        ),
        turbo=fact(
            "turbo",
            read_turbo(files),
            "no turbo or boost switch under cpufreq (usual in virtual machines)",
        ),
        virtualisation=fact(
            "virtualisation",
            virtualisation(files, machine, cpuinfo),
            "neither /proc/cpuinfo nor the firmware tables tell",
        ),
    )


def online_cpus(files: HostFiles) -> list[int]:
    """Return the numbers of the CPUs that are switched on; empty if that cannot be read."""
    return files.cpus(f"{_CPU}/online") or []


def read_governor(files: HostFiles) -> str | None:
    """Return the frequency governor, several joined by "+" where CPUs differ, or None."""
    texts = (files.text(str(path)) for path in files.glob(f"{_CPU}/cpu*/cpufreq/scaling_governor"))
    return "+".join(sorted({text for text in texts if text})) or None


def _sibling_lists(files: HostFiles, online: list[int]) -> list[tuple[int, ...]]:
    """Return, per CPU, the hardware threads that share its core."""
    found = (
        # The first name is the present one, the second what kernels before 5.2 have.
        files.cpus(f"{_CPU}/cpu{cpu}/topology/core_cpus_list")
        or files.cpus(f"{_CPU}/cpu{cpu}/topology/thread_siblings_list")
        for cpu in online
    )
    return [tuple(cpus) for cpus in found if cpus]


def _core_types(files: HostFiles) -> dict[str, str]:
    """Return the CPU lists of the two PMUs that a hybrid processor has, or nothing."""
    lists = {kind: files.cpus(f"sys/devices/cpu_{kind}/cpus") for kind in ("core", "atom")}
    return {kind: format_cpu_list(cpus) for kind, cpus in lists.items() if cpus}


def _caches(files: HostFiles, unknown: Unknowns) -> Caches:
    by_level: dict[int, int] = {}
    for folder in files.glob(f"{_CPU}/cpu0/cache/index*"):
        level = files.number(f"{folder}/level")
        size = files.text(f"{folder}/size")
        match = re.fullmatch(r"(\d{1,9})([KMG]?)", size or "")
        if level is None or match is None or files.text(f"{folder}/type") == "Instruction":
            continue
        by_level[level] = int(match[1]) * _SIZE_UNITS[match[2]]
    why = f"/{_CPU}/cpu0/cache does not tell"
    return Caches(
        l1d_bytes=unknown.checked("cpu.caches.l1d_bytes", by_level.get(1), why),
        l2_bytes=unknown.checked("cpu.caches.l2_bytes", by_level.get(2), why),
        llc_bytes=unknown.checked(
            "cpu.caches.llc_bytes", by_level[max(by_level)] if by_level else None, why
        ),
    )


def read_turbo(files: HostFiles) -> bool | None:
    """Return whether frequencies above the base one are allowed.

    Source
    ------
    Kernel documents admin-guide/pm/intel_pstate.rst ("no_turbo") and admin-guide/pm/cpufreq.rst
    ("boost").
    """
    no_turbo = files.number(f"{_CPU}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = files.number(f"{_CPU}/cpufreq/boost")
    return None if boost is None else boost == 1
