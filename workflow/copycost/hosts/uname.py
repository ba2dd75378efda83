"""What no file of the kernel tells of a host: its architecture, and what its user may do."""

import os
import platform
import resource
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class About:
    """What programs on a host are, as far as they can tell by themselves."""

    architecture: str  # of the processor, in uname(1)'s words
    # what confstr(3) calls it, ``glibc 2.36``; None where it does not say, as musl
    c_library: str | None
    is_root: bool  # whether they run as root, maybe of a user namespace only
    memlock_bytes: int | None  # RLIMIT_MEMLOCK; None where there is no limit


def about_us() -> About:
    """Return it for this process and what it starts."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    limit = None if soft == resource.RLIM_INFINITY else soft
    return About(platform.machine(), _c_library(), os.geteuid() == 0, limit)


def _c_library() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        return None
