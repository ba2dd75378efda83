"""How much memory a host has left, and refusing what has no room in it."""

import posixpath
import re
from pathlib import PurePosixPath

from copycost.errors import AttemptFailed
from copycost.hosts.facts.files import HostFiles
from copycost.wording.numbers import approximate_size

# what is left to everybody else, and to the kernel's own buffers
_SPARE_SHARE = 0.1
_CGROUPS = PurePosixPath("sys/fs/cgroup")


def require_memory(files: HostFiles, need_bytes: int, what: str, remedy: str) -> None:
    """Refuse what has no room in memory; `what` needs it, in the plural."""
    have_bytes = available_memory_bytes(files)
    if have_bytes is not None and need_bytes > have_bytes * (1 - _SPARE_SHARE):
        raise AttemptFailed(
            f"{what} need {approximate_size(need_bytes)} of memory, where"
            f" {approximate_size(have_bytes)} are available, of which a tenth is to stay free",
            remedy,
        )


def available_memory_bytes(files: HostFiles) -> int | None:
    """Return how much memory can be had without swapping, in this container too [bytes].

    None where nobody tells.

    Source: proc(5), MemAvailable; kernel document admin-guide/cgroup-v2.rst, "Memory".
    """
    text = files.text("proc/meminfo") or ""
    found = re.search(r"^MemAvailable:\s+(\d{1,15}) kB", text, re.MULTILINE)
    rooms = [int(found[1]) << 10 if found else None]
    own = re.search(r"^0::/*(.*)$", files.text("proc/self/cgroup") or "", re.MULTILINE)
    if own:
        folder = PurePosixPath(posixpath.normpath(_CGROUPS / own[1]))
        groups = (group for group in (folder, *folder.parents) if group.is_relative_to(_CGROUPS))
        rooms += [_room_of(files, group) for group in groups]
    return min((room for room in rooms if room is not None), default=None)


def _room_of(files: HostFiles, group: PurePosixPath) -> int | None:
    """Return what is left below a control group's limit [bytes], None where there is no limit."""
    limit = files.number(f"{group}/memory.max")
    used = files.number(f"{group}/memory.current")
    stat = files.text(f"{group}/memory.stat")
    if limit is None or used is None or stat is None:
        return None
    # the kernel gives up cached files before anybody goes without
    cached = re.search(r"^inactive_file (\d{1,18})$", stat, re.MULTILINE)
    return max(0, limit - used + (int(cached[1]) if cached else 0))
