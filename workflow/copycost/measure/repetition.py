"""Measure one repetition of one cell and return its record, whatever happens on the way."""

import logging
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from copycost.build.checkout import current_commit
from copycost.config.config import Settings
from copycost.drivers.failure import AGAIN, Verdict
from copycost.drivers.programs.attempt import Measurement, run_attempt
from copycost.drivers.programs.side import PerfUnusable
from copycost.drivers.programs.task import Task
from copycost.drivers.programs.working_set import (
    NotEnoughMemory,
    check_memory,
    ring_bytes,
    time_to_fill_s,
)
from copycost.errors import ConfigError, HostError, Unavailable
from copycost.grid.cells import Cell
from copycost.hosts.lock import HeldLock, host_lock_path, measurement_lock
from copycost.hosts.parent import MeasurementStopped, watched_parents
from copycost.hosts.placement import Placement, fewest_at_once, place
from copycost.observers.disturbance import (
    find_disturbances,
    lock_warning,
    sink_warning,
    user_mode_warning,
)
from copycost.observers.onlooker import Onlooker
from copycost.perf.command import plan_perf
from copycost.perf.counters import no_perf
from copycost.records.record import SCHEMA_VERSION, PerfSides, Record, cell_key, host_digest
from copycost.testbeds.testbed import Testbed, TestbedKind, open_testbed

DEFAULT_IO_TIMEOUT_S = 10.0
# the receiver that maps what comes instead of copying it
_MAPPING_RECEIVER = "mmap"

_log = logging.getLogger(__name__)


