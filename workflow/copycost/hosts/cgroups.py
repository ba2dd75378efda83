"""Control groups of our own that limit CPU, version 1 and 2.

A group is made below one that the kernel already limits CPU in, is named after us, and is removed
at the end of the block; or, if we are killed within it, by a watcher. No other group is touched.

Source: Documentation/scheduler/sched-bwc.rst, Documentation/admin-guide/cgroup-v2.rst, cgroups(7).
"""

import os
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.parsing import Counters, parser_of

# as short as lets the smallest quota (1 ms, the kernel's least) be 10 % of a CPU: so that the rate
# is even within a window
PERIOD_US = 10_000
_LEAST_QUOTA_US = 1_000
_CPULIMIT = "set cpu_budget.limiters to [cpulimit]"
# Removes a group, $1, when its maker says where those that are still in it go; or when standard
# input ends, as the maker was killed: then they are killed too.
_WATCHER = """
trap '' HUP INT PIPE TERM
read -r above || above=/proc
tries=0
until [ ! -d "$1" ] || rmdir "$1" || [ "$tries" -ge 100 ]; do
    while read -r pid; do
        echo "$pid" >"$above/cgroup.procs" || [ "$above" != /proc ] || kill -KILL "$pid"
    done <"$1/cgroup.procs"
    tries=$((tries + 1))
    sleep 0.02
done
[ ! -d "$1" ]
"""


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
    places = {}
    for line in own.splitlines():
        number, controllers, path = line.split(":", 2)
        for name in controllers.split(",") if number != "0" else ["unified"]:
            places[name] = path.strip("/")
    found: list[Hierarchy] = []
    for _, at, kind, options, *_ in map(str.split, mounts.splitlines()):
        if kind != "cgroup2" and not (kind == "cgroup" and "cpu" in options.split(",")):
            continue
        version: Literal[1, 2] = 2 if kind == "cgroup2" else 1
        root = Path(at)
        here = root / places.get("unified" if version == 2 else "cpu", "")
        above = [group for group in here.parents if group.is_relative_to(root)]
        found += [Hierarchy(version, group) for group in (here, *above)]
    return sorted(found, key=lambda one: one.version)


def find_hierarchy() -> Hierarchy:
    """Return the nearest group below which we may limit CPU; Unavailable if there is none."""
    mounts, own = (HostFiles().text(f"proc/self/{name}") or "" for name in ("mounts", "cgroup"))
    refusals: list[str] = []
    for hierarchy in candidate_hierarchies(mounts, own):
        refusal = _refusal(hierarchy)
        if refusal is None:
            return hierarchy
        refusals.append(refusal)
    # rights are not what root lacks, and they make nothing where there is nothing to make it in
    lacks_rights = refusals and os.geteuid() != 0
    cure = "run as root" if lacks_rights else "mount them with the cpu controller, writable"
    raise Unavailable(
        f"no control group for CPU may be made ({'; '.join(refusals) or 'none is mounted'})",
        f"{cure}, or {_CPULIMIT}",
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


@dataclass(frozen=True, slots=True)
class Throttling(Counters):
    """How often, and for how long, a group was held back."""

    # periods in which it ran, and in which it used its quota up
    periods: int
    throttled_periods: int
    throttled_ns: int  # time for which it was held back, summed over the CPUs [ns]


@dataclass(frozen=True, slots=True)
class CpuGroup:
    """A group of ours, for the time of its block."""

    version: Literal[1, 2]
    path: Path

    def add(self, pids: Sequence[int]) -> None:
        """Move processes, with all their threads, into the group."""
        for pid in pids:
            try:
                (self.path / "cgroup.procs").write_text(f"{pid}\n")
            except OSError as error:
                raise Unavailable(
                    f"the kernel did not let process {pid} into {self.path} ({error.strerror})",
                    f"run as root, or {_CPULIMIT}",
                ) from error

    def release(self) -> None:
        """Take the limit off; what is in the group stays there."""
        name, unlimited = ("cpu.max", "max") if self.version == 2 else ("cpu.cfs_quota_us", "-1")
        (self.path / name).write_text(f"{unlimited}\n")

    @property
    def stat_path(self) -> Path:
        """Its file that tells how often it was held back, see `throttling_of`."""
        return self.path / "cpu.stat"


@parser_of("cpu.stat of a control group")
def throttling_of(text: str, version: Literal[1, 2]) -> Throttling:
    """Return how often a group was held back, from the text of its cpu.stat."""
    found = {key: int(value) for key, value in map(str.split, text.splitlines())}
    throttled_ns = found["throttled_time"] if version == 1 else found["throttled_usec"] * 1000
    return Throttling(found["nr_periods"], found["nr_throttled"], throttled_ns)


@contextmanager
def cpu_group(hierarchy: Hierarchy, limit_percent: float | None) -> Iterator[CpuGroup]:
    """Make a group that may use so much CPU, and remove it at the end of the block.

    The limit is in per cent of one CPU, over 100 for several, and at least 10; None sets no quota.
    Unavailable if the kernel refuses, say because a group above has less.
    """
    path = hierarchy.parent / f"copycost-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        path.mkdir()
    except OSError as error:
        raise Unavailable(
            f"{path}: the control group cannot be made ({error.strerror})",
            f"run as root, or {_CPULIMIT}",
        ) from error
    with subprocess.Popen(
        ["/bin/sh", "-c", _WATCHER, "copycost-watcher", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as watcher:
        try:
            if limit_percent is not None:
                _set_quota(hierarchy.version, path, limit_percent)
            yield CpuGroup(hierarchy.version, path)
        finally:
            _, said = watcher.communicate(f"{hierarchy.parent}\n")
    if watcher.returncode != 0:
        why = said.strip().rpartition(": ")[2]
        raise HostError(
            f"{path}: the control group cannot be removed ({why}); stop what runs in it and remove"
            " it with rmdir"
        )


def _set_quota(version: int, path: Path, limit_percent: float) -> None:
    quota_us = max(_LEAST_QUOTA_US, round(limit_percent / 100 * PERIOD_US))
    settings: dict[str, object] = {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota_us}
    if version == 2:
        settings = {"cpu.max": f"{quota_us} {PERIOD_US}"}
    try:
        for name, value in settings.items():
            (path / name).write_text(f"{value}\n")
    except OSError as error:
        raise Unavailable(
            f"the kernel refused a quota of {limit_percent:g} % of a CPU in {path}"
            f" ({error.strerror})",
            "look whether a group above has less CPU, as containers often have",
        ) from error
