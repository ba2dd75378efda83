"""How to install what is missing, in the words of each distribution."""

import re

from copycost.hosts.facts.files import HostFiles

_INSTALLERS = {
    "debian": "sudo apt-get install",
    "ubuntu": "sudo apt-get install",
    "fedora": "sudo dnf install",
    "arch": "sudo pacman -S",
    "suse": "sudo zypper install",
    "alpine": "sudo apk add",
}
# Package names where they differ from the tool's: usually, and per family of distribution.
USUAL_PACKAGES = {"ip": "iproute2", "nft": "nftables", "cc": "gcc"}
_PACKAGES = {
    "debian": {"perf": "linux-perf", "cc": "gcc libc6-dev", "liburing": "liburing-dev"},
    # linux-tools-generic fits the distribution's own kernel; others (cloud, hardware enablement)
    # need the package named after the running one.
    "ubuntu": {
        "perf": "linux-tools-generic linux-tools-{release}",
        "cc": "gcc libc6-dev",
        "liburing": "liburing-dev",
    },
    "fedora": {"ip": "iproute", "liburing": "liburing-devel"},
    "arch": {},
    "suse": {"liburing": "liburing-devel"},
    "alpine": {"cc": "build-base", "liburing": "liburing-dev"},
}
_FAMILY = {"rhel": "fedora", "centos": "fedora", "opensuse": "suse", "sles": "suse"}


def distribution_family(files: HostFiles) -> str | None:
    """Return debian, ubuntu, fedora, arch, suse or alpine; None for anything else.

    Source
    ------
    os-release(5): ID names the distribution, ID_LIKE those it descends from, nearest first.
    """
    text = files.text("etc/os-release") or files.text("usr/lib/os-release") or ""
    fields: dict[str, str] = dict(re.findall(r'^(ID|ID_LIKE)="?([^"\n]*)"?$', text, re.MULTILINE))
    for name in [fields.get("ID", ""), *fields.get("ID_LIKE", "").split()]:
        family = _FAMILY.get(name, name)
        if family in _INSTALLERS:
            return family
    return None


def install_command(files: HostFiles, tool: str) -> str:
    """Return the command that installs a tool on this distribution, or advice where unknown."""
    family = distribution_family(files)
    if family is None:
        return f"install the package that contains {tool}"
    package = _PACKAGES[family].get(tool) or USUAL_PACKAGES.get(tool, tool)
    release = files.text("proc/sys/kernel/osrelease") or "$(uname -r)"
    return f"{_INSTALLERS[family]} {package.format(release=release)}"
