"""What a job that measures is to do, from the files and settings that its rule gives it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.measure.drivers.choice import driver_of
from copycost.measure.repetition import Task
from copycost.records.files import read_json


def task_of(
    given: Any,  # noqa: ANN401
    record: str,
    settings: Mapping[str, Any],
    reference: str | None = None,
) -> Task:
    """Return the repetition that a job is to measure.

    The inputs of its rule are host and, each a path or empty, peer, sender and receiver; the
    record's path names the cell; the settings are as `Settings.as_params` gives them. The sender of
    a `reference`, the implementation to measure beside, is an input of that name.
    """
    cell = Cell.from_path(record)
    sender, receiver = (Path(each) if each else None for each in (given.sender, given.receiver))
    return Task(
        cell,
        Settings(**settings),
        read_json(given.host),
        driver_of(
            cell.implementation,
            sender,
            receiver,
            reference=(reference, Path(given.reference)) if reference else None,
        ),
        peer=read_json(given.peer) if given.peer else None,
    )
