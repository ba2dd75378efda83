"""Profile one repetition of one cell: once sampled and once not, and return its record."""

import logging
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from copycost.build.checkout import current_commit
from copycost.config.config import Settings
from copycost.config.profile import IPERF3, EventChoice
from copycost.drivers.failure import AGAIN
from copycost.errors import CopycostError
from copycost.grid.cells import Cell
from copycost.hosts.parent import MeasurementStopped
from copycost.measure.repetition import measure_repetition
from copycost.observers.sampler import Sampler
from copycost.observers.sampling_access import SamplingPlan, SamplingUnavailable, plan_sampling
from copycost.perf.script import UNKNOWN, Sampled, Stacks
from copycost.records.record import cell_key, host_digest
from copycost.studies.profile.iperf import run_iperf3
from copycost.studies.profile.record import SCHEMA_VERSION, ProfileRecord, Run, Sampling
from copycost.studies.profile.runs import NotMeasured, run_of

# what perf stat counts beside the sampling: more events would be counted in turns with it
_COUNTED = ("task_clock_ns", "context_switches")
# Of the samples that a side's CPU time should give. A counter that is live but wrong, as virtual
# machines have them, makes few or none. The timer makes all of them while it is switched on, which
# perf does thread by thread: with many of them it is late, and samples how they end instead.
_FEWEST_SHARE = {"hardware": 0.1, "timer": 0.5}
# fewer may be missing by chance: a side that sleeps through the window has none
_FEWEST_EXPECTED = 20
# perf discards a whole stack in which it finds what cannot be an address
_MOST_UNKNOWN = 0.25

_log = logging.getLogger(__name__)

# runs the cell once, sampled or not
_Runner = Callable[[Sampler | None], Run]


@dataclass(frozen=True, slots=True)
class Programs:
    """The two programs of a cell; None where nobody receives, or where iperf3 sends."""

    sender: Path | None
    receiver: Path | None


@dataclass(frozen=True, slots=True)
class Profiled:
    """A record, and the stacks by side that belong to it."""

    record: ProfileRecord
    stacks: dict[str, Stacks]


def profile_repetition(
    cell: Cell,
    settings: Settings,
    host: Mapping[str, Any],
    programs: Programs,
    event: EventChoice,
    frequency_hz: int,
    lock_path: Path | None = None,
) -> Profiled:
    """Profile one repetition; a failure is a record too, with its reason and a remedy.

    The cell runs twice, right one after the other: sampled, and not. So what the sampling itself
    costs is measured. Which comes first changes from repetition to repetition.

    To be called in a process of its own with one thread, see `measure_repetition`.

    Parameters
    ----------
    cell : Cell
        What to profile.
    settings : Settings
        How to measure it.
    host : mapping
        The host facts.
    programs : Programs
        Sender and receiver.
    event, frequency_hz
        See `plan_sampling`.
    lock_path : Path, optional
        Lock against overlapping measurements; by default the one that all runs on a host share.

    Raises
    ------
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    record = _start_record(cell, host)
    try:
        plan = plan_sampling(host, event, frequency_hz)
        run = _runner(cell, settings, host, programs, lock_path)
        with tempfile.TemporaryDirectory(prefix="copycost_profile_") as folder:
            plain = run(None) if cell.rep % 2 else None
            with Sampler(plan, Path(folder)) as sampler:
                sampled = run(sampler)
                found = sampler.read()
                stacks = {side: found.of(pids) for side, pids in sampler.processes.items()}
        sampling = _sampling(plan, found, stacks)
        require_samples(sampling, sampled)
        require_stacks(stacks)
        record["plain"] = plain or run(None)
        record["sampling"], record["sampled"] = sampling, sampled
    except SamplingUnavailable as error:
        _conclude(record, NotMeasured("skipped", error.reason, error.remedy))
        return Profiled(record, {})
    except NotMeasured as error:
        _conclude(record, error)
        return Profiled(record, {})
    except MeasurementStopped:
        raise
    except CopycostError as error:
        _conclude(record, NotMeasured("failed", str(error), AGAIN))
        return Profiled(record, {})
    record["status"] = "measured"
    return Profiled(record, stacks)


def _runner(
    cell: Cell,
    settings: Settings,
    host: Mapping[str, Any],
    programs: Programs,
    lock_path: Path | None,
) -> _Runner:
    """Return what runs a cell once."""
    counting = {**host, "perf": _counting_little(host["perf"])}
    if cell.implementation in IPERF3:
        return lambda sampler: run_iperf3(cell, settings, counting, sampler, lock_path)
    sender, streams = programs.sender, replace(cell, study="streams")
    assert sender is not None  # every way to send but iperf3 has a program
    return lambda sampler: run_of(
        measure_repetition(
            streams, settings, counting, sender, programs.receiver, lock_path, onlooker=sampler
        )
    )


def _start_record(cell: Cell, host: Mapping[str, Any]) -> ProfileRecord:
    """Return the record of a repetition of which nothing is known yet."""
    return {
        "schema_version": SCHEMA_VERSION,
        "study": "profile",
        "cell": cell_key(cell),
        "status": "failed",
        "reason": None,
        "remedy": None,
        "host_digest": host_digest(host),
        "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "commit": current_commit(),
        "sampling": None,
        "sampled": None,
        "plain": None,
    }


def _counting_little(perf: Mapping[str, Any]) -> dict[str, Any]:
    """Return the host's entry on perf with few events left."""
    events = {name: event for name, event in perf["events"].items() if name in _COUNTED}
    return {**perf, "events": events}


