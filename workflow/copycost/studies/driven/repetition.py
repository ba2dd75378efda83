"""Measure one repetition of a driven study with whichever driver, whatever happens on the way."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycost.config.config import Settings
from copycost.config.driven import DrivenCell, DrivenSettings
from copycost.drivers.iperf3.measure import Scene, measure_with_iperf3
from copycost.drivers.iperf3.process import Protocol
from copycost.drivers.iperf3.record import conclude
from copycost.drivers.iperf3.repetition import Iperf3Task
from copycost.drivers.programs.ours import drive_ours
from copycost.errors import Unavailable
from copycost.grid.capabilities import IPERF3
from copycost.grid.cells import Cell
from copycost.grid.conditions import HOT, RECV
from copycost.observers.onlooker import Onlooker

OwnScene = AbstractContextManager[Onlooker]
"""The study's onlooker at our own programs, with whatever it needs set up and taken down."""


@dataclass(frozen=True, slots=True)
class DrivenTask:
    """One repetition, in words that both drivers understand.

    Attributes
    ----------
    cell, settings
        What is measured, and how.
    protocol, message_bytes, congestion_control
        Over what is sent, how much at a time [bytes], and for TCP how it is paced.
    host
        The host facts, which say how perf is to be called.
    programs
        Our sender and receiver; empty where iperf3 drives.
    lock_path
        Lock against overlapping measurements; by default the one that all runs on a host share.
    """

    cell: DrivenCell
    settings: DrivenSettings
    protocol: Protocol
    message_bytes: int
    congestion_control: str
    host: Mapping[str, Any]
    programs: tuple[Path, ...] = ()
    lock_path: Path | None = None


def measure_driven(
    record: dict[str, Any], task: DrivenTask, scene: Scene, own_scene: OwnScene
) -> None:
    """Measure one repetition and fill in its record; a failure is one too, with a remedy.

    To be called in a process of its own with one thread: without root it enters a user namespace
    for good.

    Parameters
    ----------
    record : dict
        As `copycost.drivers.iperf3.record.start_record` makes it.
    scene, own_scene
        What the study sets up where iperf3 drives, and where our programs do; only the one that is
        needed is entered.

    Raises
    ------
    HostError
        If the lock cannot be opened.
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    if task.cell.driver == IPERF3:
        path = task.cell.path
        measure_with_iperf3(record, path, _for_iperf3(task), task.host, scene, task.lock_path)
    else:
        _measure_with_ours(record, task, own_scene)
    record["end_ns"] = time.monotonic_ns()


def _for_iperf3(task: DrivenTask) -> Iperf3Task:
    settings = task.settings
    return Iperf3Task(
        protocol=task.protocol,
        n_streams=task.cell.n_streams,
        message_bytes=task.message_bytes,
        congestion_control=task.congestion_control,
        warmup_s=settings.warmup_s,
        duration_s=settings.duration_s,
        sender_cpus=settings.sender_cpus,
        receiver_cpus=settings.receiver_cpus,
    )


def _measure_with_ours(record: dict[str, Any], task: DrivenTask, scene: OwnScene) -> None:
    settings = Settings(
        warmup_s=task.settings.warmup_s,
        duration_s=task.settings.duration_s,
        congestion_control=task.congestion_control,
        tcp_nodelay="kernel",
        send_buffer_bytes=None,
        receive_buffer_bytes=None,
        sender_cpus=task.settings.sender_cpus,
        receiver_cpus=task.settings.receiver_cpus,
    )
    cell = Cell(
        study="streams",
        testbed=task.cell.testbed,
        implementation=task.cell.driver,
        msg_bytes=task.message_bytes,
        n_threads=task.cell.n_streams,
        working_set=HOT,
        receiver=RECV,
        rep=task.cell.rep,
    )
    programs, lock_path = task.programs, task.lock_path
    try:
        with scene as onlooker:
            drive_ours(record, cell, settings, task.host, programs, lock_path, onlooker)
    except Unavailable as error:
        conclude(record, "skipped", error.reason, error.remedy)
