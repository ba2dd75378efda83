"""The programs of the host that a measurement calls."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Debian leaves these out of an ordinary user's PATH, though ethtool and nft there need no root.
_SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")

_UBUNTU_TOOLS = Path("/usr/lib/linux-tools")

_VERSION_ARGUMENTS = {
    "perf": ("--version",),
    "ip": ("-V",),
    "ethtool": ("--version",),
    "nft": ("--version",),
    "cc": ("--version",),
    "iperf3": ("--version",),
    "cpulimit": ("--help",),
    "qemu-system-x86_64": ("--version",),
    "busybox": (),
}
_VERSION_TIMEOUT_S = 10.0

# What every measurement may call. The compiler is none of these: each record names the one that
# built its programs, whatever is installed by now; nor is iperf3, which only some studies call.
TOOLS = ("perf", "ip", "ethtool", "nft")


@dataclass(frozen=True, slots=True)
class Tool:
    """A program; without a version it does not run, without a path it is not there."""

    path: str | None
    version: str | None


def find_tool(name: str) -> str | None:
    """Return the path of a program, looked for in PATH and the system folders, or None."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_SYSTEM_FOLDERS))
    return shutil.which(name, path=path)


def tool_version(name: str, path: str) -> str | None:
    """Return the first line that a tool prints about its version, or None if it does not run.

    Ubuntu's ``/usr/bin/perf`` is a script that ends with an error where no perf fits the running
    kernel: then there is a path but no version, and the tool counts as missing.
    """
    try:
        done = subprocess.run(
            [path, *_VERSION_ARGUMENTS[name]],
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return None
    return re.sub(r"^perf version ", "", lines[0].strip())


def describe_tool(name: str) -> Tool:
    """Return where a program is and what it says of its version; perf is found by `find_perf`."""
    if name == "perf":
        return find_perf()
    path = find_tool(name)
    return Tool(path, tool_version(name, path) if path else None)


def find_perf() -> Tool:
    """Return a perf that runs here, or one that does not, or none.

    Ubuntu's wrapper fails where it finds no build for the very kernel release, though a
    neighbouring build counts just as well: so the folder it looks in is searched too, newest
    release first.
    """
    path = find_tool("perf")
    version = tool_version("perf", path) if path else None
    if version is not None:
        return Tool(path, version)
    for neighbour in sorted(_UBUNTU_TOOLS.glob("*/perf"), key=_numbers, reverse=True):
        found = tool_version("perf", str(neighbour))
        if found is not None:
            return Tool(str(neighbour), found)
    return Tool(path, None)


def _numbers(path: Path) -> list[int]:
    """Return the numbers in a path, by which kernel releases are ordered: 6.8.0-9 before -31."""
    return [int(number) for number in re.findall(r"\d+", str(path))]
