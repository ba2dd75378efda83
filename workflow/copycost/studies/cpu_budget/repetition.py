"""Measure one repetition of one point of the study `cpu_budget`: the limiter beside the driver."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from copycost.config.cpu_budget import WHOLE_CPU, BudgetCell, BudgetSettings
from copycost.drivers.iperf3.processes import Iperf3Run
from copycost.drivers.iperf3.record import start_record
from copycost.drivers.iperf3.repetition import Attendant
from copycost.drivers.programs.side import Side
from copycost.grid.capabilities import IPERF3
from copycost.observers.cgroup_hierarchy import LimiterUnavailable
from copycost.observers.cgroups import Throttling
from copycost.observers.cpu_limit import Limiter, LimiterKind, open_limiter
from copycost.observers.onlooker import Onlooker
from copycost.studies.driven.repetition import DrivenTask, measure_driven
from copycost.testbeds.testbed import Testbed, TestbedKind, open_testbed


def measure_budget(
    cell: BudgetCell,
    settings: BudgetSettings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...] = (),
    lock_path: Path | None = None,
) -> dict[str, Any]:
    """Measure one repetition and return its record; see `copycost.studies.driven.repetition`.

    Parameters
    ----------
    programs : tuple of Path
        Our sender and receiver; empty where iperf3 drives.
    """
    record = start_record(cell.study, asdict(cell), asdict(settings), host)
    if cell.driver != IPERF3 and cell.limiter == "cpulimit":
        # perf above a program takes a signal of its child, a stop too, for its end
        host = _without_perf(
            host, "cpulimit stops the program, which perf around it would take for its end"
        )
    task = DrivenTask(
        cell,
        settings,
        "tcp",
        settings.message_bytes,
        settings.congestion_control,
        host,
        programs,
        lock_path,
    )
    measure_driven(record, task, _limited_iperf3(record, cell), _limited_ours(record, cell))
    return record


def _without_perf(host: Mapping[str, Any], reason: str) -> dict[str, Any]:
    return {**host, "perf": {**host["perf"], "status": "forbidden", "reason": reason}}


@contextmanager
def _limited_iperf3(
    record: dict[str, Any], cell: BudgetCell
) -> Iterator[tuple[Testbed, Attendant]]:
    kind = cast("TestbedKind", cell.testbed)
    with _limiter_of(cell) as limiter, open_testbed(kind) as testbed:
        warden = _Warden(limiter)
        yield testbed, warden
        record["limiter"] = warden.facts()


@contextmanager
def _limited_ours(record: dict[str, Any], cell: BudgetCell) -> Iterator[Onlooker]:
    with _limiter_of(cell) as limiter:
        warden = _OwnWarden(limiter)
        yield warden
        record["limiter"] = warden.facts()
    if warden.failure is not None:
        raise warden.failure


def _limiter_of(cell: BudgetCell) -> AbstractContextManager[Limiter]:
    whole = cell.limit_percent == WHOLE_CPU
    kind = cast("LimiterKind", cell.limiter)
    return open_limiter(kind, cell.offered_percent, all_of_it=whole)


class _Warden:
    """Has the limiter act from before the warm-up to after the window, and notes what it did."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self._edges: list[Throttling | None] = []
        self._held = True

    def before_warmup(self, run: Iperf3Run) -> None:
        self._limiter.limit(run.pids("client"))

    def at_edge(self) -> None:
        self._edges.append(self._limiter.throttling())
        self._held = self._held and self._limiter.alive()

    def after_window(self, run: Iperf3Run) -> None:
        self._limiter.release()

    def facts(self) -> dict[str, Any]:
        """Return the record's entry about the limiter."""
        throttled = None
        if len(self._edges) == 2:
            before, after = self._edges
            if before is not None and after is not None:
                throttled = asdict(after - before)
        return {
            "kind": self._limiter.description,
            "offered_percent": self._limiter.limit_percent,
            "held": self._held,
            "throttled": throttled,
        }


class _OwnWarden(_Warden):
    """The same for our own sender, as an onlooker at its measurement."""

    def __init__(self, limiter: Limiter) -> None:
        super().__init__(limiter)
        self.failure: LimiterUnavailable | None = None

    def attach(self, sides: Sequence[Side]) -> None:
        try:
            self._limiter.limit([side.program_pid for side in sides if side.name == "sender"])
        except LimiterUnavailable as error:
            self.failure = error

    def window_begins(self) -> None:
        self.at_edge()

    def window_ends(self) -> None:
        self.at_edge()
        self._limiter.release()
