"""Measure one repetition of the study `cpu_budget`: a limiter watches over the senders."""

from dataclasses import replace
from typing import cast

from copycost.config.cells import WHOLE_CPU
from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.cpu_limit import CpuLimit, LimiterKind
from copycost.observers.process_usage import ProcessUsage
from copycost.records.record import Record


def measure_budget(task: Task) -> Record:
    """Measure one repetition and return its record; see `measure_repetition`."""
    cell = task.cell
    limit = CpuLimit(
        cast("LimiterKind", cell.limiter),
        cell.limit_percent * cell.n_threads,
        whole=cell.limit_percent == WHOLE_CPU,
    )
    return measure_repetition(replace(task, observers=(ProcessUsage(), limit)))
