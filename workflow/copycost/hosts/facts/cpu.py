"""Facts about the processors: names, topology, caches, clock, and the hypervisor around them."""

import re
from typing import Any

from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.wording.numbers import format_cpu_list

_CPU = "sys/devices/system/cpu"
_SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# ARM's /proc/cpuinfo gives numbers where x86 gives names. Server and common board parts only.
# Source: the part numbers of the MIDR_EL1 register, as in arch/arm64/include/asm/cputype.h.
_ARM_VENDORS = {0x41: "ARM", 0x46: "Fujitsu", 0x48: "HiSilicon", 0x51: "Qualcomm",
                0x61: "Apple", 0xC0: "Ampere"}  # fmt: skip
_ARM_PARTS = {
    (0x41, 0xD03): "Cortex-A53", (0x41, 0xD05): "Cortex-A55", (0x41, 0xD07): "Cortex-A57",
    (0x41, 0xD08): "Cortex-A72", (0x41, 0xD0B): "Cortex-A76", (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD40): "Neoverse-V1", (0x41, 0xD49): "Neoverse-N2", (0x41, 0xD4F): "Neoverse-V2",
    (0x46, 0x001): "A64FX", (0x48, 0xD01): "Kunpeng-920",
    (0xC0, 0xAC3): "Ampere-1", (0xC0, 0xAC4): "Ampere-1A",
}  # fmt: skip
# What hypervisors write into the firmware tables; the first match counts.
# Source: the table of systemd-detect-virt (src/basic/virt.c, systemd 255).
_FIRMWARE_NAMES = {
    "KVM": "kvm", "OpenStack": "kvm", "KubeVirt": "kvm", "Amazon EC2": "amazon", "QEMU": "qemu",
    "VMware": "vmware", "VMW": "vmware", "innotek GmbH": "virtualbox", "VirtualBox": "virtualbox",
    "Oracle Corporation": "virtualbox", "Xen": "xen", "Bochs": "bochs", "Parallels": "parallels",
    "BHYVE": "bhyve", "Hyper-V": "hyper-v", "Microsoft Corporation Virtual": "hyper-v",
    "Apple Virtualization": "apple", "Google Compute Engine": "google",
}  # fmt: skip


def read_cpu(files: HostFiles, machine: str, unknown: Unknowns) -> dict[str, Any]:
    """Return the facts about the processors of a host with the given machine name.

    One that the host does not tell is None, and `unknown` has the reason.
    """
    cpuinfo = files.text("proc/cpuinfo") or ""
    online = online_cpus(files)
    # the hardware threads that share a core, per CPU: the first name of their file is the present
    # one, the second what kernels before 5.2 have
    names = ("core_cpus_list", "thread_siblings_list")
    lists = files.cpu_lists([f"{_CPU}/cpu[0-9]*/topology/{name}" for name in names])
    found = (lists.get(f"{_CPU}/cpu{cpu}/topology/{name}") for cpu in online for name in names)
    siblings = [tuple(cpus) for cpus in found if cpus]
    no_topology = f"no topology under /{_CPU}"
    nodes = files.cpus("sys/devices/system/node/online")
    facts: dict[str, tuple[object, str]] = {
        "model": (processor_name(files, cpuinfo), "/proc/cpuinfo names no model"),
        "vendor": (processor_vendor(cpuinfo), "/proc/cpuinfo names no vendor"),
        "cpus_online": (len(online) or None, f"/{_CPU}/online cannot be read"),
        "cores": (len(set(siblings)) or None, no_topology),
        "threads_per_core": (max(map(len, siblings), default=None), no_topology),
        # CPU lists by kind of core on a hybrid processor, ``{"core": "0-11", "atom": "12-19"}``;
        # empty where all cores are of one kind
        "core_types": (_core_types(files), ""),
        "numa_nodes": (len(nodes or ()) or None, "the kernel has no NUMA support or hides it"),
        "caches": (read_caches(files, unknown), ""),
        # several, joined by "+", where CPUs differ
        "governor": (read_governor(files), "no cpufreq driver (usual in virtual machines)"),
        "turbo": (read_turbo(files), "no turbo or boost switch (usual in virtual machines)"),
        "virtualisation": (
            virtualisation(files, machine, cpuinfo),
            "neither /proc/cpuinfo nor the firmware tables tell",
        ),
    }
    return unknown.told("cpu", facts)


def online_cpus(files: HostFiles) -> list[int]:
    """Return the numbers of the CPUs that are switched on; empty if that cannot be read."""
    return files.cpus(f"{_CPU}/online") or []


def read_governor(files: HostFiles) -> str | None:
    """Return the frequency governor, several joined by "+" where CPUs differ, or None."""
    texts = (files.text(str(path)) for path in files.glob(f"{_CPU}/cpu*/cpufreq/scaling_governor"))
    return "+".join(sorted({text for text in texts if text})) or None


