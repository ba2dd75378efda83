"""A disk that is full: an error tells it, and it is waited for."""

import errno
import os
import shutil
import sys
import time
from pathlib import Path

AGAIN = 75
"""The exit status of what met a full disk and may begin again once there is room; EX_TEMPFAIL of
sysexits.h."""
_LEAST_BYTES = 1 << 20
_LONGEST_FULL_S = 60
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def lacks_room(error: BaseException) -> bool:
    """Return whether an error comes from a disk that is full, or from a quota.

    Of another program that met it, such as a linker, the error has the words.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _NO_ROOM:
            return True
        if any(os.strerror(number) in str(cause) for number in _NO_ROOM):
            return True
        cause = cause.__cause__
    return False


def is_full(folder: Path) -> bool:
    """Return whether the disk that holds a folder has no room left for what a step writes."""
    return shutil.disk_usage(folder).free < _LEAST_BYTES


def room_comes(*, lacked: bool) -> bool:
    """Return whether results have room, at once or within a minute, and had `lacked` it before."""
    results = Path("results")
    folder = results if results.is_dir() else Path()
    for waited_s in range(_LONGEST_FULL_S):
        if not is_full(folder):
            return lacked or waited_s > 0
        if waited_s == 0:
            said = f"the disk is full: waiting for room, {_LONGEST_FULL_S} s at most"
            print(f"copycost: {said}", file=sys.stderr, flush=True)
        time.sleep(1)
    return False
