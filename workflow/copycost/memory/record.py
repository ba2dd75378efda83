"""The record of the memory floor, results/memory.json: its shape, how it is checked and written."""

import json
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, cast

from copycost.errors import DataError, ParseError
from copycost.records.files import write_whole
from copycost.records.record import Disturbance, Status

SCHEMA_PATH = Path(__file__).parents[2] / "schemas" / "memory.schema.yaml"
SCHEMA_VERSION = 1


class MemorySettings(TypedDict):
    """How it was measured: on which CPU, up to which working set [bytes], how often [count]."""

    cpu: int
    max_bytes: int
    repetitions: int


class MemoryRecord(TypedDict):
    """One measurement of the memory floor; keys as in `memory.schema.yaml`.

    `floor` is what the program printed; None unless `status` is measured. The stamps mean the same
    as in the record of a repetition.
    """

    schema_version: int
    status: Status
    reason: str | None
    remedy: str | None
    settings: MemorySettings
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


@cache
def _schema() -> dict[str, Any]:
    import yaml

    text = SCHEMA_PATH.read_text(encoding="utf-8")
    return cast("dict[str, Any]", yaml.load(text, Loader=yaml.CSafeLoader))


def check_memory_record(data: object, where: str | Path) -> MemoryRecord:
    """Return `data` as a record of the memory floor if the schema allows it.

    Raises
    ------
    DataError
        If it does not; the message names the offending key.
    """
    import jsonschema

    errors = jsonschema.Draft202012Validator(_schema()).iter_errors(data)
    error = jsonschema.exceptions.best_match(errors)
    if error is not None:
        place = ".".join(str(key) for key in error.absolute_path)
        raise DataError(
            f"{where}: {place + ': ' if place else ''}{error.message[:200]}; expected a record of"
            f" the memory floor ({SCHEMA_PATH.name}), so delete it to measure that again"
        )
    return cast("MemoryRecord", data)


def read_memory(path: Path) -> MemoryRecord:
    """Return the record in a file.

    Raises
    ------
    ParseError
        If the file is not one JSON object.
    DataError
        If the object is no record of the memory floor.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ParseError(
            f"{path}: {error}; expected one JSON object, so delete it to measure it again"
        ) from error
    return check_memory_record(data, path)


def write_memory(record: MemoryRecord, path: Path) -> None:
    """Write a record, all of it or nothing.

    Raises
    ------
    DataError
        If the record breaks its schema, or cannot be written (disk full, no right).
    """
    check_memory_record(record, path)
    write_whole(json.dumps(record, indent=1, allow_nan=False) + "\n", path)
