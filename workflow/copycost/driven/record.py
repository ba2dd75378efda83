"""The file of a driven study's record."""

from pathlib import Path
from typing import Any

from copycost.records.kind import RecordKind

DRIVEN_RECORD: RecordKind[dict[str, Any]] = RecordKind(
    Path(__file__).parents[2] / "schemas" / "driven_record.schema.yaml"
)

# see `RecordKind`
check, read, write = DRIVEN_RECORD.check, DRIVEN_RECORD.read, DRIVEN_RECORD.write
