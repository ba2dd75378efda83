"""The files beside the records of a host that is handed on, each with its schema."""

from typing import Any

from copycost.build.checkout import SCHEMAS
from copycost.records.kind import RecordKind

EXPORT: RecordKind[dict[str, Any]] = RecordKind(
    SCHEMAS / "export.schema.yaml", "what ./run export writes"
)
FACTS: RecordKind[dict[str, Any]] = RecordKind(
    SCHEMAS / "foreign_facts.schema.yaml", "facts of a host or a configuration"
)
SET: RecordKind[dict[str, Any]] = RecordKind(
    SCHEMAS / "host_set.schema.yaml", "the description of a set"
)
EXPORT_VERSION = 1
SET_VERSION = 1
