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
    found = re.search(
        r"^MemAvailable:\s+(\d{1,15}) kB", files.text("proc/meminfo") or "", re.MULTILINE
    )
    available = [int(found[1]) << 10] if found else []
    rooms = _cgroup_rooms(files, files.text("proc/self/cgroup") or "")
    return min([*available, *rooms], default=None)


def _cgroup_rooms(files: HostFiles, own_cgroups: str) -> list[int]:
    """Return what each limited control group above this process has left [bytes]."""
    paths = [line[3:] for line in own_cgroups.splitlines() if line.startswith("0::")]
    folders = [PurePosixPath(posixpath.normpath(_CGROUPS / path.lstrip("/"))) for path in paths]
    groups = [group for folder in folders for group in (folder, *folder.parents)]
    rooms = (_room_of(files, group) for group in groups if group.is_relative_to(_CGROUPS))
    return [room for room in rooms if room is not None]


def _room_of(files: HostFiles, group: PurePosixPath) -> int | None:
    """Return what is left below a group's limit [bytes], None where there is no limit."""
    limit = files.number(f"{group}/memory.max")
    used = files.number(f"{group}/memory.current")
    stat = files.text(f"{group}/memory.stat")
    if limit is None or used is None or stat is None:
        return None
    # the kernel gives up cached files before anybody goes without
    cached = re.search(r"^inactive_file (\d{1,18})$", stat, re.MULTILINE)
    return max(0, limit - used + (int(cached[1]) if cached else 0))
