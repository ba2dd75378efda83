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
from copycost.measure.side import Side
from copycost.records.record import Record


def own_settings(settings: Any, congestion_control: str) -> Settings:  # noqa: ANN401
    """Return what our programs are told, from the settings of either study."""
    return Settings(
        warmup_s=settings.warmup_s,
        duration_s=settings.duration_s,
        congestion_control=congestion_control,
        tcp_nodelay="kernel",
        send_buffer_bytes=None,
        receive_buffer_bytes=None,
        sender_cpus=settings.sender_cpus,
        receiver_cpus=settings.receiver_cpus,
    )


def drive_ours(
    record: dict[str, Any],
    place: tuple[str, str, int, int, int],
    settings: Settings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...],
    lock_path: Path | None,
    onlooker: Onlooker,
) -> None:
    """Measure once with our programs, and fill in the record.

    Parameters
    ----------
    place : tuple
        Testbed, strategy, message size [bytes], threads and repetition.
    programs : tuple of Path
        The sender and the receiver.
    """
    testbed, strategy, message_bytes, n_threads, rep = place
    sender, receiver = programs
    cell = Cell("streams", testbed, strategy, message_bytes, n_threads, "hot", "recv", rep)
    measured = measure_repetition(
        cell, settings, host, sender, receiver, lock_path or host_lock_path(), onlooker=onlooker
    )
    fill(record, measured, strategy, sender, n_threads)


def fill(
    record: dict[str, Any], measured: Record, strategy: str, sender: Path, n_threads: int
) -> None:
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
        "name": strategy,
        "version": ours["build"].get("commit"),
        "path": str(sender),
        "process_pairs": 1,
        "streams_per_pair": n_threads,
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


def program_of(side: Side) -> int:
    """Return the process id of a side's program, which is perf's child where perf is above it.

    Source: proc(5) on /proc/PID/task/TID/children, and on /proc/PID/stat where the kernel has no
    such file.
    """
    above = side.process.pid
    if not side.under_perf:
        return above
    try:
        children = Path(f"/proc/{above}/task/{above}/children").read_text().split()
    except OSError:
        children = [
            stat.parent.name for stat in Path("/proc").glob("[0-9]*/stat") if _parent(stat) == above
        ]
    return int(children[0]) if children else above


def _parent(stat: Path) -> int:
    try:
        # the name is in brackets, and may itself hold spaces and brackets
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
