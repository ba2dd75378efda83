"""Records of what iperf3 drives, or one of our programs in its place: how one comes about."""

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from copycost.build.checkout import current_commit
from copycost.drivers.iperf3.window import SideSeen, WindowSeen
from copycost.hosts.lock import HeldLock
from copycost.observers.disturbance import load_warnings, lock_warning
from copycost.records.record import Disturbance, host_digest
from copycost.testbeds.testbed import Testbed

SCHEMA_VERSION = 1


def start_record(
    study: str, cell: Mapping[str, Any], settings: Mapping[str, Any], host: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the record of a repetition that has just begun."""
    return {
        "schema_version": SCHEMA_VERSION,
        "study": study,
        "cell": dict(cell),
        "status": "failed",
        "reason": None,
        "remedy": None,
        "settings": dict(settings),
        "host_digest": host_digest(host),
        "commit": current_commit(),
        "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "start_ns": time.monotonic_ns(),
        "end_ns": 0,
        "lock_wait_s": 0.0,
        "testbed": None,
        "driver": None,
        "limiter": None,
        "window": None,
        "sender": None,
        "receiver": None,
        "datagrams": None,
        "warnings": [],
    }


def note_lock(record: dict[str, Any], lock: HeldLock) -> None:
    """Put into the record how long the lock was waited for, and that the measurement begins now."""
    record["started_at"] = datetime.now(UTC).isoformat(timespec="milliseconds")
    record["start_ns"] = time.monotonic_ns()
    record["lock_wait_s"] = lock.wait_s
    record["warnings"] += lock_warning(lock.wait_s)


def conclude(record: dict[str, Any], status: str, reason: str | None, remedy: str | None) -> None:
    """Put the outcome into the record."""
    record["status"], record["reason"], record["remedy"] = status, reason, remedy


def testbed_facts(testbed: Testbed) -> dict[str, Any]:
    """Return the record's entry about the testbed."""
    return {
        "kind": testbed.kind,
        "isolation": testbed.isolation,
        "mtu_bytes": testbed.mtu_bytes,
        "offloads": testbed.offloads,
    }


def side_of(seen: SideSeen) -> dict[str, Any]:
    """Return one side's entry of the record."""
    usage = seen.usage
    return {
        "window_ns": usage.at_ns,
        "cpu_ns": usage.cpu_ns,
        "waiting_ns": usage.waiting_ns,
        "read_bytes": usage.read_bytes,
        "written_bytes": usage.written_bytes,
        "read_calls": usage.read_calls,
        "write_calls": usage.write_calls,
        "perf": seen.perf,
    }


def disturbances(seen: WindowSeen, host: Mapping[str, Any]) -> list[Disturbance]:
    """Return warnings about what may have disturbed the window."""
    window_s = (seen.end_ns - seen.start_ns) / 1e9
    own_cpu_s = (seen.sender.usage.cpu_ns + seen.receiver.usage.cpu_ns) / 1e9
    return load_warnings(own_cpu_s, window_s, seen.kernel, host, os.cpu_count() or 1)
