"""CPU time, waiting and bytes of both sides' processes, as the kernel tells them at both edges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from copycost.hosts.process_usage import Usage
from copycost.hosts.side import SIDES, Side, SideName
from copycost.hosts.window_edges import AtEdges, plan_on
from copycost.observers.protocol import WindowObserver


@dataclass(frozen=True, slots=True)
class _Seen:
    """One side, and its usage at both edges; None where a process had ended before our look."""

    side: Side
    at_edges: AtEdges[Usage | None]


class ProcessUsage(WindowObserver):
    """Reads what the processes of each side have used; on a busy host it looks late."""

    name = "usage"

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._used: dict[str, Usage | None] = {}

    def attach(self, sides: Sequence[Side]) -> None:
        """Note the processes."""
        self._seen = [_Seen(side, side.host.usage_at_edges(side.pids)) for side in sides]
        self._used.clear()

    def window_planned(self, start_ns: int, end_ns: int) -> None:
        """Have both edges read."""
        for one in self._seen:
            plan_on(one.side.host, one.at_edges, start_ns, end_ns)

    def window_begins(self) -> None:
        """Read the first edge."""
        for one in self._seen:
            one.at_edges.edge()

    def window_ends(self) -> None:
        """Read the second edge."""
        for one in self._seen:
            one.at_edges.edge()

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Ask what was read."""
        for one in self._seen:
            before, after = one.at_edges.edges()
            used = None if before is None or after is None else after - before
            self._used[one.side.name] = used

    def used(self, name: str) -> Usage | None:
        """Return what a side used within the window; None if a process had ended."""
        return self._used.get(name)

    @property
    def gone(self) -> SideName | None:
        """The first side of which a process had ended before our look; None if there is none."""
        names = (one.side.name for one in self._seen)
        return next((name for name in names if self.used(name) is None), None)

    def found(self) -> dict[str, Any]:
        """Return the record's entry: by side, None where there is nothing."""
        return {name: _entry(self.used(name)) for name in SIDES}


def _entry(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {
        "window_ns": usage.at_ns,
        "cpu_ns": usage.cpu_ns,
        "waiting_ns": usage.waiting_ns,
        "read_bytes": usage.read_bytes,
        "written_bytes": usage.written_bytes,
        "read_calls": usage.read_calls,
        "write_calls": usage.write_calls,
    }
