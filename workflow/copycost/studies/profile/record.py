"""One profiled repetition's record: its shape, its check, and how it is written and read.

The record says what ran, how it was sampled and what may be wrong with it; the stacks themselves
lie in a file of the same name that ends with ``.folded.gz``.
"""

from pathlib import Path
from typing import Literal, TypedDict

from copycost.build.checkout import SCHEMAS
from copycost.records.kind import RecordKind
from copycost.studies.profile.folded import SUFFIX

SCHEMA_PATH = SCHEMAS / "profile_record.schema.yaml"
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


# see `RecordKind`
_PROFILE: RecordKind[ProfileRecord] = RecordKind(SCHEMA_PATH, "a profile record")
read_record, write_record = _PROFILE.read, _PROFILE.write
