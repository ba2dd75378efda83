"""The memory floor: measured for real, and every failure a record with its reason and remedy."""

import os
from pathlib import Path
from typing import Any

import pytest

from copycost.studies.memory.floor import measure_memory
from copycost.studies.memory.record import MemoryRecord, read_memory, write_memory


def host(llc_bytes: int | None = None) -> dict[str, Any]:
    return {"cpu": {"caches": {"llc_bytes": llc_bytes}}}


def measure(folder: Path, script: str, facts: dict[str, Any] | None = None) -> MemoryRecord:
    """Measure with a script in the program's place."""
    path = folder / "memory_floor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return measure_memory(path, facts or host(), lock_path=folder / "lock", sender_cpus=None)


FLOOR = (
    '{"schema_version": 1, "program": "memory_floor", '
    '"build": {"source_digest": "0", "compiler": "gcc", "flags": "-O2"}, "options": {}, '
    '"points": [{"bytes": 16384, "ns_per_byte": [0.01, 0.02]}]}'
)


def test_what_the_program_prints_becomes_a_record_that_comes_back(tmp_path: Path) -> None:
    record = measure(tmp_path, f"echo '{FLOOR}'")
    assert record["status"] == "measured"
    assert record["floor"] is not None
    assert record["floor"]["points"][0]["ns_per_byte"] == [0.01, 0.02]
    assert record["settings"]["max_bytes"] == 256 << 20
    assert record["settings"]["cpu"] in os.sched_getaffinity(0)
    assert record["end_ns"] > record["start_ns"]
    write_memory(record, tmp_path / "results" / "memory.json")
    assert read_memory(tmp_path / "results" / "memory.json") == record


@pytest.mark.parametrize(
    ("script", "status", "reason"),
    [
        ("echo 'memory_floor: no memcpy here' >&2; exit 77", "skipped", "memory_floor: no memcpy"),
        ("echo 'memory_floor: mmap: no' >&2; exit 1", "failed", "mmap: no (exit status 1)"),
        ("kill -9 $$", "failed", "was killed by SIGKILL"),
        ("echo hello", "failed", "printed no JSON object but 'hello"),
    ],
)
def test_a_failure_is_a_record_with_a_remedy(
    tmp_path: Path, script: str, status: str, reason: str
) -> None:
    record = measure(tmp_path, script)
    assert record["status"] == status
    assert reason in str(record["reason"])
    assert record["remedy"]
    assert record["floor"] is None
    write_memory(record, tmp_path / "memory.json")


def test_what_cannot_begin_is_a_failed_record(tmp_path: Path) -> None:
    record = measure_memory(tmp_path / "none", host(), lock_path=tmp_path / "lock")
    assert "cannot be started: No such file" in str(record["reason"])
    # the largest working set is out of the last level of the caches
    record = measure(tmp_path, "exit 1", host(llc_bytes=96 << 20))
    assert record["settings"]["max_bytes"] == 4 * (96 << 20)
    record = measure(tmp_path, "exit 1", host(llc_bytes=1 << 50))
    assert "the two buffers need 4096.0 TiB of memory, where " in str(record["reason"])
