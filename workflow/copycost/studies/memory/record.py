"""The record of the memory floor, results/memory.json: its shape, how it is checked and written."""

from pathlib import Path
from typing import Any, TypedDict, cast

from copycost.checkout import SCHEMAS
from copycost.records.json_schema import RecordKind
from copycost.records.reading import NO_STAMPS, REMEDY, Readable
from copycost.records.record import Disturbance, Status

SCHEMA_PATH = SCHEMAS / "memory.schema.yaml"
SCHEMA_VERSION = 1


class MemoryRecord(TypedDict):
    """One measurement of the memory floor; keys as in `memory.schema.yaml`.

    `floor` is what the program printed; None unless `status` is measured. The stamps mean the same
    as in the record of a repetition.
    """

    schema_version: int
    status: Status
    reason: str | None
    remedy: str | None
    settings: dict[str, int]  # cpu, max_bytes, repetitions
    host_digest: str
    commit: str | None
    boot_id: str
    started_at: str
    start_ns: int
    end_ns: int
    lock_wait_s: float
    wall_s: float
    floor: dict[str, Any] | None
    warnings: list[Disturbance]


# see `RecordKind`
_MEMORY: RecordKind[MemoryRecord] = RecordKind(SCHEMA_PATH, "a record of the memory floor")
read_memory, write_memory = _MEMORY.read, _MEMORY.write
check_memory, load_memory, memory_text = _MEMORY.check, _MEMORY.load, _MEMORY.text


def _lost(_path: Path, reason: str, _like: MemoryRecord | None) -> MemoryRecord:
    settings = {"cpu": 0, "max_bytes": 0, "repetitions": 1}
    found = {"schema_version": SCHEMA_VERSION, "status": "failed", "reason": reason}
    found |= {"remedy": REMEDY, "settings": settings, "floor": None}
    return cast("MemoryRecord", NO_STAMPS | found)


MEMORY = Readable(_MEMORY, lambda _: None, _lost)
"""The memory floor of a run, which costs no more than itself."""
