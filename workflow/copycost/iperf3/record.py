"""Records of the studies that iperf3 drives: what they share, and how they reach the disk."""

import json
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

from copycost.checkout import current_commit
from copycost.errors import DataError, ParseError
from copycost.iperf3.window import SideSeen, WindowSeen
from copycost.measure.disturbance import load_warnings, lock_warning
from copycost.measure.lock import HeldLock
from copycost.records.record import Disturbance, host_digest

SCHEMA_VERSION = 1
SCHEMA_PATH = Path(__file__).parents[2] / "schemas" / "driven_record.schema.yaml"


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
    """Put how long the lock was waited for into the record."""
    record["lock_wait_s"] = lock.wait_s
    record["warnings"] += lock_warning(lock.wait_s)


def conclude(record: dict[str, Any], status: str, reason: str | None, remedy: str | None) -> None:
    """Put the outcome into the record."""
    record["status"], record["reason"], record["remedy"] = status, reason, remedy


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


@cache
def _validator() -> Callable[[Any], Any]:
    # compiled, as in copycost.records.record and for the same reason
    import fastjsonschema

    schema = {key: value for key, value in _schema().items() if key != "$schema"}
    validate = fastjsonschema.compile(schema, use_default=False, detailed_exceptions=False)
    return cast("Callable[[Any], Any]", validate)


@cache
def _schema() -> dict[str, Any]:
    import yaml

    text = SCHEMA_PATH.read_text(encoding="utf-8")
    return cast("dict[str, Any]", yaml.load(text, Loader=yaml.CSafeLoader))


def check(record: object, where: str | Path) -> dict[str, Any]:
    """Return the record if the schema allows it.

    Raises
    ------
    DataError
        If it does not; the message names the offending key.
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(record)
    except JsonSchemaValueException as error:
        raise DataError(
            f"{where}: {error.message[:200]}; expected a copycost record ({SCHEMA_PATH.name}), so"
            " move the file elsewhere, or delete it to measure that repetition again"
        ) from error
    return cast("dict[str, Any]", record)


def read(path: Path) -> dict[str, Any]:
    """Return the record in a file.

    Raises
    ------
    ParseError
        If the file is not JSON.
    DataError
        If it is no record.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ParseError(
            f"{path}: {error}; expected one JSON object, so the file was cut off or is not"
            " copycost's: delete it to measure that repetition again"
        ) from error
    return check(content, path)


def write(record: dict[str, Any], path: Path) -> None:
    """Write a record, all of it or nothing: a hidden file beside it, then its name.

    Raises
    ------
    DataError
        If the record breaks its schema.
    """
    check(record, path)
    text = json.dumps(record, indent=1, allow_nan=False) + "\n"
    partial = path.with_name(f".{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
