"""One run at a time in a folder."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from copycost.snakefile import terminal

LOCK_PATH = Path(".snakemake/copycost.lock")


def _open() -> int:
    LOCK_PATH.parent.mkdir(exist_ok=True)
    return os.open(LOCK_PATH, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


@contextmanager
def while_free() -> Iterator[bool]:
    """Keep other runs out for the time of the block, and tell whether none is at work."""
    fd = _open()
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(fd)


def lock_folder() -> None:
    """Keep other runs out of this folder until this process ends, however it ends.

    Snakemake's own lock is a file that a killed run leaves behind, and that has to be removed by
    hand; the kernel gives this one back. The default profile switches Snakemake's off.
    """
    fd = _open()  # stays open to the end
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        terminal.clear_line()
        holder = os.read(fd, 20).decode().strip()
        sys.exit(
            f"copycost: another run is at work in this folder (process {holder}); "
            "let it end, or use another clone"
        )
    os.ftruncate(fd, 0)
    os.write(fd, f"{os.getpid()}\n".encode())
