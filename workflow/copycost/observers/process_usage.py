"""CPU time, waiting and bytes of both sides' processes, as the kernel tells them at both edges."""

from collections.abc import Iterable, Sequence
from typing import Any

from copycost.hosts.host import AtEdges, Host
from copycost.hosts.processes import Usage
from copycost.hosts.side import SIDES, Side, SideName
from copycost.observers.protocol import WindowObserver


class ProcessUsage(WindowObserver):
    """Reads what the processes of each side have used; on a busy host it looks late."""

    name = "usage"

    def __init__(self) -> None:
        # by side, at both edges; None where a process had ended before our look
        self._looks: list[tuple[Side, AtEdges[Usage | None]]] = []
        self._used: dict[SideName, Usage | None] = {}

    def attach(self, sides: Sequence[Side]) -> None:
        """Note the processes."""
        self._looks = [(side, side.host.usage_at_edges(side.pids)) for side in sides]
        self._used.clear()

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[Usage | None]]]:
        """Return what reads each side's."""
        return [(side.host, usage) for side, usage in self._looks]

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Ask what was read."""
        for side, usage in self._looks:
            before, after = usage.edges()
            self._used[side.name] = after - before if before and after else None

    def used(self, name: SideName) -> Usage | None:
        """Return what a side used within the window; None if a process had ended."""
        return self._used.get(name)

    @property
    def gone(self) -> SideName | None:
        """The first side of which a process had ended before our look; None if there is none."""
        return next((name for name, used in self._used.items() if used is None), None)

    def found(self) -> dict[str, Any]:
        """Return the record's entry: by side, None where there is nothing."""
        return {name: _entry(self.used(name)) for name in SIDES}


def _entry(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    told = ("cpu_ns", "waiting_ns", "read_bytes", "written_bytes", "read_calls", "write_calls")
    return {"window_ns": usage.at_ns} | {name: getattr(usage, name) for name in told}
