"""Records of repetitions that were skipped, written to where they belong."""

from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.records.record import SCHEMA_VERSION, Record, write_record

_SETTINGS: Any = {
    "warmup_s": 0.1,
    "duration_s": 0.5,
    "congestion_control": "cubic",
    "tcp_nodelay": "kernel",
    "send_buffer_bytes": None,
    "receive_buffer_bytes": None,
    "sender_cpus": [0],
    "receiver_cpus": [1],
    "mode": "stream",
    "fresh": False,
    "ring_bytes": None,
    "interval_ns": 0,
}


def skipped_record(cell: Cell, host_digest: str = "a" * 64) -> Record:
    """Return a record of a cell; one repetition begins a second after the other."""
    start_ns = 10**9 * cell.rep
    return {
        "schema_version": SCHEMA_VERSION,
        "study": cell.study,
        "cell": cell.key,
        "status": "skipped",
        "reason": "iperf3 was not found",
        "remedy": "install the package iperf3",
        "settings": _SETTINGS,
        "host_digest": host_digest,
        "commit": None,
        "boot_id": "11111111-2222-3333-4444-555555555555",
        "started_at": "2026-01-05T10:00:00+00:00",
        "start_ns": start_ns,
        "end_ns": start_ns + 10**6,
        "lock_wait_s": 0.0,
        "wall_s": 1e-3,
        "testbed": None,
        "driver": None,
        "window": None,
        "observed": {},
        "undisturbed": None,
        "warnings": [],
    }


def save(folder: Path, cell: Cell, record: Record | None = None) -> Path:
    """Write a record to where that of a cell belongs; its own, unless another is given."""
    path = folder / cell.path
    path.parent.mkdir(parents=True, exist_ok=True)
    write_record(record or skipped_record(cell), path)
    return path
