"""One profiled repetition's record: its shape, its check, and how it is written and read.

The record says what ran, how it was sampled and what may be wrong with it; the stacks themselves
lie in a file of the same name that ends with ``.folded.gz``.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict, cast

from copycost.errors import DataError
from copycost.profile.folded import SUFFIX

SCHEMA_PATH = Path(__file__).parents[2] / "schemas" / "profile_record.schema.yaml"
SCHEMA_VERSION = 1

Status = Literal["measured", "skipped", "failed"]
CpuSource = Literal["task_clock", "process_clock"]


class ProfiledCell(TypedDict):
    """The point of the grid; an implementation may also be ``iperf3`` or ``iperf3_udp``."""

    testbed: str
    implementation: str
    msg_bytes: int
    n_threads: int
    working_set: str
    receiver: str
    rep: int


class RunSide(TypedDict):
    """CPU time of one side in the window [ns], and what counted it."""

    cpu_ns: float
    cpu_source: CpuSource


class Run(TypedDict):
    """What one run of the cell came to, sampled or not.

    `received_bytes` are those of the window; `sides` are the ones that there were.
    """

    started_at: str
    window_s: float
    received_bytes: int
    sides: dict[str, RunSide]
    copied_share: float | None
    warnings: list[str]


class SampledSide(TypedDict):
    """What was sampled of one side.

    `weight` adds up the periods of the samples, in nanoseconds of CPU time (timer) or in cycles.
    """

    samples: int
    weight: int


class Sampling(TypedDict):
    """How it was sampled."""

    event: str
    source: Literal["hardware", "timer"]
    frequency_hz: int
    call_graph: str
    perf_version: str
    lost: int
    truncated: bool
    sides: dict[str, SampledSide]


class ProfileRecord(TypedDict):
    """One profiled repetition; keys as in `profile_record.schema.yaml`.

    `sampled` is the run that was sampled, `plain` the same without sampling, right before or after
    it; both are None unless `status` is measured.
    """

    schema_version: int
    study: Literal["profile"]
    cell: ProfiledCell
    status: Status
    reason: str | None
    remedy: str | None
    host_digest: str
    boot_id: str
    commit: str | None
    sampling: Sampling | None
    sampled: Run | None
    plain: Run | None


def folded_path(record: Path) -> Path:
    """Return the path of the folded stacks that belong to a record."""
    return record.with_name(record.name.removesuffix(".json") + SUFFIX)


@cache
def _schema() -> dict[str, Any]:
    import yaml

    return cast("dict[str, Any]", yaml.safe_load(SCHEMA_PATH.read_text(encoding="utf-8")))


def check_record(data: object, where: str | Path) -> ProfileRecord:
    """Return `data` as a record if the schema allows it.

    Raises
    ------
    DataError
        If it does not; the message names the offending key.
    """
    import jsonschema

    error = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(_schema()).iter_errors(data)
    )
    if error is not None:
        place = ".".join(str(key) for key in error.absolute_path) or "the record"
        raise DataError(
            f"{where}: {place}: {error.message[:200]}; expected a profile record"
            f" ({SCHEMA_PATH.name}): delete it to measure that repetition again"
        )
    return cast("ProfileRecord", data)


def read_record(path: Path) -> ProfileRecord:
    """Return the record in a file.

    Raises
    ------
    DataError
        If the file does not hold one.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path}: {error}; expected one JSON object: delete it to measure that repetition again"
        ) from error
    return check_record(data, path)


def write_record(record: ProfileRecord, path: Path) -> None:
    """Write a record, all of it or nothing.

    Raises
    ------
    DataError
        If the record breaks its schema.
    """
    check_record(record, path)
    partial = path.with_name(f".{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with partial.open("w", encoding="utf-8") as file:
            json.dump(record, file, indent=1, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
