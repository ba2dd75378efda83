"""CPU time, waiting and bytes of both sides' processes, as the kernel tells them at both edges."""

from collections.abc import Iterable, Sequence
from typing import Any

from copycost.hosts.host import AtEdges, Host
from copycost.hosts.processes import Usage
from copycost.hosts.side import SIDES, Side, SideName
from copycost.observers.protocol import WindowObserver

_TOLD = ("cpu_ns", "waiting_ns", "read_bytes", "written_bytes", "read_calls", "write_calls")


class ProcessUsage(WindowObserver):
    """Reads what the processes of each side have used; on a busy host it looks late.

    After the window `used` has it by side; None where a process had ended before our look.
    """

    name = "usage"

    def __init__(self) -> None:
        self.used: dict[SideName, Usage | None] = {}
        self._looks: list[tuple[Side, AtEdges[Usage | None]]] = []

    def attach(self, sides: Sequence[Side]) -> None:
        """Note the processes."""
        self._looks = [(side, side.host.usage_at_edges(side.pids)) for side in sides]
        self.used.clear()

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[Usage | None]]]:
        """Return what reads each side's."""
        return [(side.host, usage) for side, usage in self._looks]

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Ask what was read."""
        for side, usage in self._looks:
            before, after = usage.edges()
            self.used[side.name] = after - before if before and after else None

    def found(self) -> dict[str, Any]:
        """Return the record's entry: by side, None where there is nothing."""
        entries: dict[str, Any] = dict.fromkeys(SIDES)
        for side, used in self.used.items():
            if used is not None:
                told = {name: getattr(used, name) for name in _TOLD}
                entries[side] = {"window_ns": used.at_ns, **told}
        return entries
