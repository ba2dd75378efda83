"""Find iperf3, and judge whether its version writes what we need.

Source: iperf3(1) and its release notes; from 3.16 on each stream has a thread of its own, before
that one thread serves all streams.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from copycost.errors import Unavailable

# -1 with -J on the server, --forceflush and whole interval data on both sides
OLDEST = (3, 5)
THREADED_SINCE = (3, 16)

_VERSION = re.compile(r"^iperf (\d+)\.(\d+)(\S*)", flags=re.MULTILINE)
_SEARCH_PATH = os.environ.get("PATH", "") + ":/usr/local/bin:/usr/sbin"
_ASK_TIMEOUT_S = 10.0


class ToolUnavailable(Unavailable):
    """A tool is missing or too old."""


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

    def pairs(self, n_streams: int) -> tuple[int, int]:
        """Return how many process pairs carry so many streams, and the streams of each pair.

        One thread cannot use more than one CPU, so an older iperf3 gets a pair per stream.
        """
        return (1, n_streams) if self.threaded else (n_streams, 1)


def find_iperf3() -> Iperf3Tool:
    """Return the iperf3 on the PATH.

    Raises
    ------
    ToolUnavailable
        If there is none, it does not run, or it is too old.
    """
    path = shutil.which("iperf3", path=_SEARCH_PATH)
    if path is None:
        raise ToolUnavailable("iperf3 was not found", "install the package iperf3")
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_ASK_TIMEOUT_S,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolUnavailable(
            f"{path} --version does not run ({error})", "install the package iperf3 again"
        ) from error
    return judge_version(path, done.stdout)


def judge_version(path: str, text: str) -> Iperf3Tool:
    """Return the tool from what ``iperf3 --version`` printed.

    Raises
    ------
    ToolUnavailable
        If that is no version, or too old a one.
    """
    found = _VERSION.search(text)
    oldest = ".".join(map(str, OLDEST))
    if found is None:
        said = text.strip().splitlines()[:1] or ["nothing"]
        raise ToolUnavailable(
            f"{path} --version printed {said[0][:80]!r}, no version of iperf 3",
            f"install iperf3 {oldest} or newer",
        )
    version = (int(found[1]), int(found[2]))
    version_text = f"{found[1]}.{found[2]}{found[3]}"
    if version < OLDEST:
        raise ToolUnavailable(
            f"iperf3 {version_text} is too old: its JSON lacks what is needed here",
            f"install iperf3 {oldest} or newer",
        )
    return Iperf3Tool(path, version, version_text)
