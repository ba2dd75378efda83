"""Our own sender and receiver as the driver of a study that iperf3 drives otherwise.

They are measured as in every other study (`copycost.measure`); an onlooker limits or counts. What
they say is put into the same record as iperf3's.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycost.config import Settings
from copycost.grid import Cell
from copycost.iperf3.record import conclude
from copycost.measure.lock import host_lock_path
from copycost.measure.onlooker import Onlooker
from copycost.measure.repetition import measure_repetition
from copycost.records.record import Record


def drive_ours(
    record: dict[str, Any],
    cell: Cell,
    settings: Settings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...],
    lock_path: Path | None,
    onlooker: Onlooker,
) -> None:
    """Measure once with our programs, and fill in the record.

    Parameters
    ----------
    record : dict
        As `copycost.iperf3.record.start_record` makes it.
    cell : Cell
        The same as a cell of the study `streams`.
    programs : tuple of Path
        The sender and the receiver.
    """
    sender, receiver = programs
    measured = measure_repetition(
        cell, settings, host, sender, receiver, lock_path or host_lock_path(), onlooker=onlooker
    )
    _fill(record, measured, cell, sender)


def _fill(record: dict[str, Any], measured: Record, cell: Cell, sender: Path) -> None:
    """Put a repetition of ours into the record of a driven study."""
    conclude(record, measured["status"], measured["reason"], measured["remedy"])
    record["lock_wait_s"] = measured["lock_wait_s"]
    record["warnings"] += measured["warnings"]
    for side in ("sender", "receiver"):
        cpus = measured["settings"]["sender_cpus" if side == "sender" else "receiver_cpus"]
        record["settings"][f"{side}_cpus"] = cpus
    testbed = measured["testbed"]
    if testbed is not None:
        known = ("kind", "isolation", "mtu_bytes", "offloads")
        record["testbed"] = {key: dict(testbed)[key] for key in known}
    ours, theirs, perf = measured["sender"], measured["receiver"], measured["perf"]
    if ours is None or theirs is None or perf is None or perf["receiver"] is None:
        return
    window = ours["window"]
    record["driver"] = {
        "name": cell.implementation,
        "version": ours["build"].get("commit"),
        "path": str(sender),
        "process_pairs": 1,
        "streams_per_pair": cell.n_threads,
        "pairs": [{"began_ns": 0, "client": ours, "server": theirs}],
    }
    record["window"] = {"start_ns": window["start_ns"], "end_ns": window["end_ns"]}
    sent, received = ours["in_window"]["bytes"], theirs["in_window"]["bytes"]
    record["sender"] = _side(ours, None, sent, perf["sender"])
    record["receiver"] = _side(theirs, received, None, perf["receiver"])


def _side(
    report: Mapping[str, Any],
    read: int | None,
    written: int | None,
    perf: Any,  # noqa: ANN401
) -> dict[str, Any]:
    window = report["window"]
    return {
        "window_ns": window["end_ns"] - window["start_ns"],
        "cpu_ns": report["process"]["cpu_ns"],
        "waiting_ns": None,
        "read_bytes": read,
        "written_bytes": written,
        "read_calls": None,
        "write_calls": None,
        "perf": perf,
    }
