"""One run of a cell whose driver is iperf3, sampled or not."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from copycost.config.config import Settings
from copycost.config.profile import IPERF3
from copycost.drivers.iperf3.derive import rates_of
from copycost.drivers.iperf3.measure import measure_with_iperf3
from copycost.drivers.iperf3.processes import Iperf3Run
from copycost.drivers.iperf3.record import start_record
from copycost.drivers.iperf3.repetition import Attendant, Iperf3Task
from copycost.grid.cells import Cell
from copycost.observers.sampler import Sampler
from copycost.studies.profile.record import Run, RunSide, Status
from copycost.studies.profile.runs import NotMeasured
from copycost.testbeds.testbed import Testbed, TestbedKind, open_testbed

# perf record reads what it attaches to before it listens; on a loaded host that takes its time, as
# do the further processes that old versions of iperf3 need for further streams
_ATTACH_S = 1.5
_FURTHER_STREAM_S = 0.8


def run_iperf3(
    cell: Cell,
    settings: Settings,
    host: Mapping[str, Any],
    sampler: Sampler | None,
    lock_path: Path | None,
) -> Run:
    """Run iperf3 once and return what it came to.

    Parameters
    ----------
    cell : Cell
        Its implementation is one of `IPERF3`; a thread is a stream, a message what iperf3 writes
        at a time.
    settings, host, lock_path
        See `copycost.studies.profile.repetition.profile_repetition`.
    sampler : Sampler or None
        Samples clients and servers within the window.

    Raises
    ------
    NotMeasured
        If there was no measurement.
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    record = start_record(cell.study, {}, {}, host)
    task = Iperf3Task(
        "tcp" if IPERF3[cell.implementation] == "stream" else "udp",
        cell.n_threads,
        cell.msg_bytes,
        settings.congestion_control,
        settings.warmup_s,
        settings.duration_s,
        _ATTACH_S + _FURTHER_STREAM_S * (cell.n_threads - 1),
        settings.sender_cpus,
        settings.receiver_cpus,
    )
    measure_with_iperf3(record, cell.path, task, host, _sampled(cell, sampler), lock_path)
    if record["status"] != "measured":
        raise NotMeasured(cast("Status", record["status"]), record["reason"], record["remedy"])
    return _run_of(record)


@contextmanager
def _sampled(cell: Cell, sampler: Sampler | None) -> Iterator[tuple[Testbed, Attendant]]:
    with open_testbed(cast("TestbedKind", cell.testbed)) as testbed:
        yield testbed, _Onlooker(sampler)


class _Onlooker:
    """Tells a sampler, if there is one, when to look at iperf3's processes."""

    def __init__(self, sampler: Sampler | None) -> None:
        self._sampler = sampler
        self._begun = False

    def before_warmup(self, run: Iperf3Run) -> None:
        """Have the sampler attach to all processes."""
        if self._sampler is not None:
            self._sampler.attach_to({"sender": run.pids("client"), "receiver": run.pids("server")})

    def at_edge(self) -> None:
        """Switch the sampling on at the first edge, and off at the second."""
        if self._sampler is None:
            return
        if self._begun:
            self._sampler.window_ends()
        else:
            self._sampler.window_begins()
        self._begun = True

    def after_window(self, run: Iperf3Run) -> None:
        """Do nothing: the sampler has ended with the window."""


def _run_of(record: Mapping[str, Any]) -> Run:
    """Return what a measured record came to."""
    window_ns = record["window"]["end_ns"] - record["window"]["start_ns"]
    rates = rates_of(record)
    # what the kernel says was read belongs to the same window; older kernels do not say it
    known = (rates["kernel_bits_per_s"], rates["bits_per_s"])
    bits_per_s = next((rate for rate in known if math.isfinite(rate)), None)
    if bits_per_s is None:
        raise NotMeasured(
            "failed", "how much iperf3 received in the window is not known", "measure longer"
        )
    return {
        "started_at": record["started_at"],
        "window_s": window_ns / 1e9,
        "received_bytes": round(bits_per_s / 8 * window_ns / 1e9),
        "sides": {side: _side(record[side]) for side in ("sender", "receiver")},
        "copied_share": None,
        "warnings": [warning["code"] for warning in record["warnings"]],
    }


def _side(seen: Mapping[str, Any]) -> RunSide:
    counted = seen["perf"]["events"].get("task_clock_ns", {}).get("value")
    if counted is not None:
        return {"cpu_ns": float(counted), "cpu_source": "task_clock"}
    return {"cpu_ns": float(seen["cpu_ns"]), "cpu_source": "process_clock"}
