"""Measure what a plain memcpy costs, by working set: from the L1 cache to out of all caches."""

import json
import logging
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.config.conditions import COLD
from copycost.config.testbeds import APART
from copycost.errors import AttemptFailed, CopycostError, Unavailable
from copycost.hosts.facts.kernel import require_memory
from copycost.hosts.placement import place
from copycost.hosts.program import Launch
from copycost.measure.drivers.programs.command import ring_bytes
from copycost.measure.drivers.programs.conversation import EXIT_UNAVAILABLE
from copycost.measure.drivers.protocol import AGAIN
from copycost.measure.held_host import HeldHost, locked_host
from copycost.measure.repetition import explained
from copycost.measure.window import lock_warning
from copycost.studies.memory.record import SCHEMA_VERSION, MemoryRecord

# values for each working set, so that there is an interval around their median
_REPETITIONS = 5
# the largest working set at least, so that hosts can be laid beside each other [bytes]
_LEAST_MAX_BYTES = 256 << 20
_LIMIT_S = 120.0

_log = logging.getLogger(__name__)


def measure_memory(
    program: Path,
    host: Mapping[str, Any],
    sender_cpus: Sequence[int] | None = None,
    lock_path: Path | None = None,
) -> MemoryRecord:
    """Measure the memory floor of this host; a failure is a record too, with reason and remedy.

    By default it runs where senders do, on the first of their CPUs, and takes the lock that all
    runs on a host share. Ends with `MeasurementStopped` after Ctrl-C, or if the process that waits
    for the record is gone.
    """
    with locked_host("memory floor", lock_path) as held:
        max_bytes = max(_LEAST_MAX_BYTES, ring_bytes(COLD, host))
        record: MemoryRecord = {
            "schema_version": SCHEMA_VERSION,
            "status": "failed",
            "reason": None,
            "remedy": None,
            "settings": {"cpu": 0, "max_bytes": max_bytes, "repetitions": _REPETITIONS},
            **held.stamps(host),
            "floor": None,
            "warnings": lock_warning(held.lock.wait_s),
        }
        try:
            record["settings"]["cpu"] = place(held.machine, APART, sender_cpus, None).sender_cpus[0]
            record["floor"] = _run(program, record["settings"], held)
            record["status"] = "measured"
        except CopycostError as error:
            why = explained(error)
            record["status"] = "skipped" if isinstance(why, Unavailable) else "failed"
            record["reason"], record["remedy"] = why.reason, why.remedy
        record["end_ns"] = held.machine.clock_ns()
    record["wall_s"] = (record["end_ns"] - record["start_ns"]) / 1e9
    if record["status"] != "measured":
        _log.warning("%s: %s; %s", record["status"], record["reason"], record["remedy"])
    return record


def _run(program: Path, settings: Mapping[str, int], held: HeldHost) -> dict[str, Any]:
    """Run the program to its end, or until nobody waits for it any more; return what it printed."""
    remedy = "stop what holds the memory, then " + AGAIN
    require_memory(held.machine.files, settings["max_bytes"], "the two buffers", remedy)
    path = held.machine.path_of(program)
    words = [path]
    for name, value in settings.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    held.waiting.during = "measurement of memory"
    running = held.machine.start(Launch(tuple(words), path))
    try:
        in_time = held.waiting.for_ends([running], time.monotonic() + _LIMIT_S)
        running.end()
        if not in_time:
            raise AttemptFailed(f"memory_floor did not end within {_LIMIT_S:g} s", AGAIN)
        return _printed(running.exit_code or 0, running.output(), running.errors())
    finally:
        running.end()
        running.close()


def _printed(code: int, output: str, errors: str) -> dict[str, Any]:
    """Return what the program printed; it may say why that is no measurement."""
    if code < 0:
        reason = f"memory_floor was killed by {signal.Signals(-code).name}"
        raise AttemptFailed(reason, f"look for the out-of-memory killer in dmesg, then {AGAIN}")
    said = (errors.strip().splitlines() or ["memory_floor said nothing"])[-1]
    if code == EXIT_UNAVAILABLE:
        raise Unavailable(said, "set measure.memory_floor to false in config.yaml")
    if code != 0:
        raise AttemptFailed(f"{said} (exit status {code})", AGAIN)
    try:
        floor: dict[str, Any] = json.loads(output)
    except ValueError:
        found = f"memory_floor printed no JSON object but {output[:80]!r}"
        raise AttemptFailed(found, "build the program again: delete results/bin") from None
    return floor
