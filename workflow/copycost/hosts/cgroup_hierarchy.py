"""Where control groups that limit CPU can be made, version 1 and 2.

Source: cgroups(7), Documentation/admin-guide/cgroup-v2.rst.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from copycost.errors import Unavailable
from copycost.hosts.parsing import parser_of


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where groups can be made."""

    version: Literal[1, 2]  # of the interface
    parent: Path  # the group below which ours are made


@parser_of("/proc/self/mounts and /proc/self/cgroup")
def candidate_hierarchies(mounts: str, own: str) -> list[Hierarchy]:
    """Return where a group that limits CPU might be made, the likeliest first.

    Of the texts of /proc/self/mounts and of /proc/self/cgroup.
    """
    rows = [line.split() for line in mounts.splitlines()]
    places = {}
    for line in own.splitlines():
        number, controllers, path = line.split(":", 2)
        for name in controllers.split(",") if number != "0" else ["unified"]:
            places[name] = path
    found: list[Hierarchy] = []
    for row in rows:
        root = Path(row[1])
        if row[2] == "cgroup" and "cpu" in row[3].split(","):
            found += [Hierarchy(1, group) for group in _ancestors(root, places.get("cpu"))]
    for row in rows:
        if row[2] == "cgroup2":
            groups = _ancestors(Path(row[1]), places.get("unified"))
            found += [Hierarchy(2, group) for group in groups]
    return found


def _ancestors(root: Path, own: str | None) -> list[Path]:
    """Return the group we are in and those above it, as far as they are seen below `root`."""
    inside = (own or "/").strip("/")
    here = root / inside
    return [here, *[path for path in here.parents if path == root or root in path.parents]]


def find_hierarchy() -> Hierarchy:
    """Return the nearest group below which we may limit CPU; Unavailable if there is none."""
    mounts = Path("/proc/self/mounts").read_text()
    refusals: list[str] = []
    for hierarchy in candidate_hierarchies(mounts, Path("/proc/self/cgroup").read_text()):
        refusal = _refusal(hierarchy)
        if refusal is None:
            return hierarchy
        refusals.append(refusal)
    # rights are not what root lacks, and they make nothing where there is nothing to make it in
    lacks_rights = refusals and os.geteuid() != 0
    cure = "run as root" if lacks_rights else "mount them with the cpu controller, writable"
    raise Unavailable(
        f"no control group for CPU may be made ({'; '.join(refusals) or 'none is mounted'})",
        f"{cure}, or set cpu_budget.limiters to [cpulimit]",
    )


def _refusal(hierarchy: Hierarchy) -> str | None:
    """Return why no group can be made there, None if nothing speaks against it."""
    parent = hierarchy.parent
    controls = parent / ("cgroup.subtree_control" if hierarchy.version == 2 else "cpu.shares")
    try:
        enabled = controls.read_text().split()
    except OSError as error:
        return f"{controls}: {error.strerror}"
    if hierarchy.version == 2 and "cpu" not in enabled:
        return f"{parent} does not hand the cpu controller down"
    return None if os.access(parent, os.W_OK) else f"{parent}: Permission denied"
