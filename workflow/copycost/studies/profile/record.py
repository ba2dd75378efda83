"""A profiled repetition as the tables use it: what both its runs came to, and how it was sampled.

The stacks themselves lie in a file named as the record that ends with ``.folded.gz``.
"""

from pathlib import Path
from typing import Any, Literal, TypedDict

from copycost.records.record import Record, Status
from copycost.studies.profile.folded import SUFFIX
from copycost.studies.profile.runs import Run, run_of


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
    """One profiled repetition.

    `sampled` is the run that was sampled, `plain` the same without sampling, right before or after
    it; both are None unless `status` is measured.
    """

    study: str
    cell: dict[str, Any]
    status: Status
    reason: str | None
    remedy: str | None
    host_digest: str
    boot_id: str
    sampling: Sampling | None
    sampled: Run | None
    plain: Run | None


def profile_of(record: Record) -> ProfileRecord:
    """Return what a record says of a profiled repetition."""
    plain = record["undisturbed"]
    measured = record["status"] == "measured" and plain is not None
    return {
        "study": record["study"],
        "cell": record["cell"],
        "status": record["status"],
        "reason": record["reason"],
        "remedy": record["remedy"],
        "host_digest": record["host_digest"],
        "boot_id": record["boot_id"],
        "sampling": record["observed"]["sampling"] if measured else None,
        "sampled": run_of(record) if measured else None,
        "plain": run_of(plain) if plain is not None and measured else None,
    }


def folded_path(record: Path) -> Path:
    """Return the path of the folded stacks that belong to a record."""
    return record.with_name(record.name.removesuffix(".json") + SUFFIX)
