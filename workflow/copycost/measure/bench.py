"""What the repetitions of a job share: our turn on the host, and the testbed, built once."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.errors import CopycostError
from copycost.measure.host_lock import HeldHost, locked_host
from copycost.testbeds.testbed import Testbed, open_testbed

# the receiver that maps what comes instead of copying it
_MAPPING_RECEIVER = "mmap"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Bench:
    """What the repetitions of a job share.

    Attributes
    ----------
    held
        The host.
    kept
        Takes the testbed down at the end.
    testbed
        It, once it is built; anew after a repetition that came to nothing.
    waited_s
        How long repetitions before waited for their turn [s].
    """

    held: HeldHost
    kept: ExitStack = field(default_factory=ExitStack)
    testbed: Testbed | None = None
    waited_s: float = 0.0

    def built_for(self, cell: Cell, peer: Mapping[str, Any] | None) -> Testbed:
        """Return the testbed of a cell, which is that of all of the job; see `open_testbed`."""
        if self.testbed is None:
            self.testbed = self.kept.enter_context(
                open_testbed(
                    cell.testbed,
                    self.held.machine,
                    page_segments=cell.receiver == _MAPPING_RECEIVER,
                    peer=peer,
                )
            )
        return self.testbed

    def clear(self) -> None:
        """Take the testbed down; what was measured on it stands, whatever comes of that."""
        self.testbed = None
        try:
            self.kept.close()
        except CopycostError as error:
            _log.warning("%s", error)


@contextmanager
def bench_for(cell: Cell, lock_path: Path | None = None) -> Iterator[Bench]:
    """Wait for our turn to measure repetitions of a cell, and keep others off meanwhile.

    To be entered in a process of its own with one thread: without root it enters a user namespace
    for good.

    Parameters
    ----------
    lock_path
        Lock against overlapping measurements; by default the one that all runs on a host share.

    Raises
    ------
    HostError
        If the lock cannot be opened.
    MeasurementStopped
        After Ctrl-C, or if the process that waits for the record is gone.
    """
    with locked_host(cell.path, lock_path) as held:
        bench = Bench(held)
        try:
            yield bench
        finally:
            bench.clear()
