"""The file of a driven study's record."""

from typing import Any

from copycost.build.checkout import SCHEMAS
from copycost.records.kind import RecordKind

DRIVEN_RECORD: RecordKind[dict[str, Any]] = RecordKind(SCHEMAS / "driven_record.schema.yaml")

# see `RecordKind`
check, read, write = DRIVEN_RECORD.check, DRIVEN_RECORD.read, DRIVEN_RECORD.write
