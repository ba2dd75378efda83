"""Measure one repetition of one cell and return its record, whatever happens on the way.

The one shell of all studies: it takes the lock, builds the testbed, places the threads, has the
driver make traffic and the observers watch a window of it, judges, and fills in the record.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.config.testbeds import away_on
from copycost.errors import (
    AttemptFailed,
    ConfigError,
    CopycostError,
    MeasurementStopped,
    Unavailable,
    WithRemedy,
    in_words,
)
from copycost.hosts.placement import place_sides
from copycost.hosts.program import Launch
from copycost.hosts.side import SIDES, SideName
from copycost.hosts.testbeds.testbed import Testbed
from copycost.measure.drivers.protocol import (
    AGAIN,
    Driver,
    MissedWindow,
    PerfUnusable,
    Setup,
    Window,
)
from copycost.measure.held_host import HeldHost, locked_host
from copycost.measure.window import (
    lock_warning,
    require_same_clocks,
    user_mode_warning,
    window_warnings,
)
from copycost.observers.hypervisor import Hypervisor
from copycost.observers.kernel_counters import KernelCounters
from copycost.observers.perf_stat import PerfStat
from copycost.observers.protocol import WindowObserver
from copycost.records.disk import lacks_room
from copycost.records.record import SCHEMA_VERSION, Record, host_digest, prepare_check

_OF_TESTBED = ("kind", "isolation", "mtu_bytes", "offloads")
_OF_MACHINE = ("name", "kind", "clock_offset_ns", "clock_uncertainty_ns")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """One repetition that is to be measured.

    `facts` are those of this machine (`results/host.json`), `peer` those of the machine of sides
    that run elsewhere (`TestbedEntry.away`). `observers` watch besides perf, the kernel's counters
    and those of guests, which always do; they disturb, so timed repetitions have none. `counted`
    are our names of the perf events to count, None for all. The lock keeps measurements from
    overlapping; by default it is the one that all runs on a host share.
    """

    cell: Cell
    settings: Settings
    facts: Mapping[str, Any]
    driver: Driver
    observers: Sequence[WindowObserver] = field(default=())
    counted: tuple[str, ...] | None = None
    lock_path: Path | None = None
    peer: Mapping[str, Any] | None = None

    @property
    def facts_by_side(self) -> dict[SideName, Mapping[str, Any]]:
        """The facts of each side's machine: this one, or the other.

        Unavailable where the other cannot be had, whose facts then say only why; AttemptFailed
        where it was not reached, or is a guest that did not come up.
        """
        away, peer = away_on(self.cell.testbed), self.peer
        if peer is None:
            assert not away, f"{self.cell.testbed} takes the facts of another machine"
            return dict.fromkeys(SIDES, self.facts)
        for part in ("virtual", "wire"):
            if (missing := peer.get(part, {}).get("unavailable")) is None:
                continue
            if missing.get("failed"):
                raise AttemptFailed(missing["reason"], missing["remedy"])
            again = "; then ./run --retry-failed" if part == "wire" else ""
            raise Unavailable(missing["reason"], missing["remedy"] + again)
        return {side: peer if side in away else self.facts for side in SIDES}


def measure_repetition(task: Task, held: HeldHost | None = None) -> Record:
    """Measure one repetition; a failure is a record too, with its reason and a remedy.

    It may share host and testbed with others; by default it has its own turn, see `locked_host`.
    """
    if held is None:
        with locked_host(task.cell.path, task.lock_path) as held:
            return measure_repetition(task, held)
    record: Record = {
        "schema_version": SCHEMA_VERSION,
        "study": task.cell.study,
        "cell": task.cell.key,
        "status": "failed",
        "reason": None,
        "remedy": None,
        # the CPUs that are used, and the ring that the driver makes, are not known yet
        "settings": task.settings.as_params()
        | {"sender_cpus": None, "receiver_cpus": None, "ring_bytes": None},
        **held.stamps(task.facts),  # type: ignore[typeddict-item]
        "testbed": None,
        "driver": None,
        "window": None,
        "observed": {},
        "undisturbed": None,
        "warnings": [],
    }
    try:
        _measure(record, task, held)
    except Exception as error:
        why = explained(error)
        held.clear()
        record["status"] = "skipped" if isinstance(why, Unavailable) else "failed"
        record["reason"], record["remedy"] = why.reason, why.remedy
        _log.warning("%s: %s", record["status"], why)
    record["end_ns"] = held.machine.clock_ns()
    # of all machines that take part
    record["lock_wait_s"] = held.lock.wait_s - held.waited_s
    held.waited_s = held.lock.wait_s
    record["warnings"] = lock_warning(record["lock_wait_s"]) + record["warnings"]
    record["wall_s"] = (record["end_ns"] - record["start_ns"]) / 1e9
    return record


def explained(error: Exception) -> WithRemedy:
    """Return why there is no measurement; errors that call all off go on.

    One that nobody foresaw, such as a fork that the kernel refuses, costs this repetition alone.
    """
    match error:
        case MeasurementStopped():
            raise error
        case WithRemedy():
            return error
        case ConfigError():
            return AttemptFailed(str(error), "change measure.cpus in config.yaml")
        case _ if lacks_room(error):
            raise error  # the script's starter waits for room
        case CopycostError():
            return AttemptFailed(str(error), AGAIN)
        case _:
            _log.error("unforeseen", exc_info=error)
            return AttemptFailed(in_words(error), AGAIN)


def _measure(record: Record, task: Task, held: HeldHost) -> None:
    """Build the testbed, place the threads, measure on it, and fill in the record."""
    cell, settings, facts = task.cell, task.settings, task.facts_by_side
    used = record["settings"]
    kernel = KernelCounters()
    others = [*task.observers, kernel, Hypervisor()]
    with ExitStack() as stack:
        for observer in others:
            stack.callback(observer.close)
            observer.open(held.machine)
        testbed = held.built_for(cell, task.peer)
        record["testbed"] = _testbed_facts(testbed, facts)
        placement = place_sides(
            testbed.hosts, cell.placement, settings.sender_cpus, settings.receiver_cpus
        )
        used["sender_cpus"] = list(placement.sender_cpus)
        if testbed.drop_hook is None:
            used["receiver_cpus"] = list(placement.receiver_cpus)
        stops = any(one.stops_programs for one in task.observers)
        perf = PerfStat(facts, task.counted, beside_stops=stops)
        stack.callback(perf.close)
        observers: list[WindowObserver] = [perf, *others]
        kernel.heated = {side: placement.cpus(side) for side in SIDES}
        setup = Setup(
            cell,
            settings,
            facts,
            held.machine,
            placement,
            testbed,
            held.waiting,
            partial(_around, observers),
            attach_s=max(one.attach_s for one in observers),
            takes_any_traffic=any(one.takes_any_traffic for one in observers),
            meanwhile=prepare_check,
        )
        used.update(task.driver.plan(setup))
        for observer in observers:
            observer.prepare(testbed)
        try:
            _watch_on_time(record, task, setup, observers)
        except PerfUnusable as error:
            _log.warning("%s: measuring without perf", error)
            perf.give_up(str(error))
            _watch_on_time(record, task, setup, observers)
    record["status"] = "measured"
    record["warnings"] += user_mode_warning(record["observed"][perf.name])


def _around(observers: Sequence[WindowObserver], party: str, launch: Launch) -> Launch:
    """Return what all observers together make of a program; the first is the innermost."""
    for observer in observers:
        launch = observer.around(party, launch)
    return launch


def _watch_on_time(
    record: Record, task: Task, setup: Setup, observers: Sequence[WindowObserver]
) -> None:
    """Watch a window; another one, a few times, where it was missed.

    On a busy host, and in virtual machines whose host has to set up counters for them first, an
    edge may come a quarter of a second late.
    """
    missed = Counter[type[MissedWindow]]()
    while True:
        try:
            return _watch(record, task, setup, observers)
        except MissedWindow as late:
            missed[type(late)] += 1
            if missed[type(late)] == late.n_tries:
                raise
            _log.warning("%s: once more", late.reason)
            for observer in observers:
                observer.close()
                observer.prepare(setup.testbed)


def _watch(record: Record, task: Task, setup: Setup, observers: Sequence[WindowObserver]) -> None:
    """Have traffic made, watch a window of it, and put what was found into the record."""
    settings, clock_ns = task.settings, setup.machine.clock_ns
    with task.driver.traffic(setup) as traffic:
        sides = [side for side in traffic.sides if not side.party]  # without a reference's
        for observer in observers:
            observer.attach(traffic.sides if observer.takes_both else sides)
        planned = traffic.open_window(settings.warmup_s, settings.duration_s)
        # a host far away does what is planned for one moment in this order: first what is read, and
        # last that perf is switched, which waits for perf
        for observer in reversed(observers):
            observer.window_planned(planned.start_ns, planned.end_ns)
        traffic.watch_until(planned.start_ns, "window")
        for observer in observers:
            observer.window_begins()
        begun_ns = clock_ns()
        length_ns = planned.end_ns - planned.start_ns
        traffic.watch_until(planned.end_ns if planned.kept else begun_ns + length_ns, "drain")
        ended_ns = clock_ns()
        for observer in reversed(observers):
            observer.window_ends()
        for observer in observers:
            observer.traffic_ends(sides)
        payload = traffic.finish()
        window = payload.window or Window(begun_ns, ended_ns)
        found = {one.name: one.found() for one in observers}
        warnings = window_warnings(
            task.facts_by_side, setup.testbed, observers, payload, window, found
        )
        require_same_clocks(record, setup.testbed, window)
    record["driver"] = payload.entry
    if (of_reference := found[PerfStat.name].pop("reference", None)) is not None:
        payload.entry["reference"]["perf_stat"] = of_reference
    record["window"] = {"start_ns": window.start_ns, "end_ns": window.end_ns}
    record["observed"] = {name: entry for name, entry in found.items() if entry is not None}
    record["warnings"] += warnings


def _testbed_facts(testbed: Testbed, facts: Mapping[SideName, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a record says of the testbed, and of each side's machine."""
    entry = {name: getattr(testbed, name) for name in _OF_TESTBED}
    entry["addresses"] = list(testbed.addresses)
    entry["machines"] = {
        side: {name: getattr(testbed.hosts[side].machine, name) for name in _OF_MACHINE}
        | {"facts_digest": host_digest(facts[side])}
        for side in SIDES
    }
    if testbed.virtual is not None:
        entry["virtual"] = dict(testbed.virtual)
    return entry
