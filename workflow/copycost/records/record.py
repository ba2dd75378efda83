"""One repetition's record: its shape, its schema check, and how it is written and read.

A record is one JSON object in one file, the same for every study: an envelope that says what was
measured, where, when and how, with what the driver said (`driver`) and what each observer found
(`observed`). Its envelope has types here, for mypy; all of it a closed JSON schema
(`workflow/schemas/record.schema.yaml`), for what lies on disk.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from copycost.config.cells import Cell
from copycost.config.checkout import SCHEMAS
from copycost.records.json_schema import RecordKind

SCHEMA_PATH = SCHEMAS / "record.schema.yaml"
SCHEMA_VERSION = 5

Status = Literal["measured", "skipped", "failed"]
WarningCode = Literal[
    "foreign_load", "steal", "throttled", "window_edge_late", "few_messages", "lock_waited",
    "user_mode_only", "sink_loss", "iperf3_nan", "unknown_peers", "odd_numbers",
]  # fmt: skip


class Disturbance(TypedDict):
    """Something that may have disturbed the measurement."""

    code: WarningCode
    detail: str


class Record(TypedDict):
    """One repetition; keys as in `record.schema.yaml`, which describes each with its unit.

    `driver` and `window` are None, and `observed` is empty, unless `status` is measured.
    `undisturbed` is the record of the same cell without its sampler, for profiles; else None.
    """

    schema_version: int
    study: str
    cell: dict[str, Any]
    status: Status
    reason: str | None
    remedy: str | None
    settings: dict[str, Any]
    host_digest: str
    commit: str | None
    boot_id: str
    started_at: str
    start_ns: int
    end_ns: int
    lock_wait_s: float
    wall_s: float
    testbed: dict[str, Any] | None
    driver: dict[str, Any] | None
    window: dict[str, int] | None
    observed: dict[str, Any]
    undisturbed: "Record | None"
    warnings: list[Disturbance]


def cell_of(record: Mapping[str, Any]) -> Cell:
    """Return the repetition that a record is of."""
    return Cell(study=record["study"], **record["cell"])


def disturbance(code: WarningCode, detail: str) -> Disturbance:
    """Return a warning for a record."""
    return {"code": code, "detail": detail}


def host_digest(host: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) of the host facts: of their JSON with sorted keys, no spaces."""
    text = json.dumps(host, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# see `RecordKind`
RECORD: RecordKind[Record] = RecordKind(SCHEMA_PATH)
prepare_check = RECORD.prepare_check
check_record, read_record, write_record = RECORD.check, RECORD.read, RECORD.write
load_record, record_text = RECORD.load, RECORD.text
