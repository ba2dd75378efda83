"""The record of a simulated cell: its shape, how its file is checked, read and written."""

from typing import Any, TypedDict

from copycost.build.checkout import SCHEMAS
from copycost.records.kind import RecordKind
from copycost.records.record import Status

SCHEMA_PATH = SCHEMAS / "simulated.schema.yaml"
SCHEMA_VERSION = 2


class SimulatedRecord(TypedDict):
    """One cell; keys as in `simulated.schema.yaml`, which describes each with its unit.

    From `guest` on they are None unless `status` is measured, and `receiver` where nobody receives.
    There are no times in it, so that two runs write the same file.
    """

    schema_version: int
    study: str
    cell: dict[str, Any]
    status: Status
    reason: str | None
    remedy: str | None
    settings: dict[str, Any]
    guest: dict[str, Any] | None
    assumed: dict[str, list[str]] | None
    sender: dict[str, Any] | None
    receiver: dict[str, Any] | None
    counted: dict[str, Any] | None


# see `RecordKind`
SIMULATED_RECORD: RecordKind[SimulatedRecord] = RecordKind(SCHEMA_PATH, "simulated counts")
read_simulated, write_simulated = SIMULATED_RECORD.read, SIMULATED_RECORD.write
