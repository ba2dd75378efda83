"""Measure one repetition of one point of the study `datagrams`, whatever happens on the way."""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from copycost.datagrams.counters import Counters, DatagramCounters
from copycost.datagrams.section import IPERF3, STUDY, DatagramCell, DatagramSettings
from copycost.errors import ConfigError, HostError
from copycost.iperf3.ours import drive_ours, own_settings
from copycost.iperf3.processes import Iperf3Run
from copycost.iperf3.record import conclude, note_lock, start_record
from copycost.iperf3.repetition import Iperf3Task, drive_iperf3
from copycost.measure.failure import AGAIN
from copycost.measure.lock import host_lock_path, measurement_lock
from copycost.measure.parent import MeasurementStopped, watched_parents
from copycost.measure.placement import place
from copycost.measure.side import Side
from copycost.testbed.namespaces import TestbedUnavailable
from copycost.testbed.testbed import TestbedKind, open_testbed

# how long a receiver may take to read what lies in its buffer
_DRAIN_TIMEOUT_S = 1.0


def measure_datagrams(
    cell: DatagramCell,
    settings: DatagramSettings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...] = (),
    lock_path: Path | None = None,
) -> dict[str, Any]:
    """Measure one repetition; a failure is a record too, with its reason and a remedy.

    To be called in a process of its own with one thread: without root it enters a user namespace
    for good.

    Parameters
    ----------
    programs : tuple of Path
        Our sender and receiver; empty where iperf3 drives.

    Raises
    ------
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    record = start_record(STUDY, asdict(cell), asdict(settings), host)
    if cell.driver != IPERF3:
        _measure_ours(record, cell, settings, host, programs, lock_path)
        record["end_ns"] = time.monotonic_ns()
        return record
    path = lock_path or host_lock_path()
    try:
        with watched_parents() as parent_fds, measurement_lock(path, parent_fds) as lock:
            note_lock(record, lock)
            _measure(record, cell, settings, host, (lock.fd, parent_fds))
    except KeyboardInterrupt:
        raise MeasurementStopped(
            f"{cell.path}: interrupted, nothing of it is left; run again to go on"
        ) from None
    record["end_ns"] = time.monotonic_ns()
    return record


def _measure(
    record: dict[str, Any],
    cell: DatagramCell,
    settings: DatagramSettings,
    host: Mapping[str, Any],
    fds: tuple[int, tuple[int, ...]],
) -> None:
    try:
        placement = place(settings.sender_cpus, settings.receiver_cpus)
        record["settings"]["sender_cpus"] = list(placement.sender_cpus)
        record["settings"]["receiver_cpus"] = list(placement.receiver_cpus)
        with (
            open_testbed(cast("TestbedKind", cell.testbed)) as testbed,
            DatagramCounters.in_testbed(testbed) as counters,
        ):
            record["testbed"] = {
                "kind": testbed.kind,
                "isolation": testbed.isolation,
                "mtu_bytes": testbed.mtu_bytes,
                "offloads": testbed.offloads,
            }
            task = Iperf3Task(
                "udp",
                cell.n_streams,
                cell.datagram_bytes,
                "",
                settings.warmup_s,
                settings.duration_s,
            )
            accountant = _Accountant(counters)
            drive_iperf3(record, task, host, testbed, placement, fds, accountant)
            record["datagrams"] = accountant.facts()
    except TestbedUnavailable as error:
        conclude(record, "skipped", error.reason, error.remedy)
    except ConfigError as error:
        conclude(record, "failed", str(error), "change measure.cpus in config.yaml")
    except HostError as error:
        conclude(record, "failed", str(error), AGAIN)


def _measure_ours(
    record: dict[str, Any],
    cell: DatagramCell,
    settings: DatagramSettings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...],
    lock_path: Path | None,
) -> None:
    place = (cell.testbed, cell.driver, cell.datagram_bytes, cell.n_streams, cell.rep)
    with DatagramCounters() as counters:
        accountant = _OwnAccountant(counters)
        told = own_settings(settings, "reno")
        drive_ours(record, place, told, host, programs, lock_path, accountant)
        record["datagrams"] = accountant.facts()


class _Accountant:
    """Reads the kernel's counters at moments when no datagram is under way.

    After the window the senders are stopped (SIGSTOP) until the receivers have read all that had
    arrived. Then every datagram was read or lost, and the counters must say which; at any other
    moment, and at iperf3's own end, some lie in the receive buffers and are neither.
    """

    def __init__(self, counters: DatagramCounters) -> None:
        self._counters = counters
        self._begin = counters.read()
        self._stopped = self._begin
        self._drained = False

    def before_warmup(self, run: Iperf3Run) -> None:
        pass

    def at_edge(self) -> None:
        pass

    def after_window(self, run: Iperf3Run) -> None:
        clients = run.pids("client")
        try:
            for pid in clients:
                os.kill(pid, signal.SIGSTOP)
            self._drained = self._counters.await_drained(run.ports, _DRAIN_TIMEOUT_S)
            self._stopped = self._counters.read()
        finally:
            for pid in clients:
                os.kill(pid, signal.SIGCONT)

    def facts(self) -> dict[str, Any]:
        """Return the record's entry about the datagrams."""
        return {
            "drained": self._drained,
            "begin": self._begin,
            "stopped": self._stopped,
            "end": self._counters.read(),
        }


class _OwnAccountant:
    """The same for our own programs: when they have ended, the receiver has read to the goodbye.

    The goodbye comes last, so nothing is left behind it; the namespaces stay as long as the files
    of their counters are open.
    """

    def __init__(self, counters: DatagramCounters) -> None:
        self._counters = counters
        self._begin: Counters | None = None

    def attach(self, sides: Sequence[Side]) -> None:
        for side in sides:
            self._counters.open_side(side.name, Path(f"/proc/{side.process.pid}/net"))
        self._begin = self._counters.read()

    def window_begins(self) -> None:
        pass

    def window_ends(self) -> None:
        pass

    def facts(self) -> dict[str, Any] | None:
        """Return the record's entry about the datagrams; None where nothing was started."""
        if self._begin is None:
            return None
        end = self._counters.read()
        return {"drained": True, "begin": self._begin, "stopped": end, "end": end}
