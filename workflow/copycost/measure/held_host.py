"""What the repetitions of a job share: our turn on this host, and the testbed, built once."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.checkout import current_commit
from copycost.errors import MeasurementStopped, in_words
from copycost.hosts.host import Waiting
from copycost.hosts.local import LocalHost
from copycost.hosts.lock import HeldLock
from copycost.hosts.processes import watched_parents
from copycost.hosts.testbeds.testbed import Testbed, open_testbed
from copycost.records.record import host_digest

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class HeldHost:
    """The machine that we run on, while nobody else measures there, and what is built on it.

    The testbed is built anew after a repetition that came to nothing; `kept` takes it down.
    `waited_s` is how long repetitions before waited for their turn [s].
    """

    machine: LocalHost
    lock: HeldLock
    waiting: Waiting
    kept: ExitStack = field(default_factory=ExitStack)
    testbed: Testbed | None = None
    waited_s: float = 0.0

    def stamps(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a record says of when and where it was begun; see `NO_STAMPS`."""
        return {
            "host_digest": host_digest(facts),
            "commit": current_commit(),
            "boot_id": self.machine.files.text("proc/sys/kernel/random/boot_id") or "",
            "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "start_ns": self.machine.clock_ns(),
            "end_ns": 0,
            "lock_wait_s": self.lock.wait_s,
            "wall_s": 0.0,
        }

    def built_for(self, cell: Cell, peer: Mapping[str, Any] | None) -> Testbed:
        """Return the testbed of a cell, which is that of all of the job; see `open_testbed`."""
        if self.testbed is None:
            maps = cell.receiver == "mmap"  # it maps what comes instead of copying it
            opened = open_testbed(cell.testbed, self.machine, page_segments=maps, peer=peer)
            self.testbed = self.kept.enter_context(opened)
        return self.testbed

    def clear(self) -> None:
        """Take the testbed down; what was measured on it stands, whatever comes of that."""
        self.testbed = None
        try:
            self.kept.close()
        except Exception as error:
            _log.warning("%s", in_words(error))


@contextmanager
def locked_host(what: str, lock_path: Path | None = None) -> Iterator[HeldHost]:
    """Wait for our turn to measure `what`, and keep others off for the time of the block.

    By default the lock is the one that all runs on a host share. MeasurementStopped follows Ctrl-C,
    or the end of the process that waits for the record. A testbed is to be built in a process of
    its own with one thread: without root that enters a user namespace for good.
    """
    machine = LocalHost()
    try:
        with watched_parents() as parent_fds, machine.lock(lock_path, parent_fds) as lock:
            held = HeldHost(machine, lock, Waiting(parent_fds))
            try:
                yield held
            finally:
                held.clear()
    except KeyboardInterrupt:
        raise MeasurementStopped(
            f"{what}: interrupted, nothing of it is left; run again to go on"
        ) from None
