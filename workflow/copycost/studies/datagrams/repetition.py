"""Measure one repetition of the study `datagrams`: an account of where datagrams were lost."""

from dataclasses import replace

from copycost.measure.repetition import Task, measure_repetition
from copycost.observers.loss_counters import LossCounters
from copycost.observers.process_usage import ProcessUsage
from copycost.records.record import Record


def measure_datagrams(task: Task) -> Record:
    """Measure one repetition and return its record; see `measure_repetition`."""
    return measure_repetition(replace(task, observers=(ProcessUsage(), LossCounters())))