def measure_repetition(
    cell: Cell,
    settings: Settings,
    host: Mapping[str, Any],
    sender: Path,
    receiver: Path | None,
    lock_path: Path | None = None,
    io_timeout_s: float = DEFAULT_IO_TIMEOUT_S,
    onlooker: Onlooker | None = None,
) -> Record:
    """Measure one repetition; a failure is a record too, with its reason and a remedy.

    To be called in a process of its own with one thread: without root it enters a user namespace
    for good.

    Parameters
    ----------
    cell : Cell
        What to measure.
    settings : Settings
        How to measure it.
    host : mapping
        The host facts (`results/host.json`), which say how perf is to be called.
    sender, receiver : Path
        The programs; no receiver on a testbed where nobody receives.
    lock_path : Path, optional
        Lock against overlapping measurements; by default the one that all runs on a host share.
    io_timeout_s : float
        Longest wait of a program for the other, or of us for a program [s], apart from the time
        that a sender takes to make a large ring of messages.
    onlooker : Onlooker, optional
        Who is told when the window begins and ends. It disturbs: not for timed repetitions.

    Returns
    -------
    Record
        With status measured, skipped (not available on this host) or failed.

    Raises
    ------
    HostError
        If the lock cannot be opened.
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    path = lock_path or host_lock_path()
    try:
        with watched_parents() as parent_fds, measurement_lock(path, parent_fds) as lock:
            at_once = _senders_at_once(cell, settings)
            ring = ring_bytes(cell.working_set, host, cell.n_threads, at_once)
            record = _start_record(cell, settings, host, ring, lock)
            task = Task(
                cell=cell,
                settings=settings,
                sender=sender,
                receiver=receiver,
                ring_bytes=ring,
                host=host,
                io_timeout_s=io_timeout_s + time_to_fill_s(ring),
                parent_fds=parent_fds,
                lock_fd=lock.fd,
                onlooker=onlooker,
            )
            _measure(record, task)
            record["end_ns"] = time.monotonic_ns()
    except KeyboardInterrupt:
        raise MeasurementStopped(
            f"{cell.path}: interrupted, nothing of it is left; run again to go on"
        ) from None
    record["wall_s"] = (record["end_ns"] - record["start_ns"]) / 1e9
    return record


def _senders_at_once(cell: Cell, settings: Settings) -> int:
    """Return how many sending threads share a last-level cache at once, at least."""
    try:
        placement = place(settings.sender_cpus, settings.receiver_cpus)
    except ConfigError:
        return 1  # the measurement will say why; nothing will be sent
    return fewest_at_once(placement.sender_cpus, cell.n_threads)


def _measure(record: Record, task: Task) -> None:
    """Place the threads, build the testbed, measure on it, and fill in the record."""
    outcome: Measurement | Verdict
    perf_failure: str | None = None
    try:
        cell = task.cell
        check_memory(task.ring_bytes, cell.msg_bytes, cell.n_threads, cell.strategy)
        placement = place(task.settings.sender_cpus, task.settings.receiver_cpus)
        record["settings"]["sender_cpus"] = list(placement.sender_cpus)
        if task.receiver is not None:
            record["settings"]["receiver_cpus"] = list(placement.receiver_cpus)
        kind = cast("TestbedKind", cell.testbed)
        with open_testbed(kind, page_segments=cell.receiver == _MAPPING_RECEIVER) as testbed:
            record["testbed"] = {
                "kind": testbed.kind,
                "isolation": testbed.isolation,
                "mtu_bytes": testbed.mtu_bytes,
                "offloads": testbed.offloads,
                "addresses": list(testbed.addresses),
            }
            outcome, perf_failure = _with_or_without_perf(task, placement, testbed)
    except Unavailable as error:
        outcome = Verdict("skipped", error.reason, error.remedy)
    except NotEnoughMemory as error:
        outcome = Verdict("failed", error.reason, error.remedy)
    except ConfigError as error:
        outcome = Verdict("failed", str(error), "change measure.cpus in config.yaml")
    except HostError as error:
        outcome = Verdict("failed", str(error), AGAIN)
    if isinstance(outcome, Verdict):
        _conclude(record, outcome)
    else:
        _fill(record, task, outcome, perf_failure)


def _with_or_without_perf(
    task: Task, placement: Placement, testbed: Testbed
) -> tuple[Measurement | Verdict, str | None]:
    """Measure under perf where it works; return also why perf failed where it should have."""
    plan = plan_perf(task.host)
    try:
        return run_attempt(task, placement, testbed, plan), None
    except PerfUnusable as error:
        _log.warning("%s: measuring without perf", error)
        return run_attempt(task, placement, testbed, None), str(error)


def _start_record(
    cell: Cell, settings: Settings, host: Mapping[str, Any], ring: int, lock: HeldLock
) -> Record:
    """Return the record of a repetition that has just begun."""
    return {
        "schema_version": SCHEMA_VERSION,
        "study": cell.study,
        "cell": cell_key(cell),
        "status": "failed",
        "reason": None,
        "remedy": None,
        "settings": {
            "warmup_s": settings.warmup_s,
            "duration_s": settings.duration_s,
            "congestion_control": settings.congestion_control,
            "tcp_nodelay": settings.tcp_nodelay,
            "send_buffer_bytes": settings.send_buffer_bytes,
            "receive_buffer_bytes": settings.receive_buffer_bytes,
            "sender_cpus": list(settings.sender_cpus or ()),
            "receiver_cpus": list(settings.receiver_cpus or ()),
            "fresh": settings.fresh,
            "ring_bytes": ring,
            "interval_ns": settings.interval_us * 1000,
        },
        "host_digest": host_digest(host),
        "commit": current_commit(),
        "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "start_ns": time.monotonic_ns(),
        "end_ns": 0,
        "lock_wait_s": lock.wait_s,
        "wall_s": 0.0,
        "sender": None,
        "receiver": None,
        "perf": None,
        "kernel": None,
        "testbed": None,
        "sink": None,
        "warnings": lock_warning(lock.wait_s),
    }


def _conclude(record: Record, verdict: Verdict) -> None:
    record["status"] = verdict.status
    record["reason"] = verdict.reason
    record["remedy"] = verdict.remedy
    _log.warning("%s: %s; %s", verdict.status, verdict.reason, verdict.remedy)


def _fill(record: Record, task: Task, found: Measurement, perf_failure: str | None) -> None:
    """Put a measurement into the record."""
    record["status"] = "measured"
    record["sender"] = found.sender
    record["receiver"] = found.receiver
    perf = _perf_sides(task.host, found, perf_failure)
    record["perf"] = perf
    record["kernel"] = {
        "softnet_dropped": found.kernel.softnet_dropped,
        "softnet_squeezed": found.kernel.softnet_squeezed,
        "tcp_retransmitted_segments": found.kernel.tcp_retransmitted_segments,
        "udp_in_errors": found.kernel.udp_in_errors,
        "udp_receive_buffer_errors": found.kernel.udp_receive_buffer_errors,
    }
    record["sink"] = found.sink
    record["warnings"] += find_disturbances(
        found.sender, found.receiver, found.kernel, task.host, os.cpu_count() or 1
    )
    record["warnings"] += user_mode_warning(perf)
    record["warnings"] += sink_warning(found.sink)


def _perf_sides(host: Mapping[str, Any], found: Measurement, perf_failure: str | None) -> PerfSides:
    if found.perf is not None:
        return found.perf
    if perf_failure is not None:
        side = no_perf(host, "failed", perf_failure)
    else:
        missing = host["perf"]["status"] == "missing"
        side = no_perf(host, "missing" if missing else "forbidden", host["perf"]["reason"])
    return {"sender": side, "receiver": None if found.receiver is None else side}
