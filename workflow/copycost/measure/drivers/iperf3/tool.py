"""Find iperf3, and judge whether its version writes what we need.

Source: iperf3(1) and its release notes; from 3.16 on each stream has a thread of its own, before
that one thread serves all streams.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from copycost.errors import HostError, Unavailable
from copycost.hosts.host import Host
from copycost.hosts.side import SideName

# -1 with -J on the server, --forceflush and whole interval data on both sides
OLDEST = (3, 5)
THREADED_SINCE = (3, 16)

_VERSION = re.compile(r"^iperf (\d+)\.(\d+)(\S*)", flags=re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Iperf3Tool:
    """The iperf3 of this host."""

    path: str
    version: tuple[int, int]
    version_text: str

    @property
    def threaded(self) -> bool:
        """Whether each stream has a thread of its own."""
        return self.version >= THREADED_SINCE

    def pairs(self, n_threads: int) -> tuple[int, int]:
        """Return how many process pairs carry so many streams, and the streams of each pair.

        One thread cannot use more than one CPU, so an older iperf3 gets a pair per stream.
        """
        return (1, n_threads) if self.threaded else (n_threads, 1)


def find_iperf3(host: Host) -> Iperf3Tool:
    """Return the iperf3 of a host; Unavailable if there is none, it does not run, or is too old."""
    path = host.find_tool("iperf3")
    if path is None:
        raise Unavailable("iperf3 was not found", "install the package iperf3")
    try:
        done = host.run([path, "--version"])
    except (OSError, HostError) as error:
        raise Unavailable(
            f"{path} --version does not run ({error})", "install the package iperf3 again"
        ) from error
    return judge_version(path, done.stdout)


def find_on_both(hosts: Mapping[SideName, Host]) -> dict[SideName, Iperf3Tool]:
    """Return the iperf3 of each side's machine; errors as of `find_iperf3`."""
    sender, receiver = hosts["sender"].machine, hosts["receiver"].machine
    tool = find_iperf3(sender)
    return {"sender": tool, "receiver": tool if receiver is sender else find_iperf3(receiver)}


def judge_version(path: str, text: str) -> Iperf3Tool:
    """Return the tool from what ``iperf3 --version`` printed."""
    found = _VERSION.search(text)
    remedy = f"install iperf3 {'.'.join(map(str, OLDEST))} or newer"
    if found is None:
        said = text.strip().splitlines()[:1] or ["nothing"]
        reason = f"{path} --version printed {said[0][:80]!r}, no version of iperf 3"
        raise Unavailable(reason, remedy)
    version = (int(found[1]), int(found[2]))
    version_text = f"{found[1]}.{found[2]}{found[3]}"
    if version < OLDEST:
        reason = f"iperf3 {version_text} is too old: its JSON lacks what is needed here"
        raise Unavailable(reason, remedy)
    return Iperf3Tool(path, version, version_text)
