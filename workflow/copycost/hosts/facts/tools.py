"""The programs of a host that a measurement calls, and how to install those that are missing."""

import re
from dataclasses import dataclass

from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost

_UBUNTU_PERFS = "usr/lib/linux-tools/*/perf"

# by which a tool tells its version, where that is not --version
_VERSION_ARGUMENTS = {"ip": ("-V",), "cpulimit": ("--help",), "busybox": ()}
_VETH_REMEDY = "run as root, and look whether the kernel has veth (modprobe veth)"

# What every measurement may call. The compiler is none of these: each record names the one that
# built its programs, whatever is installed by now; nor is iperf3, which only some studies call.
TOOLS = ("perf", "ip", "ethtool", "nft")

# package names where they differ from the tool's
_USUAL_PACKAGES = {"ip": "iproute2", "nft": "nftables"}
_DEBIAN = {**_USUAL_PACKAGES, "cc": "gcc libc6-dev", "liburing": "liburing-dev"}
_PACKAGES = {
    "debian": {**_DEBIAN, "perf": "linux-perf"},
    # linux-tools-generic fits the distribution's own kernel; others (cloud, hardware enablement)
    # need the package named after the running one.
    "ubuntu": {**_DEBIAN, "perf": "linux-tools-generic linux-tools-{release}"},
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A program; without a version it does not run, without a path it is not there."""

    path: str | None
    version: str | None


def tool_version(host: Host, name: str, path: str) -> str | None:
    """Return the first line that a tool prints about its version, or None if it does not run."""
    words = [path, *_VERSION_ARGUMENTS.get(name, ("--version",))]
    try:
        done = host.run(words, timeout_s=10.0)
    except (OSError, HostError):
        return None
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return None
    return re.sub(r"^perf version ", "", lines[0].strip())


def describe_tool(name: str, host: Host | None = None) -> Tool:
    """Return where a program of a host is, by default ours, and what it says of its version."""
    host = host or LocalHost()
    path = host.find_tool(name)
    found = Tool(path, tool_version(host, name, path) if path else None)
    return _other_perf(host) or found if name == "perf" and found.version is None else found


def _other_perf(host: Host) -> Tool | None:
    """Return the newest of Ubuntu's perfs that runs, None without any.

    ``/usr/bin/perf`` is a script there that fails where it finds no build for the very kernel
    release, though a neighbouring build counts just as well.
    """
    found = host.files.glob(_UBUNTU_PERFS)
    # as kernel releases are ordered: 6.8.0-9 before -31
    for build in sorted(
        found, key=lambda it: [*map(int, re.findall(r"\d+", str(it)))], reverse=True
    ):
        version = tool_version(host, "perf", f"/{build}")
        if version is not None:
            return Tool(f"/{build}", version)
    return None


def run_tool(
    command: list[str],
    host: Host,
    text: str = "",
    remedy: str = _VETH_REMEDY,
    what_failed: str | None = None,
) -> str:
    """Run a tool on a host, see `LocalHost.run`, and return what it prints.

    Unavailable, with the remedy, if it is missing or refuses; HostError if it was killed.
    """
    try:
        done = host.run(command, text)
    except FileNotFoundError as error:
        package = _USUAL_PACKAGES.get(command[0], command[0])
        raise Unavailable(
            f"the command {command[0]} was not found", f"install the package {package}"
        ) from error
    except PermissionError as error:
        raise Unavailable(
            f"the command {command[0]} may not be executed", f"allow executing it; {remedy}"
        ) from error
    if done.returncode < 0:
        raise HostError(f"{' '.join(command)} was killed by signal {-done.returncode}; run again")
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        failed = f"{' '.join(command)} failed with exit status {done.returncode}"
        raise Unavailable(f"{what_failed or failed}: {said[0]}", remedy)
    return done.stdout


def distribution_family(files: HostFiles) -> str | None:
    """Return debian or ubuntu; None for anything else.

    Source: os-release(5), ID names the distribution, ID_LIKE those it descends from, nearest first.
    """
    text = files.text("etc/os-release") or files.text("usr/lib/os-release") or ""
    stated = re.compile(r"""^(ID|ID_LIKE)=["']?([^"'\n]*)["']?$""", re.MULTILINE)
    fields: dict[str, str] = dict(stated.findall(text))
    names = [fields.get("ID", ""), *fields.get("ID_LIKE", "").split()]
    return next((name for name in names if name in _PACKAGES), None)


def install_command(files: HostFiles, tool: str) -> str:
    """Return the command that installs a tool on this distribution, or advice where unknown."""
    family = distribution_family(files)
    if family is None:
        return f"install the package that contains {tool}"
    release = files.text("proc/sys/kernel/osrelease") or "$(uname -r)"
    package = _PACKAGES[family].get(tool, tool).format(release=release)
    return f"sudo apt-get install {package}"
