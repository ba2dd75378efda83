"""The record of the memory floor, results/memory.json."""

from pathlib import Path
from typing import Any

from copycost.config.checkout import SCHEMAS
from copycost.records.json_schema import RecordKind
from copycost.records.reading import NO_STAMPS, REMEDY, Readable

MemoryRecord = dict[str, Any]
"""One measurement of the memory floor; `memory.schema.yaml` describes each key with its unit.

`floor` is what the program printed, None unless `status` is measured. The stamps mean the same as
in the record of a repetition.
"""

SCHEMA_VERSION = 1
_KIND: RecordKind[MemoryRecord] = RecordKind(
    SCHEMAS / "memory.schema.yaml", "a record of the memory floor"
)
read_memory, write_memory, memory_text = _KIND.read, _KIND.write, _KIND.text


def _lost(_path: Path, reason: str, _like: MemoryRecord | None) -> MemoryRecord:
    return NO_STAMPS | {
        "schema_version": SCHEMA_VERSION,
        "status": "failed",
        "reason": reason,
        "remedy": REMEDY,
        "settings": {"cpu": 0, "max_bytes": 0, "repetitions": 1},
        "floor": None,
    }


MEMORY = Readable(_KIND, lambda _: None, _lost)
"""The memory floor of a run, which costs no more than itself."""
