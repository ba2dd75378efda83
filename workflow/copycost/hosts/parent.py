"""Notice that the workflow which started this measurement is gone.

A job outlives a workflow that is killed with ``kill -9``: it would go on measuring for nobody, and
hold the lock meanwhile. A signal on the parent's death (prctl(2), PR_SET_PDEATHSIG) does not help,
since there may be a shell in between, which lives on.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from copycost.hosts.cpu_times import value_of

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})


@contextmanager
def watched_parents() -> Iterator[tuple[int, ...]]:
    """Yield file descriptors that become readable when the workflow is gone; see pidfd_open(2).

    They are those of the parent and, if that is a shell that only runs us, of its parent too.
    """
    fds: list[int] = []
    try:
        for pid in _parents():
            with suppress(OSError):
                fds.append(os.pidfd_open(pid))
        yield tuple(fds)
    finally:
        for fd in fds:
            os.close(fd)


def waiting_process() -> int:
    """Return the process that waits for us: the parent, or whose shell that is."""
    return ([*_parents()] or [os.getppid()])[-1]


def _parents() -> Iterator[int]:
    """Yield the parent and, as long as that is a shell, its own."""
    pid = os.getppid()
    with suppress(OSError, ValueError):  # its parent may be out of sight, in another container
        while pid > 1:
            yield pid
            if Path(f"/proc/{pid}/comm").read_text().strip() not in _SHELLS:
                break
            pid = parent_of(pid)


def parent_of(pid: int) -> int:
    """Return the parent's process id from /proc/PID/stat, see proc(5); OSError if it is gone."""
    return value_of(Path(f"/proc/{pid}/stat").read_text(), 1)
