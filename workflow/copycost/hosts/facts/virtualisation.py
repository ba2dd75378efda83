"""Whether the host is a virtual machine, and whose."""

import re

from copycost.hosts.facts.files import HostFiles

# What hypervisors write into the firmware tables; the first match counts.
# Source: the table of systemd-detect-virt (src/basic/virt.c, systemd 255).
_FIRMWARE_NAMES = {
    "KVM": "kvm",
    "OpenStack": "kvm",
    "KubeVirt": "kvm",
    "Amazon EC2": "amazon",
    "QEMU": "qemu",
    "VMware": "vmware",
    "VMW": "vmware",
    "innotek GmbH": "virtualbox",
    "VirtualBox": "virtualbox",
    "Oracle Corporation": "virtualbox",
    "Xen": "xen",
    "Bochs": "bochs",
    "Parallels": "parallels",
    "BHYVE": "bhyve",
    "Hyper-V": "hyper-v",
    "Microsoft Corporation Virtual": "hyper-v",
    "Apple Virtualization": "apple",
    "Google Compute Engine": "google",
}


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
