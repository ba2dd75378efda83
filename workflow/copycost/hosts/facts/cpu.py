"""Facts about the processors."""

import re
from dataclasses import dataclass

from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.processor import processor_name, processor_vendor
from copycost.hosts.facts.virtualisation import virtualisation
from copycost.wording.numbers import format_cpu_list

_CPU = "sys/devices/system/cpu"
_SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_NO_CACHE = f"/{_CPU}/cpu0/cache does not tell"
_WHY = {
    "model": "/proc/cpuinfo names no model",
    "vendor": "/proc/cpuinfo names no vendor",
    "cpus_online": f"/{_CPU}/online cannot be read",
    "cores": f"no topology under /{_CPU}",
    "threads_per_core": f"no topology under /{_CPU}",
    "numa_nodes": "the kernel has no NUMA support or hides it",
    "caches.l1d_bytes": _NO_CACHE,
    "caches.l2_bytes": _NO_CACHE,
    "caches.llc_bytes": _NO_CACHE,
    "governor": "no cpufreq driver (usual in virtual machines)",
    "turbo": "no turbo or boost switch under cpufreq (usual in virtual machines)",
    "virtualisation": "neither /proc/cpuinfo nor the firmware tables tell",
}


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
    facts = CpuFacts(
        model=processor_name(files, cpuinfo),
        vendor=processor_vendor(cpuinfo),
        cpus_online=len(online) or None,
        cores=len(set(siblings)) or None,
        threads_per_core=max(map(len, siblings), default=None),
        core_types=_core_types(files),
        numa_nodes=len(nodes or ()) or None,
        caches=_caches(files),
        governor=read_governor(files),
        turbo=read_turbo(files),
        virtualisation=virtualisation(files, machine, cpuinfo),
    )
    return unknown.noted("cpu", facts, _WHY)


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


def _caches(files: HostFiles) -> Caches:
    by_level: dict[int, int] = {}
    for folder in files.glob(f"{_CPU}/cpu0/cache/index*"):
        level = files.number(f"{folder}/level")
        size = files.text(f"{folder}/size")
        match = re.fullmatch(r"(\d{1,9})([KMG]?)", size or "")
        if level is None or match is None or files.text(f"{folder}/type") == "Instruction":
            continue
        by_level[level] = int(match[1]) * _SIZE_UNITS[match[2]]
    outermost = by_level[max(by_level)] if by_level else None
    return Caches(by_level.get(1), by_level.get(2), outermost)


def read_turbo(files: HostFiles) -> bool | None:
    """Return whether frequencies above the base one are allowed.

    Source: admin-guide/pm/{intel_pstate,cpufreq}.rst of the kernel on "no_turbo" and "boost".
    """
    no_turbo = files.number(f"{_CPU}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = files.number(f"{_CPU}/cpufreq/boost")
    return None if boost is None else boost == 1
