"""Measure one repetition of one point of the study `datagrams`: the account beside the driver."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from copycost.config.datagrams import DatagramCell
from copycost.config.driven import DrivenSettings
from copycost.drivers.iperf3.processes import Iperf3Run
from copycost.drivers.iperf3.record import start_record
from copycost.drivers.iperf3.repetition import Attendant
from copycost.drivers.programs.side import Side
from copycost.observers.loss_counters import Counters, DatagramCounters
from copycost.observers.onlooker import Onlooker
from copycost.studies.driven.repetition import DrivenTask, measure_driven
from copycost.testbeds.testbed import Testbed, TestbedKind, open_testbed

# how long a receiver may take to read what lies in its buffer
_DRAIN_TIMEOUT_S = 1.0
# of no effect over UDP, though our programs are told one; every kernel has it
_CONGESTION_CONTROL = "reno"


def measure_datagrams(
    cell: DatagramCell,
    settings: DrivenSettings,
    host: Mapping[str, Any],
    programs: tuple[Path, ...] = (),
    lock_path: Path | None = None,
) -> dict[str, Any]:
    """Measure one repetition and return its record; see `copycost.studies.driven.repetition`.

    Parameters
    ----------
    programs : tuple of Path
        Our sender and receiver; empty where iperf3 drives.
    """
    record = start_record(cell.study, asdict(cell), asdict(settings), host)
    task = DrivenTask(
        cell,
        settings,
        "udp",
        cell.datagram_bytes,
        _CONGESTION_CONTROL,
        host,
        programs,
        lock_path,
    )
    measure_driven(record, task, _counted_iperf3(record, cell), _counted_ours(record))
    return record


@contextmanager
def _counted_iperf3(
    record: dict[str, Any], cell: DatagramCell
) -> Iterator[tuple[Testbed, Attendant]]:
    with (
        open_testbed(cast("TestbedKind", cell.testbed)) as testbed,
        DatagramCounters.in_testbed(testbed) as counters,
    ):
        accountant = _Accountant(counters)
        yield testbed, accountant
        record["datagrams"] = accountant.facts()


@contextmanager
def _counted_ours(record: dict[str, Any]) -> Iterator[Onlooker]:
    with DatagramCounters() as counters:
        accountant = _OwnAccountant(counters)
        yield accountant
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

    The goodbye comes last, so no message is left behind it, though on a busy host the goodbye said
    again may be: lost without a cause. The namespaces stay as long as the files of their counters
    are open.
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
