"""What is to be measured in one repetition, and with what."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycost.config.config import Settings
from copycost.grid.cells import Cell
from copycost.observers.onlooker import Onlooker


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that is to be measured, and with what.

    Attributes
    ----------
    sender, receiver : Path
        The programs; no receiver on a testbed where nobody receives.
    ring_bytes : int
        Size of the ring of messages, all threads together [bytes]; 0 for one message.
    host : mapping
        The host facts.
    io_timeout_s : float
        Longest wait of a program [s].
    parent_fds : tuple of int
        See `copycost.hosts.parent`.
    lock_fd : int
        The host-wide lock, which the programs inherit.
    onlooker : Onlooker or None
        Who is told when the window begins and ends; None in every timed repetition.
    """

    cell: Cell
    settings: Settings
    sender: Path
    receiver: Path | None
    ring_bytes: int
    host: Mapping[str, Any]
    io_timeout_s: float
    parent_fds: tuple[int, ...]
    lock_fd: int
    onlooker: Onlooker | None = None
