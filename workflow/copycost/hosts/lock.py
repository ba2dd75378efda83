"""The host-wide lock: one measurement at a time, whichever workflow, folder or user it is from.

Source: flock(2). A lock belongs to an open file, so the kernel gives it back when the last process
that holds the file is gone, however it ended.
"""

import fcntl
import logging
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from copycost.errors import HostError, MeasurementStopped

_FOLDERS = (Path("/run/lock"), Path("/tmp"))
_NAME = "copycost.lock"
# how often who waits looks whether anybody still waits for it
_LOOK_S = 0.2

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class HeldLock:
    """The lock while it is held."""

    fd: int  # may be inherited by children, which then hold it too; -1 for one on another machine
    # how long we waited for it, and for those of other machines that we need besides [s]
    wait_s: float = 0.0

    def give_back(self) -> None:
        """Let another have it, until it is taken again."""
        fcntl.flock(self.fd, fcntl.LOCK_UN)

    def take(self, parent_fds: Sequence[int] = ()) -> None:
        """Wait for it, and say so, if another has it; nothing happens if we have it."""
        with suppress(BlockingIOError):
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        began_ns = time.monotonic_ns()
        path = Path(f"/proc/self/fd/{self.fd}").readlink()
        say(f"another measurement runs on this host ({_holder(self.fd)} holds {path}): waiting")
        _wait(self.fd, parent_fds)
        wait_s = (time.monotonic_ns() - began_ns) / 1e9
        say(f"the other measurement is over after {wait_s:.1f} s: going on")
        self.wait_s += wait_s


def host_lock_path() -> Path:
    """Return the path of the lock that all runs on this host share."""
    for folder in _FOLDERS:
        if (folder / _NAME).exists() or os.access(folder, os.W_OK | os.X_OK):
            return folder / _NAME
    return _FOLDERS[-1] / _NAME


@contextmanager
def measurement_lock(path: Path, parent_fds: Sequence[int] = ()) -> Iterator[HeldLock]:
    """Hold the lock for the time of the block; wait for it, and say so, if another has it.

    MeasurementStopped once one of `parent_fds` is readable: nobody waits for us any more.
    """
    fd = _open(path)
    try:
        held = HeldLock(fd)
        held.take(parent_fds)
        yield held
    finally:
        os.close(fd)


def _wait(fd: int, parent_fds: Sequence[int]) -> None:
    """Wait for the lock in the kernel's queue, so that two workflows take turns.

    Who looked again and again would miss the moment between two repetitions of the other.
    """

    def look(_number: int, _frame: object) -> None:
        if select.select(parent_fds, [], [], 0)[0]:
            raise MeasurementStopped("the workflow ended while it waited for its turn")

    handler = signal.signal(signal.SIGALRM, look)
    timer = signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _open(path: Path) -> int:
    """Open the lock file, for reading only, which is enough for flock(2).

    With fs.protected_regular the kernel refuses O_CREAT on another user's file in a folder such as
    /run/lock, so the file is made only where there is none; then everybody may open it.
    """
    try:
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        fd = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o444)
        with suppress(OSError):  # whatever our umask is
            os.fchmod(fd, 0o444)
        return fd
    except OSError as error:
        raise HostError(
            f"{path}: the lock against overlapping measurements cannot be opened"
            f" ({error.strerror}); allow reading it (chmod a+r) or delete it"
        ) from error


def _holder(fd: int) -> str:
    """Return who holds the lock, as far as /proc/locks tells (proc(5))."""
    inode = os.fstat(fd).st_ino
    with suppress(OSError):
        locks = Path("/proc/locks").read_text()
        if found := re.search(rf"(?m)^\d+: FLOCK +\S+ +\S+ +(\d+) \S+:{inode} ", locks):
            return f"process {found[1]}"
    return "another process"


def say(sentence: str) -> None:
    """Tell the user at once, and the log."""
    print(f"copycost: {sentence}", file=sys.stderr, flush=True)
    _log.info("%s", sentence)