def _core_types(files: HostFiles) -> dict[str, str]:
    """Return the CPU lists of the two PMUs that a hybrid processor has, or nothing."""
    lists = {kind: files.cpus(f"sys/devices/cpu_{kind}/cpus") for kind in ("core", "atom")}
    return {kind: format_cpu_list(cpus) for kind, cpus in lists.items() if cpus}


def read_caches(files: HostFiles, unknown: Unknowns) -> dict[str, int | None]:
    """Return the sizes of the caches that CPU 0 uses [bytes]; the outermost is `llc_bytes`."""
    by_level: dict[int, int] = {}
    for folder in files.glob(f"{_CPU}/cpu0/cache/index*"):
        level = files.number(f"{folder}/level")
        match = re.fullmatch(r"(\d{1,9})([KMG]?)", files.text(f"{folder}/size") or "")
        if level and match and files.text(f"{folder}/type") != "Instruction":
            by_level[level] = int(match[1]) * _SIZE_UNITS[match[2]]
    levels = {"l1d_bytes": 1, "l2_bytes": 2, "llc_bytes": max(by_level, default=0)}
    why = f"/{_CPU}/cpu0/cache does not tell"
    found = {name: (by_level.get(level), why) for name, level in levels.items()}
    return unknown.told("cpu.caches", found)


def read_turbo(files: HostFiles) -> bool | None:
    """Return whether frequencies above the base one are allowed.

    Source: admin-guide/pm/{intel_pstate,cpufreq}.rst of the kernel on "no_turbo" and "boost".
    """
    no_turbo = files.number(f"{_CPU}/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = files.number(f"{_CPU}/cpufreq/boost")
    return None if boost is None else boost == 1


def processor_name(files: HostFiles, cpuinfo: str) -> str | None:
    """Return the name of the processor, or None.

    On ARM this is what the part number says, with the board's name where the firmware gives one;
    other architectures print a name under one of a few keys.
    """
    for key in ("model name", "Model Name", "cpu model", "uarch", "cpu"):
        value = _field(cpuinfo, key)
        if value:
            return re.sub(r"\s+", " ", value)
    cores = _arm_cores(cpuinfo)
    board = (files.text("proc/device-tree/model") or "").rstrip("\0")
    if cores and board:
        return f"{cores} ({board})"
    return cores or board or None


def processor_vendor(cpuinfo: str) -> str | None:
    """Return the maker as /proc/cpuinfo gives it (``GenuineIntel``, ``ARM``), or None."""
    implementer = _field(cpuinfo, "CPU implementer")
    if implementer and re.fullmatch(r"0x[0-9a-f]{1,8}", implementer):
        return _ARM_VENDORS.get(int(implementer, 16), f"implementer {implementer}")
    return _field(cpuinfo, "vendor_id") or _field(cpuinfo, "mvendorid")


def _arm_cores(cpuinfo: str) -> str | None:
    """Return the names of all kinds of ARM core, in the order of their first CPU."""
    implementers = re.findall(r"(?m)^CPU implementer\s*:\s*(0x[0-9a-f]+)", cpuinfo)
    parts = re.findall(r"(?m)^CPU part\s*:\s*(0x[0-9a-f]+)", cpuinfo)
    names = [
        _ARM_PARTS.get((int(maker, 16), int(part, 16)), f"ARM implementer {maker} part {part}")
        for maker, part in zip(implementers, parts, strict=False)
    ]
    return " + ".join(dict.fromkeys(names)) or None


def _field(cpuinfo: str, key: str) -> str | None:
    match = re.search(rf"^{re.escape(key)}[ \t]*:[ \t]*(.*)$", cpuinfo, re.MULTILINE)
    return match[1].strip() or None if match else None


def virtualisation(files: HostFiles, machine: str, cpuinfo: str) -> str | None:
    """Return "none", the hypervisor's name, "unnamed hypervisor", or None if nothing tells.

    x86 processors show a ``hypervisor`` flag to guests, which settles the question; bare-metal
    hosts of a cloud provider carry the same firmware names as its virtual ones. ARM has no such
    flag: there the firmware tables or the device tree decide.
    """
    firmware = " ".join(
        files.text(f"sys/class/dmi/id/{name}") or ""
        for name in ("sys_vendor", "product_name", "board_vendor", "bios_vendor")
    ).strip()
    named = next((name for text, name in _FIRMWARE_NAMES.items() if text in firmware), None)
    if files.text("sys/hypervisor/type") == "xen":
        named = "xen"
    if machine in ("x86_64", "i686"):
        if not re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE):
            return "none" if cpuinfo else None
        return named or "unnamed hypervisor"
    tree = (files.text("proc/device-tree/hypervisor/compatible") or "").rstrip("\0")
    if tree:
        return tree.replace("linux,", "")
    if named and named not in ("amazon", "google"):
        return named
    board = files.text("proc/device-tree/model")
    return "none" if board and not named else None
