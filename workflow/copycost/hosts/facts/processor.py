"""Names of processors, from /proc/cpuinfo."""

import re

from copycost.hosts.facts.files import HostFiles

# ARM's /proc/cpuinfo gives numbers where x86 gives names. Server and common board parts only.
# Source: the part numbers of the MIDR_EL1 register, as in arch/arm64/include/asm/cputype.h.
_ARM_VENDORS = {0x41: "ARM", 0x46: "Fujitsu", 0x48: "HiSilicon", 0x51: "Qualcomm",
                0x61: "Apple", 0xC0: "Ampere"}  # fmt: skip
_ARM_PARTS = {
    (0x41, 0xD03): "Cortex-A53",
    (0x41, 0xD05): "Cortex-A55",
    (0x41, 0xD07): "Cortex-A57",
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4F): "Neoverse-V2",
    (0x46, 0x001): "A64FX",
    (0x48, 0xD01): "Kunpeng-920",
    (0xC0, 0xAC3): "Ampere-1",
    (0xC0, 0xAC4): "Ampere-1A",
}


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
    implementers = re.findall(r"^CPU implementer\s*:\s*(0x[0-9a-f]+)", cpuinfo, re.MULTILINE)
    parts = re.findall(r"^CPU part\s*:\s*(0x[0-9a-f]+)", cpuinfo, re.MULTILINE)
    names = [
        _ARM_PARTS.get(
            (int(implementer, 16), int(part, 16)), f"ARM implementer {implementer} part {part}"
        )
        for implementer, part in zip(implementers, parts, strict=False)
    ]
    return " + ".join(dict.fromkeys(names)) or None


def _field(cpuinfo: str, key: str) -> str | None:
    match = re.search(rf"^{re.escape(key)}[ \t]*:[ \t]*(.*)$", cpuinfo, re.MULTILINE)
    return match[1].strip() or None if match else None
