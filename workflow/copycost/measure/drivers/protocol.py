"""Drivers: who makes the traffic of a repetition. Two are here, our C programs and iperf3.

A driver is handed a `Setup`, everything that one repetition is made of, and knows neither which
study asked for it nor who watches. A repetition leads it through these steps:

1. `plan(setup)` settles what the driver decides by itself, before anything is started, and returns
   it for the record.
2. `traffic(setup)` is a context manager: at its start all programs stand ready, or send already; at
   its end none is left, whatever happened. What goes wrong within it, also in the hands of an
   observer, leaves it as `AttemptFailed` or `Unavailable`, in words about the programs.
3. `Traffic.open_window` says when the window will be; `Traffic.watch_until` waits for its edges and
   notices whoever ends too early.
4. `Traffic.finish` waits for the programs to end by themselves and returns what they said.

Programs are started on `setup.testbed.hosts[SIDE]`, never elsewhere; those that take ``--perf-fds``
and switch counters at the edges of their window, as `setup.around` returns them. Times of a window
are in our own clock; a side on a host with another one is told them in that
(`Host.clock_offset_ns`).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from copycost.config.cells import Cell
from copycost.config.settings import Settings
from copycost.errors import AttemptFailed, CopycostError
from copycost.hosts.host import Host, Waiting
from copycost.hosts.placement import Placement
from copycost.hosts.program import Launch
from copycost.hosts.side import Side, SideName
from copycost.hosts.testbeds.testbed import Testbed
from copycost.records.record import Disturbance

AGAIN = "delete the record and run again to repeat it"
"""The remedy where there is no better one."""

Phase = Literal["handshake", "warm-up", "window", "drain"]


class MissedWindow(AttemptFailed):
    """The window was not the planned one, or empty; on a busy machine the next may be better."""

    n_tries = 4
    """After so many of this kind a repetition has failed."""


class UnexplainedEnd(MissedWindow):
    """A side ended and none says why: perf takes a stop of its program for its end, and ends it."""

    n_tries = 8


class PerfUnusable(CopycostError):
    """perf could not be started around a program, or gave up before it; without it it may work."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that one repetition is made of, with the facts of each side's machine.

    We run on `machine`. `waiting` waits, and notices that nobody waits for us any more. `around`
    returns what to start in place of a program, by its party, that switches counters by itself.
    `attach_s` is how long observers may take once the programs run. `takes_any_traffic` tells
    whether any traffic is a measurement, see `copycost.observers.protocol`. `meanwhile` is to be
    called while the first program starts, which takes its time anyway.
    """

    cell: Cell
    settings: Settings
    facts: Mapping[SideName, Mapping[str, Any]]
    machine: Host
    placement: Placement
    testbed: Testbed
    waiting: Waiting
    around: Callable[[str, Launch], Launch]
    attach_s: float = 0.0
    takes_any_traffic: bool = False
    meanwhile: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Window:
    """The measured window (CLOCK_MONOTONIC of ours) [ns].

    `kept` tells that the programs keep to it by themselves. Where they do not, it begins when the
    observers have begun, and is as long as planned from then on.
    """

    start_ns: int
    end_ns: int
    kept: bool = True

    @property
    def length_s(self) -> float:
        """Its length [s]."""
        return (self.end_ns - self.start_ns) / 1e9


@dataclass(frozen=True, slots=True)
class Payload:
    """What a driver leaves of a repetition: `entry` goes into the record, at ``driver``.

    The window, and the CPU time of each side's programs in it, are by the programs' own account;
    None where they keep none. The warnings are of what the driver can tell.
    """

    entry: dict[str, Any]
    window: Window | None = None
    cpu_ns: Mapping[SideName, int] | None = None
    warnings: list[Disturbance] = field(default_factory=list)


class Traffic(Protocol):
    """The traffic of one repetition, while it runs."""

    @property
    def sides(self) -> Sequence[Side]:
        """The sides that there are, the sender first; those of a reference last, as parties."""

    def open_window(self, warmup_s: float, duration_s: float) -> Window:
        """Let the traffic settle from now on, and return when the window will be."""

    def watch_until(self, until_ns: int, next_phase: Phase) -> None:
        """Wait for a moment while all programs live, then go on to the next phase."""

    def finish(self) -> Payload:
        """Wait until the programs have ended by themselves, and return what they said.

        AttemptFailed or Unavailable where that is no measurement.
        """


class Driver(Protocol):
    """Who makes traffic."""

    @property
    def reference(self) -> str | None:
        """The implementation that is measured beside, in turns with the cell's; None for none."""

    def plan(self, setup: Setup) -> dict[str, Any]:
        """Decide what the driver decides by itself, and return it as settings of the record."""

    def traffic(self, setup: Setup) -> AbstractContextManager[Traffic]:
        """Return a block in which the traffic stands ready or runs.

        Unavailable where something that it needs is not there, HostError where there is no room.
        """
