"""A host: a place where programs run, files of the kernel are read, and a clock goes.

Whoever measures asks a `Host`, and knows not which kind it is: the machine that we run on, or a
network namespace of it (`copycost.hosts.local`, where each method is described), or a guest or
another machine that an agent serves (`copycost.hosts.remote.host`). What users must not assume:

Clocks
    `clock_ns` is the host's own CLOCK_MONOTONIC. What is planned for a host is said in its clock:
    ours plus `clock_offset_ns`, known to `clock_uncertainty_ns`; both 0 where a clock is shared.
No traffic in the window
    What is done at the edges of a window is prepared before it (`AtEdges`), so that a host far away
    can do it by itself, at its own times, and tell afterwards.
Machines
    Several hosts may be one `machine`, as namespaces are: one kernel, clock and set of CPUs.
Programs
    A `Launch` is data: descriptors are made where the program is started, and programs of ours are
    brought there by `path_of`. A program's end shows at `Program.ended_fd` whatever ended it, a
    connection that broke included.
Errors
    What a host does not have or allow is `Unavailable`, with a reason and a remedy; what went wrong
    is a `HostError`.
"""

import select
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from copycost.errors import HostError, MeasurementStopped
from copycost.hosts.local import LocalHost, LocalReader
from copycost.hosts.program import Launch, LocalProgram
from copycost.hosts.remote.calls import PlannedThere, RemoteProgram, RemoteReader
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.window_edges import DoneHere

T = TypeVar("T")

Host = LocalHost | RemoteHost
Program = LocalProgram | RemoteProgram
Reader = LocalReader | RemoteReader
AtEdges = DoneHere[T] | PlannedThere[T]

_OUTPUT = "output"
_LOOK_S = 0.2


@contextmanager
def stream(host: Host, words: Sequence[str]) -> Iterator[Iterator[bytes]]:
    """Return a block with what a command prints, in pieces; what is not read in it is passed over.

    HostError at the end of a block without an error, if the command's end is no success.
    """
    program = host.start(Launch(tuple(words), words[0], pipes=(_OUTPUT,), output=_OUTPUT))
    try:
        printed = filter(None, iter(partial(program.read_pipe, _OUTPUT, _LOOK_S), b""))
        yield printed
        for _ in printed:
            pass
        while (code := program.wait(_LOOK_S)) is None:
            pass
        if code != 0:
            said = program.errors().strip().splitlines() or ["it said nothing"]
            raise HostError(
                f"{' '.join(words[:2])} ended with exit status {code}: {said[-1].strip()}"
            )
    finally:
        program.end()
        program.close()


class Waiting:
    """Waits with a limit, until the workflow is gone: then MeasurementStopped is raised.

    `parent_fds` are those of `watched_parents`. For messages, `during` says what is going on.
    """

    def __init__(self, parent_fds: Sequence[int]) -> None:
        self.during = "start"
        self._parent_fds = tuple(parent_fds)

    def for_lines(
        self, talking: Iterable[Program], others: Iterable[Program], until_s: float
    ) -> set[int]:
        """Return descriptors that are readable until a time (CLOCK_MONOTONIC) [s].

        Those of the ends of all programs, and of the control lines of programs that talk.
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
