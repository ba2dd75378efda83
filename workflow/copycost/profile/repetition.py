"""Profile one repetition of one cell: once sampled and once not, and return its record."""

import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from copycost.config import Settings
from copycost.errors import CopycostError
from copycost.grid import Cell
from copycost.measure.failure import AGAIN
from copycost.measure.parent import MeasurementStopped
from copycost.measure.repetition import measure_repetition
from copycost.profile.access import SamplingPlan, SamplingUnavailable, plan_sampling
from copycost.profile.perf_script import Sampled, Stacks
from copycost.profile.record import (
    SCHEMA_VERSION,
    ProfileRecord,
    Run,
    Sampling,
    Status,
)
from copycost.profile.runs import run_of
from copycost.profile.sampler import Sampler
from copycost.profile.section import EventChoice
from copycost.records.record import Record, host_digest

# what perf stat counts beside the sampling: more events would be counted in turns with it
_COUNTED = ("task_clock_ns", "context_switches")

# a counter that is live but wrong, as virtual machines have them, makes few samples or none
_FEWEST_SHARE = 0.1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Programs:
    """The two programs of a cell; no receiver where nobody receives."""

    sender: Path
    receiver: Path | None


@dataclass(frozen=True, slots=True)
class Profiled:
    """A record, and the stacks by side that belong to it."""

    record: ProfileRecord
    stacks: dict[str, Stacks]


class _NotMeasured(CopycostError):
    """A run gave no measurement."""

    def __init__(self, status: Status, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.status, self.reason, self.remedy = status, reason, remedy


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
    stacks: dict[str, Stacks] = {}
    counting = {**host, "perf": _counting_little(host["perf"])}

    def run(sampler: Sampler | None) -> Record:
        measured = measure_repetition(
            replace(cell, study="streams"),
            settings,
            counting,
            programs.sender,
            programs.receiver,
            lock_path,
            onlooker=sampler,
        )
        if measured["status"] != "measured":
            raise _NotMeasured(
                measured["status"],
                measured["reason"] or "not measured",
                measured["remedy"] or AGAIN,
            )
        return measured

    try:
        plan = plan_sampling(host, event, frequency_hz)
        with tempfile.TemporaryDirectory(prefix="copycost_profile_") as folder:
            plain = run(None) if cell.rep % 2 else None
            with Sampler(plan, Path(folder)) as sampler:
                sampled = run(sampler)
                found = sampler.read()
                processes = sampler.processes
        plain = plain or run(None)
        stacks = {side: found.processes.get(pid, Stacks()) for side, pid in processes.items()}
        sampling, sampled_run = _sampling(plan, found, stacks), run_of(sampled)
        _require_samples(sampling, sampled_run)
        record["commit"], record["boot_id"] = sampled["commit"], sampled["boot_id"]
        record["sampling"], record["sampled"], record["plain"] = (
            sampling,
            sampled_run,
            run_of(plain),
        )
    except (SamplingUnavailable, _NotMeasured) as error:
        _conclude(record, getattr(error, "status", "skipped"), error.reason, error.remedy)
        return Profiled(record, {})
    except MeasurementStopped:
        raise
    except CopycostError as error:
        _conclude(record, "failed", str(error), AGAIN)
        return Profiled(record, {})
    record["status"] = "measured"
    return Profiled(record, stacks)


def _start_record(cell: Cell, host: Mapping[str, Any]) -> ProfileRecord:
    """Return the record of a repetition of which nothing is known yet."""
    return {
        "schema_version": SCHEMA_VERSION,
        "study": "profile",
        "cell": {
            "testbed": cell.testbed,
            "implementation": cell.implementation,
            "msg_bytes": cell.msg_bytes,
            "n_threads": cell.n_threads,
            "working_set": cell.working_set,
            "receiver": cell.receiver,
            "rep": cell.rep,
        },
        "status": "failed",
        "reason": None,
        "remedy": None,
        "host_digest": host_digest(host),
        "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "commit": None,
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


def _require_samples(sampling: Sampling, run: Run) -> None:
    """Refuse a profile of hardly any samples, which a counter that does not count gives.

    Raises
    ------
    _NotMeasured
        If a side has less than a tenth of the samples that its CPU time should have given.
    """
    for side, sampled in sampling["sides"].items():
        expected = run["sides"][side]["cpu_ns"] / 1e9 * sampling["frequency_hz"]
        if sampled["samples"] < _FEWEST_SHARE * expected:
            raise _NotMeasured(
                "failed",
                f"the {side} has {sampled['samples']} samples of {sampling['event']}, where its CPU"
                f" time at {sampling['frequency_hz']} Hz should have given {expected:.0f}",
                "set profile.event to cpu_clock" if sampling["source"] == "hardware" else AGAIN,
            )


def _conclude(record: ProfileRecord, status: Status, reason: str, remedy: str) -> None:
    record["status"], record["reason"], record["remedy"] = status, reason, remedy
    record["sampling"] = record["sampled"] = record["plain"] = None
    _log.warning("%s: %s; %s", status, reason, remedy)
