"""Profile one repetition of one cell: once sampled and once not, and return its record."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from copycost.config.strategy_capabilities import IPERF3
from copycost.config.studies import EventChoice
from copycost.config.testbeds import guests_on
from copycost.errors import AttemptFailed, Unavailable
from copycost.hosts.local import LocalHost
from copycost.hosts.side import Side, is_inside, is_rest
from copycost.hosts.testbeds.testbed import Testbed
from copycost.measure.drivers.protocol import AGAIN
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.perf.stacks import UNKNOWN, Stacks
from copycost.observers.process_usage import ProcessUsage
from copycost.observers.protocol import WindowObserver
from copycost.observers.sampler import Sampler, SamplingPlan, plan_sampling
from copycost.records.record import Record
from copycost.studies.profile.runs import Run, run_of
from copycost.wording.words import party

# what perf stat counts beside the sampling: more events would be counted in turns with it
_COUNTED = ("task_clock_ns", "context_switches")
# Of the samples that a side's CPU time should give. A counter that is live but wrong, as virtual
# machines have them, makes few or none. The timer makes all of them while it is switched on, which
# perf does thread by thread: with many of them it is late, and samples how they end instead.
_FEWEST_SHARE = {"hardware": 0.1, "timer": 0.5}
# A guest's timer is late whenever its virtual CPU waits for a CPU, and its clocks go on meanwhile.
_FEWEST_SHARE_IN_GUESTS = 0.1
# fewer may be missing by chance: a side that sleeps through the window has none
_FEWEST_EXPECTED = 20
# Of a side's samples: perf discards a whole stack in which it finds what cannot be an address.
_MOST_UNKNOWN = 0.25

_log = logging.getLogger(__name__)


class Profiled(NamedTuple):
    """A record, and the stacks by party that belong to it."""

    record: Record
    stacks: dict[str, Stacks]


def profile_repetition(task: Task, event: EventChoice, frequency_hz: int) -> Profiled:
    """Profile one repetition; a failure is a record too, with its reason and a remedy.

    The cell runs twice, right one after the other: sampled, and not, both in turns with a reference
    if there is one. So what the sampling itself costs is measured. Which comes first changes.

    The record is that of the sampled run, with that of the other at ``undisturbed``.
    """
    cell = task.cell

    def run(*observers: WindowObserver) -> Record:
        # iperf3 keeps no account of its CPU time
        watched = (ProcessUsage(), *observers) if cell.implementation == IPERF3 else observers
        return measure_repetition(replace(task, observers=watched, counted=_COUNTED))

    def plan_of(side: Side | None) -> SamplingPlan:
        if side is None:
            return plan_sampling(task.facts, event, frequency_hz, LocalHost().files)
        files = side.host.machine.files
        return plan_sampling(its_facts[side.name], event, frequency_hz, files)

    try:
        its_facts = task.facts_by_side
        here = guests_on(cell.testbed) or any(one is task.facts for one in its_facts.values())
        if here:  # before anything is measured
            plan_of(None)
    except Unavailable as error:
        return Profiled(run(_Refused(error)), {})
    n_streams = cell.n_threads * (1 if task.driver.reference is None else 2)
    sampler = Sampler(plan_of, n_streams, in_guests=guests_on(cell.testbed) > 0)
    records: dict[bool, Record] = {}
    for sampled in (False, True) if cell.rep % 2 else (True, False):
        record = records[sampled] = run(sampler) if sampled else run()
        if record["status"] != "measured":
            return Profiled(record, {})
        try:
            found = run_of(record)
            if sampled:
                require_samples(record["observed"][sampler.name], found)
                require_stacks(sampler.stacks)
        except AttemptFailed as why:
            record["status"], record["reason"], record["remedy"] = "failed", why.reason, why.remedy
            record["driver"], record["window"], record["observed"] = None, None, {}
            _log.warning("failed: %s", why.reason)
            return Profiled(record, {})
    records[True]["undisturbed"] = records[False]
    return Profiled(records[True], sampler.stacks)


class _Refused(WindowObserver):
    """Ends a repetition before anything is started, since it could not be sampled."""

    name = "sampling"

    def __init__(self, why: Unavailable) -> None:
        self._why = why

    def prepare(self, testbed: Testbed) -> None:
        raise self._why


def require_samples(sampling: Mapping[str, Any], run: Run) -> None:
    """Refuse a profile of too few samples to be one of the window."""
    source, frequency_hz = sampling["source"], sampling["frequency_hz"]
    remedy = "set profile.event to cpu_clock"
    if source == "timer":
        remedy = f"ask for fewer threads or look for an overloaded host, then {AGAIN}"
    for side, sampled in sampling["sides"].items():
        if is_rest(side):
            continue  # what its kernel calls busy is counted in ticks
        expected = run.cpu_ns[side] / 1e9 * frequency_hz
        inside = is_inside(side, sampling["sides"])
        fewest = _FEWEST_SHARE_IN_GUESTS if inside else _FEWEST_SHARE[source]
        if sampled["samples"] < fewest * expected and expected >= _FEWEST_EXPECTED:
            reason = (
                f"the {party(side)} has {sampled['samples']} samples of {sampling['event']}, where"
                f" its CPU time at {frequency_hz} Hz should have given {expected:.0f}"
            )
            raise AttemptFailed(reason, remedy)


def require_stacks(sides: Mapping[str, Stacks]) -> None:
    """Refuse a profile that perf has discarded too many of the call stacks of.

    Those are the samples that are in no known function and have no caller.
    """
    for side, stacks in sides.items():
        share = stacks.weights.get(UNKNOWN, 0) / max(1, stacks.weight)
        if share > _MOST_UNKNOWN:
            whose = f"{share:.0%} of the {party(side)}'s samples"
            reason = f"perf could not tell the call stacks of {whose}"
            remedy = "build what is profiled with frame pointers (-fno-omit-frame-pointer)"
            raise AttemptFailed(reason, remedy)
