"""Records of repetitions that were skipped, written to where they belong."""

from pathlib import Path
from typing import cast

from sample_records import sample_record

from copycost.config.cells import Cell
from copycost.records.record import Record, write_record


def skipped_record(cell: Cell, host_digest: str = "a" * 64) -> Record:
    """Return a record of a cell; one repetition begins a second after the other."""
    record = sample_record(
        status="skipped",
        study=cell.study,
        cell=cell.key,
        reason="iperf3 was not found",
        remedy="install the package iperf3",
        host_digest=host_digest,
        commit=None,
        start_ns=10**9 * cell.rep,
        end_ns=10**9 * cell.rep + 10**6,
        wall_s=1e-3,
    )
    return cast("Record", record)


def save(folder: Path, cell: Cell, record: Record | None = None) -> Path:
    """Write a record to where that of a cell belongs; its own, unless another is given."""
    path = folder / cell.path
    path.parent.mkdir(parents=True, exist_ok=True)
    write_record(record or skipped_record(cell), path)
    return path
