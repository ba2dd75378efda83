"""Measure one repetition of the study `datagrams`: an account of where datagrams were lost."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycost.config.settings import Settings
from copycost.drivers.protocol import Driver
from copycost.grid.cells import Cell
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.loss_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.records.record import Record


def measure_datagrams(
    cell: Cell,
    settings: Settings,
    facts: Mapping[str, Any],
    driver: Driver,
    lock_path: Path | None = None,
    *,
    peer: Mapping[str, Any] | None = None,
) -> Record:
    """Measure one repetition and return its record; see `Task` and `measure_repetition`."""
    observers = (ProcessUsage(), LossCounters())
    task = Task(cell, settings, facts, driver, observers, lock_path=lock_path, peer=peer)
    return measure_repetition(task)
