"""How long a command takes, and how much memory, as seen from outside."""

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from copycost.errors import HostError

_N_LINES_SHOWN = 20
_PATHS = [str(Path(__file__).parents[2] / name) for name in ("workflow", "")]


@dataclass(frozen=True, slots=True)
class Timed:
    """A command that has ended.

    It began at a time (CLOCK_MONOTONIC); the CPU time is that of all its processes, far less than
    the wall time where the host was busy; the memory is that of the largest process.

    Source: getrusage(2), as wait4(2) gives it for one child and whatever that has waited for.
    """

    begin_s: float
    wall_s: float
    cpu_s: float
    peak_bytes: int


def timed(folder: Path, command: Sequence[str]) -> Timed:
    """Run a command in a folder, with this package on its path.

    Raises
    ------
    HostError
        If it fails; the message holds the end of its output.
    """
    with tempfile.TemporaryFile("w+") as output:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_PATHS)},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            said = "".join(output.readlines()[-_N_LINES_SHOWN:])
            raise HostError(f"bench: {' '.join(command)} ended with {process.returncode}:\n{said}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Timed(start, wall_s, cpu_s, usage.ru_maxrss * 1024)  # Linux counts in KiB