def _sampling(plan: SamplingPlan, found: Sampled, stacks: Mapping[str, Stacks]) -> Sampling:
    return {
        "event": plan.event,
        "source": plan.source,
        "frequency_hz": plan.frequency_hz,
        "call_graph": "fp",
        "perf_version": plan.version,
        "lost": found.lost,
        "truncated": found.truncated,
        "sides": {
            side: {"samples": one.samples, "weight": one.weight} for side, one in stacks.items()
        },
    }


def require_samples(sampling: Sampling, run: Run) -> None:
    """Refuse a profile of too few samples to be one of the window.

    Raises
    ------
    NotMeasured
        If a side has less than a tenth of the samples that its CPU time should have given; with
        the timer, less than half.
    """
    source = sampling["source"]
    remedy = "set profile.event to cpu_clock"
    if source == "timer":
        remedy = f"ask for fewer threads or look for an overloaded host, then {AGAIN}"
    for side, sampled in sampling["sides"].items():
        expected = run["sides"][side]["cpu_ns"] / 1e9 * sampling["frequency_hz"]
        too_few = sampled["samples"] < _FEWEST_SHARE[source] * expected
        if too_few and expected >= _FEWEST_EXPECTED:
            raise NotMeasured(
                "failed",
                f"the {side} has {sampled['samples']} samples of {sampling['event']}, where its CPU"
                f" time at {sampling['frequency_hz']} Hz should have given {expected:.0f}",
                remedy,
            )


def require_stacks(sides: Mapping[str, Stacks]) -> None:
    """Refuse a profile that perf has discarded the call stacks of.

    Raises
    ------
    NotMeasured
        If more than a quarter of a side's samples are in no known function and have no caller.
    """
    for side, stacks in sides.items():
        share = stacks.weights.get(UNKNOWN, 0) / max(1, stacks.weight)
        if share > _MOST_UNKNOWN:
            raise NotMeasured(
                "failed",
                f"perf could not tell the call stacks of {share:.0%} of the {side}'s samples",
                "build what is profiled with frame pointers (-fno-omit-frame-pointer)",
            )


def _conclude(record: ProfileRecord, why: NotMeasured) -> None:
    record["status"], record["reason"], record["remedy"] = why.status, why.reason, why.remedy
    record["sampling"] = record["sampled"] = record["plain"] = None
    _log.warning("%s: %s", why.status, why)
