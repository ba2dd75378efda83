"""Measure one repetition of the study `cpu_budget`: a limiter watches over the senders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from copycost.config.settings import Settings
from copycost.drivers.protocol import Driver
from copycost.grid.cells import WHOLE_CPU, Cell
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.cpu_limit import CpuLimit, LimiterKind
from copycost.observers.process_usage import ProcessUsage
from copycost.records.record import Record


def measure_budget(
    cell: Cell,
    settings: Settings,
    facts: Mapping[str, Any],
    driver: Driver,
    lock_path: Path | None = None,
    *,
    peer: Mapping[str, Any] | None = None,
) -> Record:
    """Measure one repetition and return its record; see `Task` and `measure_repetition`."""
    limit = CpuLimit(
        cast("LimiterKind", cell.limiter),
        cell.limit_percent * cell.n_threads,
        whole=cell.limit_percent == WHOLE_CPU,
    )
    observers = (ProcessUsage(), limit)
    task = Task(cell, settings, facts, driver, observers, lock_path=lock_path, peer=peer)
    return measure_repetition(task)
