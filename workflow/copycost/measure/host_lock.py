"""A host of one's own for the time of a measurement, and when it is called off."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from copycost.errors import MeasurementStopped
from copycost.hosts.local import LocalHost
from copycost.hosts.lock import HeldLock
from copycost.hosts.parent import watched_parents
from copycost.hosts.waiting import Waiting


@dataclass(frozen=True, slots=True)
class HeldHost:
    """The machine that we run on, while nobody else measures there."""

    machine: LocalHost
    lock: HeldLock
    waiting: Waiting


@contextmanager
def locked_host(what: str, lock_path: Path | None = None) -> Iterator[HeldHost]:
    """Wait for our turn, and keep other measurements off for the time of the block.

    Parameters
    ----------
    what
        What messages call the measurement.
    lock_path
        Lock against overlapping measurements; by default the one that all runs on a host share.

    Raises
    ------
    HostError
        If the lock cannot be opened.
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    machine = LocalHost()
    try:
        with watched_parents() as parent_fds, machine.lock(lock_path, parent_fds) as lock:
            yield HeldHost(machine, lock, Waiting(parent_fds))
    except KeyboardInterrupt:
        raise MeasurementStopped(
            f"{what}: interrupted, nothing of it is left; run again to go on"
        ) from None
