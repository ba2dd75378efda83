"""Our own sender and receiver as the driver of a study that iperf3 drives otherwise.

They are measured as in every other study (`copycost.measure`); an onlooker limits or counts. What
they say is put into the same record as iperf3's. How long they waited for a CPU is read from
outside, and so is the CPU time of a sender that a limiter stops: it is stopped at the edges of its
own window too, which then begins and ends only when it goes on.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from copycost.config.config import Settings
from copycost.drivers.iperf3.derive import is_stopped
from copycost.drivers.iperf3.record import conclude
from copycost.drivers.programs.side import Side
from copycost.grid.cells import Cell
from copycost.hosts.lock import host_lock_path
from copycost.hosts.process_usage import Usage, usage_of
from copycost.measure.repetition import measure_repetition
from copycost.observers.onlooker import Onlooker
from copycost.records.record import Disturbance, PerfSide, Record

# warnings that rest on the sender's own window
_OF_OWN_WINDOW = ("window_edge_late", "foreign_load")
_LATE_SHARE = 0.01


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
        As `copycost.drivers.iperf3.record.start_record` makes it.
    cell : Cell
        The same as a cell of the study `streams`.
    programs : tuple of Path
        The sender and the receiver.
    """
    sender, receiver = programs
    watch = _Watch(onlooker)
    measured = measure_repetition(
        cell, settings, host, sender, receiver, lock_path or host_lock_path(), onlooker=watch
    )
    _fill(record, measured, watch, cell, sender)


class _Watch:
    """Reads at both edges of the window what the sides have used; the study's onlooker follows."""

    def __init__(self, onlooker: Onlooker) -> None:
        self._onlooker = onlooker
        self._pids: dict[str, int] = {}
        self._edges: list[dict[str, Usage]] = []

    def attach(self, sides: Sequence[Side]) -> None:
        self._pids = {side.name: side.program_pid for side in sides}
        self._edges.clear()
        self._onlooker.attach(sides)

    def window_begins(self) -> None:
        self._read()
        self._onlooker.window_begins()

    def window_ends(self) -> None:
        self._read()
        self._onlooker.window_ends()

    def used(self, name: str) -> Usage | None:
        """Return what a side used within the window; None if it had ended before our look."""
        before, after = self._edges
        return after[name] - before[name] if name in after else None

    def _read(self) -> None:
        seen = {}
        for name, pid in self._pids.items():
            with suppress(OSError):  # on a busy host we look late, and a program may be gone
                seen[name] = usage_of([pid])
        self._edges.append(seen)


def _fill(
    record: dict[str, Any], measured: Record, watch: _Watch, cell: Cell, sender: Path
) -> None:
    """Put a repetition of ours into the record of a driven study."""
    conclude(record, measured["status"], measured["reason"], measured["remedy"])
    record["started_at"], record["start_ns"] = measured["started_at"], measured["start_ns"]
    record["lock_wait_s"] = measured["lock_wait_s"]
    wrong = _OF_OWN_WINDOW if is_stopped(record) else ()
    record["warnings"] += [found for found in measured["warnings"] if found["code"] not in wrong]
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
    window = theirs["window"]  # the receiver is never limited, so its window is the one planned
    record["driver"] = {
        "name": cell.implementation,
        "version": ours["build"].get("commit"),
        "path": str(sender),
        "process_pairs": 1,
        "streams_per_pair": cell.n_threads,
        "pairs": [{"began_ns": 0, "client": ours, "server": theirs}],
    }
    record["window"] = {"start_ns": window["start_ns"], "end_ns": window["end_ns"]}
    stopped = is_stopped(record)
    if stopped:
        record["warnings"] += _late_look(
            watch.used("sender"), window["end_ns"] - window["start_ns"]
        )
    record["sender"] = _side(watch.used("sender"), ours, perf["sender"], stopped=stopped)
    record["receiver"] = _side(watch.used("receiver"), theirs, perf["receiver"], stopped=False)


def _late_look(usage: Usage | None, window_ns: int) -> list[Disturbance]:
    """Return the warning that what we saw of a side is not what was in the window, if so."""
    seen_ns = 0 if usage is None else usage.at_ns
    if abs(seen_ns - window_ns) <= _LATE_SHARE * window_ns:
        return []
    detail = (
        f"the sender was watched for {seen_ns / 1e9:.3f} s, the window is {window_ns / 1e9:.3f} s"
    )
    return [{"code": "window_edge_late", "detail": detail}]


def _side(
    usage: Usage | None, report: Mapping[str, Any], perf: PerfSide, *, stopped: bool
) -> dict[str, Any]:
    """Return a side's entry of the record.

    A program reads its clocks at the edges of its window; we look when we get a CPU, on a busy host
    too late, when the threads have nothing to send any more or have ended. So what we see is taken
    for a stopped sender's CPU time alone, and its rate for the waiting time.
    """
    own = report["window"]
    window_ns, cpu_ns = own["end_ns"] - own["start_ns"], report["process"]["cpu_ns"]
    if stopped and usage is not None:
        window_ns, cpu_ns = usage.at_ns, usage.cpu_ns
    waiting_ns = None if usage is None else usage.waiting_ns
    if usage is not None and waiting_ns is not None:
        waiting_ns = round(waiting_ns * window_ns / usage.at_ns)
    return {
        "window_ns": window_ns,
        "cpu_ns": cpu_ns,
        "waiting_ns": waiting_ns,
        # /proc counts read(2) and write(2), which our programs do not use on their sockets
        "read_bytes": None,
        "written_bytes": None,
        "read_calls": None,
        "write_calls": None,
        "perf": perf,
    }
