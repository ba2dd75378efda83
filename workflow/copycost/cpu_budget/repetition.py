"""Measure one repetition of one point of the study `cpu_budget`, whatever happens on the way."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from copycost.cpu_budget.cgroups import Throttling
from copycost.cpu_budget.hierarchy import LimiterUnavailable
from copycost.cpu_budget.limiter import Limiter, LimiterKind, open_limiter
from copycost.cpu_budget.section import IPERF3, STUDY, WHOLE_CPU, BudgetCell, BudgetSettings
from copycost.errors import ConfigError, HostError
from copycost.iperf3.ours import drive_ours, own_settings, program_of
from copycost.iperf3.processes import Iperf3Run
from copycost.iperf3.record import conclude, note_lock, start_record
from copycost.iperf3.repetition import Iperf3Task, drive_iperf3
from copycost.measure.failure import AGAIN
from copycost.measure.lock import host_lock_path, measurement_lock
from copycost.measure.parent import MeasurementStopped, watched_parents
from copycost.measure.placement import place
from copycost.measure.side import Side
from copycost.testbed.namespaces import TestbedUnavailable
from copycost.testbed.testbed import TestbedKind, open_testbed


def measure_budget(
    cell: BudgetCell,
    settings: BudgetSettings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...] = (),
    lock_path: Path | None = None,
) -> dict[str, Any]:
    """Measure one repetition; a failure is a record too, with its reason and a remedy.

    To be called in a process of its own with one thread: without root it enters a user namespace
    for good.

    Parameters
    ----------
    programs : tuple of Path
        Our sender and receiver; empty where iperf3 drives.

    Raises
    ------
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    record = start_record(STUDY, asdict(cell), asdict(settings), host)
    if cell.driver != IPERF3:
        _measure_ours(record, cell, settings, host, programs, lock_path)
        record["end_ns"] = time.monotonic_ns()
        return record
    path = lock_path or host_lock_path()
    try:
        with watched_parents() as parent_fds, measurement_lock(path, parent_fds) as lock:
            note_lock(record, lock)
            _measure(record, cell, settings, host, (lock.fd, parent_fds))
    except KeyboardInterrupt:
        raise MeasurementStopped(
            f"{cell.path}: interrupted, nothing of it is left; run again to go on"
        ) from None
    record["end_ns"] = time.monotonic_ns()
    return record


def _measure(
    record: dict[str, Any],
    cell: BudgetCell,
    settings: BudgetSettings,
    host: Mapping[str, Any],
    fds: tuple[int, tuple[int, ...]],
) -> None:
    try:
        placement = place(settings.sender_cpus, settings.receiver_cpus)
        record["settings"]["sender_cpus"] = list(placement.sender_cpus)
        record["settings"]["receiver_cpus"] = list(placement.receiver_cpus)
        kind = cast("LimiterKind", cell.limiter)
        whole = cell.limit_percent == WHOLE_CPU
        with (
            open_limiter(kind, cell.offered_percent, all_of_it=whole) as limiter,
            open_testbed(cast("TestbedKind", cell.testbed)) as testbed,
        ):
            record["testbed"] = {
                "kind": testbed.kind,
                "isolation": testbed.isolation,
                "mtu_bytes": testbed.mtu_bytes,
                "offloads": testbed.offloads,
            }
            task = Iperf3Task(
                "tcp",
                cell.n_streams,
                settings.message_bytes,
                settings.congestion_control,
                settings.warmup_s,
                settings.duration_s,
            )
            warden = _Warden(limiter)
            drive_iperf3(record, task, host, testbed, placement, fds, warden)
            record["limiter"] = warden.facts()
    except (TestbedUnavailable, LimiterUnavailable) as error:
        conclude(record, "skipped", error.reason, error.remedy)
    except ConfigError as error:
        conclude(record, "failed", str(error), "change measure.cpus in config.yaml")
    except HostError as error:
        conclude(record, "failed", str(error), AGAIN)


def _measure_ours(
    record: dict[str, Any],
    cell: BudgetCell,
    settings: BudgetSettings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...],
    lock_path: Path | None,
) -> None:
    place = (cell.testbed, cell.driver, settings.message_bytes, cell.n_streams, cell.rep)
    told = own_settings(settings, settings.congestion_control)
    kind = cast("LimiterKind", cell.limiter)
    whole = cell.limit_percent == WHOLE_CPU
    if kind == "cpulimit":
        # perf above a program takes a signal of its child, a stop too, for its end
        reason = "cpulimit stops the program, which perf around it would take for its end"
        host = {**host, "perf": {**host["perf"], "status": "forbidden", "reason": reason}}
    try:
        with open_limiter(kind, cell.offered_percent, all_of_it=whole) as limiter:
            warden = _OwnWarden(limiter)
            drive_ours(record, place, told, host, programs, lock_path, warden)
            record["limiter"] = warden.facts()
        if warden.failure is not None:
            conclude(record, "skipped", warden.failure.reason, warden.failure.remedy)
    except LimiterUnavailable as error:
        conclude(record, "skipped", error.reason, error.remedy)


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
            self._limiter.limit([program_of(side) for side in sides if side.name == "sender"])
        except LimiterUnavailable as error:
            self.failure = error

    def window_begins(self) -> None:
        self.at_edge()

    def window_ends(self) -> None:
        self.at_edge()
        self._limiter.release()
