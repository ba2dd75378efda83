"""Everything around a repetition that iperf3 drives: the lock, the CPUs, and what went wrong."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from copycost.drivers.failure import AGAIN
from copycost.drivers.iperf3.record import conclude, note_lock, testbed_facts
from copycost.drivers.iperf3.repetition import Attendant, Iperf3Task, drive_iperf3
from copycost.errors import ConfigError, HostError, Unavailable
from copycost.hosts.lock import host_lock_path, measurement_lock
from copycost.hosts.parent import MeasurementStopped, watched_parents
from copycost.hosts.placement import place
from copycost.testbeds.testbed import Testbed

Scene = AbstractContextManager[tuple[Testbed, Attendant]]
"""A testbed and the study's attendant, set up in the order that they need, and taken down."""


def measure_with_iperf3(
    record: dict[str, Any],
    record_path: str,
    task: Iperf3Task,
    host: Mapping[str, Any],
    scene: Scene,
    lock_path: Path | None = None,
) -> None:
    """Measure once with iperf3 and fill in the record; a failure is a result too, with a remedy.

    Parameters
    ----------
    record : dict
        As `copycost.drivers.iperf3.record.start_record` makes it.
    record_path : str
        By which messages call the repetition.
    lock_path : Path, optional
        Lock against overlapping measurements; by default the one that all runs on a host share.

    Raises
    ------
    HostError
        If the lock cannot be opened.
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    path = lock_path or host_lock_path()
    try:
        with watched_parents() as parent_fds, measurement_lock(path, parent_fds) as lock:
            note_lock(record, lock)
            with _failures_in(record):
                placement = place(task.sender_cpus, task.receiver_cpus)
                record["settings"]["sender_cpus"] = list(placement.sender_cpus)
                record["settings"]["receiver_cpus"] = list(placement.receiver_cpus)
                with scene as (testbed, attendant):
                    record["testbed"] = testbed_facts(testbed)
                    fds = (lock.fd, parent_fds)
                    drive_iperf3(record, task, host, testbed, placement, fds, attendant)
    except KeyboardInterrupt:
        raise MeasurementStopped(
            f"{record_path}: interrupted, nothing of it is left; run again to go on"
        ) from None


@contextmanager
def _failures_in(record: dict[str, Any]) -> Iterator[None]:
    """Put what goes wrong in the block into the record, as its outcome."""
    try:
        yield
    except Unavailable as error:
        conclude(record, "skipped", error.reason, error.remedy)
    except ConfigError as error:
        conclude(record, "failed", str(error), "change measure.cpus in config.yaml")
    except HostError as error:
        conclude(record, "failed", str(error), AGAIN)
