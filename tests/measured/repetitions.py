"""One repetition in this process, for real, of whatever study."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from measured.failures_support import RECEIVER, host_facts, programs_folder

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.config.testbeds import receives_on
from copycost.hosts.side import Side, SideName
from copycost.measure.drivers.choice import driver_of
from copycost.measure.drivers.programs.driver import DEFAULT_IO_TIMEOUT_S
from copycost.measure.drivers.protocol import Driver
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.protocol import WindowObserver
from copycost.records.record import Record, check_record

Found = dict[str, Any]  # a record

FACTS = host_facts(None)
SETTINGS = Settings(warmup_s=0.1, duration_s=0.4, congestion_control="reno")

needs_iperf3 = pytest.mark.skipif(not shutil.which("iperf3"), reason="iperf3 is not installed")


class AtStart(WindowObserver):
    """Does something as soon as the window has begun."""

    name = "at_start"

    def __init__(self, act: Callable[[Mapping[SideName, Side]], object]) -> None:
        self._act = act
        self.sides: dict[SideName, Side] = {}

    def attach(self, sides: Sequence[Side]) -> None:
        self.sides = {side.name: side for side in sides}

    def window_begins(self) -> None:
        self._act(self.sides)


def require_limits(record: Found) -> None:
    """Skip where this host has nothing to limit a program by, and for no other reason."""
    reason = record["reason"] or ""
    if "control group" in reason or "cpulimit was not found" in reason:
        pytest.skip(reason)
    assert record["status"] == "measured", reason


def driver(cell: Cell, *ways: str, io_timeout_s: float = DEFAULT_IO_TIMEOUT_S) -> Driver:
    """Return what drives a cell; `ways` are what sends, if not its own, and the reference."""
    programs = programs_folder() / "bin"
    receiver = programs / RECEIVER if receives_on(cell.testbed) else None
    way, *beside = [(name, programs / f"sender_{name}") for name in ways or (cell.strategy,)]
    reference = beside[0] if beside else None
    return driver_of(cell.implementation, way[1], receiver, io_timeout_s, reference=reference)


def task(
    folder: Path,
    cell: Cell,
    *observers: WindowObserver,
    settings: Settings = SETTINGS,
    facts: Mapping[str, Any] = FACTS,
    peer: Mapping[str, Any] | None = None,
) -> Task:
    return Task(cell, settings, facts, driver(cell), observers, None, folder / "lock", peer)


def attempted(
    folder: Path,
    cell: Cell,
    *observers: WindowObserver,
    measure: Callable[[Task], Record] = measure_repetition,
    **more: Any,  # noqa: ANN401 - as of `task`
) -> Found:
    """Return the record of a repetition, whatever came of it."""
    record = check_record(measure(task(folder, cell, *observers, **more)), "record")
    return cast("Found", record)


def assert_told(record: Found, status: str, reason: str, remedy: str = "") -> None:
    """Check what a repetition that was not measured came to, by some of its words."""
    assert (record["status"], record["driver"]) == (status, None), record["reason"]
    assert reason in record["reason"]
    assert remedy in record["remedy"]


def measured(folder: Path, cell: Cell, *observers: WindowObserver, **more: Any) -> Found:  # noqa: ANN401
    """Return the record of a repetition that was measured."""
    record = attempted(folder, cell, *observers, **more)
    assert record["status"] == "measured", record["reason"]
    return record
