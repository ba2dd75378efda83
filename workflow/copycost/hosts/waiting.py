"""Waiting for programs while they run, and noticing that nobody waits for us any more."""

import select
import time
from collections.abc import Iterable, Sequence

from copycost.errors import MeasurementStopped
from copycost.hosts.host import Program


class Waiting:
    """Waits with a limit; whatever it waits for, the end of the workflow ends it.

    `parent_fds` become readable then, see `copycost.hosts.parent`. For messages, `during` says what
    is going on.
    """

    def __init__(self, parent_fds: Sequence[int]) -> None:
        self.during = "start"
        self._parent_fds = tuple(parent_fds)

    def for_lines(
        self, talking: Iterable[Program], others: Iterable[Program], until_s: float
    ) -> set[int]:
        """Return descriptors that are readable, those of ends and of control lines.

        Of programs that talk, and of others that only must not end, until a time (CLOCK_MONOTONIC)
        [s]. MeasurementStopped if the workflow is gone.
        """
        said = list(talking)
        fds = [one.ended_fd for one in (*said, *others)]
        return self._poll([*fds, *(one.control_fd for one in said)], until_s)

    def for_ends(self, programs: Iterable[Program], until_s: float) -> list[Program]:
        """Return which programs have ended, at the latest at a time (CLOCK_MONOTONIC) [s]."""
        watched = list(programs)
        ready = self._poll([one.ended_fd for one in watched], until_s)
        return [one for one in watched if one.ended_fd in ready]

    def _poll(self, fds: Iterable[int], until_s: float) -> set[int]:
        poll = select.poll()
        for fd in (*fds, *self._parent_fds):
            poll.register(fd, select.POLLIN)
        left_ms = max(0.0, until_s - time.monotonic()) * 1e3  # rounded up to whole ms
        ready = {fd for fd, _ in poll.poll(left_ms)}
        if ready.intersection(self._parent_fds):
            raise MeasurementStopped(
                f"the workflow ended during the {self.during}; run it again to measure what is left"
            )
        return ready
