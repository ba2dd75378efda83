"""Who watches, or meddles with, a window: counters, samplers, limits.

An observer sees sides, hosts and moments; it knows neither the driver whose traffic it watches nor
the study that asked for it. A repetition takes its observers through these steps, in this order:

1. `open(machine)`: before anything is built, on the machine that we run on.
2. `prepare(testbed)`: the path is built, no program of the traffic runs yet.
3. `around(party, launch)`: a program that can switch counters by itself is about to be started, a
   side's or, as `reference_sender`, a reference's; the launch that is returned is what is started.
4. `attach(sides)`: the programs stand ready, or send already; the window is planned once all
   observers have returned.
5. `window_planned(start_ns, end_ns)`: it is known when the window will be, in our clock. What is to
   be done at its edges on the hosts of the sides (`at_edges`) is handed to them now, in theirs. In
   the reverse order of the list: a far host does it in that order, and what is read must not wait
   until perf, the first of the list, has been switched.
6. `window_begins()` and `window_ends()`: the edges; by default what is to be done at both. They
   begin in the order of the list and end in the reverse order, so that the window of an observer
   encloses that of the next.
7. `traffic_ends(sides)`: the window is over, senders may still send.
8. `found()`: all programs have ended; what is returned goes into the record, at
   ``observed.NAME``, and has to be JSON; None where there is nothing to tell.
9. `close()`: whatever happened. Where a window was missed, all begins again from `prepare`.

An observer that cannot do its work either keeps the reason to itself and tells it in `found`, as
counters do, without which a measurement is still one; or it raises `Unavailable` or `HostError`,
which ends the repetition as skipped or failed. Traffic is timed beside most of this: what is done
between the edges disturbs.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from copycost.hosts.host import AtEdges, Host
from copycost.hosts.local import LocalHost
from copycost.hosts.program import Launch
from copycost.hosts.side import Side
from copycost.hosts.testbeds.testbed import Testbed


class WindowObserver:
    """An observer that does nothing; a real one overrides what it needs.

    Its findings stand in the record under `name`. `attach_s` is how long `attach` may take while
    traffic runs already [s]. `takes_any_traffic` tells whether its study makes traffic that would
    not pass for a measurement otherwise, such as that of a limited sender, and judges by itself
    what it is worth; `takes_both` whether it looks at the sides of the reference too, where there
    is one; `stops_programs` whether it stops and continues the sender, so that what the sender says
    of its own window is not to be believed.
    """

    name: str
    attach_s: float = 0.2
    takes_any_traffic: bool = False
    takes_both: bool = False
    stops_programs: bool = False
    _machine: LocalHost

    def open(self, machine: LocalHost) -> None:
        """Note the machine that we run on."""
        self._machine = machine

    def prepare(self, testbed: Testbed) -> None:
        """Look at the path before any program runs on it."""

    def around(self, party: str, launch: Launch) -> Launch:
        """Return what to start in place of a program that switches counters by itself."""
        return launch

    def attach(self, sides: Sequence[Side]) -> None:
        """Look at the sides, whose programs run."""

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[Any]]]:
        """Return what is to be done at both edges, in this order, each with the host it is on."""
        return ()

    def window_planned(self, start_ns: int, end_ns: int) -> None:
        """Hand over what is to be done at the edges [ns, our clock]."""
        for host, done in self.at_edges():
            offset_ns = host.clock_offset_ns
            done.plan(start_ns + offset_ns, end_ns + offset_ns)

    def window_begins(self) -> None:
        """Do what is to be done as the window has just begun."""
        self.edge()

    def window_ends(self) -> None:
        """Do the same as it has just ended; the sides still run."""
        self.edge()

    def edge(self) -> None:
        """Do what is to be done at either edge."""
        for _, done in self.at_edges():
            done.edge()

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Act once the window is over, before the traffic is."""

    def found(self) -> Any:  # noqa: ANN401 - JSON
        """Return the record's entry."""
        return None

    def close(self) -> None:
        """Leave nothing behind."""
