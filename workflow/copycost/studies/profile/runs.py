"""What one run of a cell came to, from the record of whoever drove it."""

from typing import Any

from copycost.drivers.failure import AGAIN
from copycost.drivers.programs.side import SideName
from copycost.errors import CopycostError
from copycost.records.record import PerfSides, Record
from copycost.studies.profile.record import Run, RunSide, Status


class NotMeasured(CopycostError):
    """A run gave no measurement.

    Attributes
    ----------
    status, reason, remedy : str
        As in records.
    """

    def __init__(self, status: Status, reason: str | None, remedy: str | None) -> None:
        self.status: Status = status
        self.reason = reason or "not measured"
        self.remedy = remedy or AGAIN
        super().__init__(f"{self.reason}; {self.remedy}")


def run_of(record: Record) -> Run:
    """Return what a record of the study `streams` came to.

    Raises
    ------
    NotMeasured
        If there was no measurement.
    """
    if record["status"] != "measured":
        raise NotMeasured(record["status"], record["reason"], record["remedy"])
    sender = record["sender"]
    assert sender is not None  # a measured record has a sender
    window = sender["window"]
    receiver = record["receiver"]
    reports: dict[SideName, dict[str, Any] | None] = {"sender": sender, "receiver": receiver}
    sides: dict[str, RunSide] = {
        name: _cpu(report, record["perf"], name)
        for name, report in reports.items()
        if report is not None
    }
    received = receiver["in_window"]["bytes"] if receiver else _delivered(record, sender)
    return {
        "started_at": record["started_at"],
        "window_s": (window["end_ns"] - window["start_ns"]) / 1e9,
        "received_bytes": received,
        "sides": sides,
        "copied_share": _copied_share(sender),
        "warnings": [warning["code"] for warning in record["warnings"]],
    }


def _cpu(report: dict[str, Any], perf: PerfSides | None, name: SideName) -> RunSide:
    """Return a side's CPU time: perf's where it counted, else the program's own."""
    side = perf[name] if perf else None
    if side is not None and "task_clock_ns" in side["events"]:
        counted = side["events"]["task_clock_ns"]["value"]
        if counted is not None:
            return {"cpu_ns": counted, "cpu_source": "task_clock"}
    return {"cpu_ns": float(report["process"]["cpu_ns"]), "cpu_source": "process_clock"}


def _delivered(record: Record, sender: dict[str, Any]) -> int:
    """Return the bytes sent to the sink, without the share that was lost before it."""
    sink = record["sink"]
    sent_bytes: int = sender["in_window"]["bytes"]
    if sink is None or not sink["sent_datagrams"]:
        return sent_bytes
    return round(sent_bytes * (1 - sink["lost_before_hook"] / sink["sent_datagrams"]))


def _copied_share(sender: dict[str, Any]) -> float | None:
    """Return the share of zero-copy sends that the kernel copied after all."""
    zero_copy = sender["zero_copy"]
    if not zero_copy or not zero_copy["completed"] or zero_copy["copied"] is None:
        return None
    return float(zero_copy["copied"] / zero_copy["completed"])
