"""Limiters of CPU: a control group's quota, or `cpulimit`, which stops and continues a process."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

from copycost.observers.cgroup_hierarchy import LimiterUnavailable, find_hierarchy
from copycost.observers.cgroups import CpuGroup, Throttling, cpu_group

LimiterKind = Literal["cgroup", "cpulimit"]

_SEARCH_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
_END_TIMEOUT_S = 1.0


@dataclass(slots=True)
class Limiter:
    """A limiter in force for the time of its block.

    Attributes
    ----------
    description : str
        The interface: `cgroup v1`, `cgroup v2`, `cpulimit`.
    limit_percent : float
        What all limited processes together may use: per cent of one CPU.
    """

    description: str
    limit_percent: float
    _group: CpuGroup | None = None
    _path: str | None = None
    _helpers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _limited: list[int] = field(default_factory=list)

    def limit(self, pids: Sequence[int]) -> None:
        """Begin to limit processes; `cpulimit` gives each an equal share."""
        if self._group is not None:
            self._group.add(pids)
            return
        if self._path is None:
            return
        # it refuses more than the CPUs of the host, which is no limit for a process anyway
        most = 100 * (os.cpu_count() or 1)
        share = min(max(1, round(self.limit_percent / len(pids))), most)
        for pid in pids:
            self._limited.append(pid)
            command = [self._path, "--lazy", "--limit", str(share), "--pid", str(pid)]
            self._helpers.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )

    def throttling(self) -> Throttling | None:
        """Return how often it held back so far; None where the limiter cannot tell."""
        return None if self._group is None else self._group.throttling()

    def alive(self) -> bool:
        """Whether every helper still does its work."""
        return all(helper.poll() is None for helper in self._helpers)

    def release(self) -> None:
        """Stop limiting; a process that was just stopped goes on."""
        if self._group is not None:
            self._group.release()
        for helper in self._helpers:
            helper.terminate()
        for helper in self._helpers:
            try:
                helper.wait(_END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                helper.kill()
                helper.wait()
        for pid in self._limited:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._helpers.clear()
        self._limited.clear()


@contextmanager
def open_limiter(
    kind: LimiterKind, limit_percent: float, *, all_of_it: bool = False
) -> Iterator[Limiter]:
    """Prepare a limiter, and leave nothing of it behind at the end of the block.

    Parameters
    ----------
    limit_percent : float
        What all limited processes together may use: per cent of one CPU.
    all_of_it : bool
        That is all that they can use, so they are not held back: a quota of a whole CPU costs a
        process that needs all of it some per cent, lost between the periods.

    Raises
    ------
    LimiterUnavailable
        If this host, or our rights, do not allow it.
    """
    if kind == "cgroup":
        hierarchy = find_hierarchy()
        with cpu_group(hierarchy, None if all_of_it else limit_percent) as group:
            yield Limiter(f"cgroup v{hierarchy.version}", limit_percent, _group=group)
        return
    path = shutil.which("cpulimit", path=_SEARCH_PATH)
    if path is None:
        raise LimiterUnavailable(
            "cpulimit was not found",
            "install the package cpulimit, or set cpu_budget.limiters to [cgroup]",
        )
    limiter = Limiter("cpulimit", limit_percent, _path=None if all_of_it else path)
    try:
        yield limiter
    finally:
        limiter.release()
