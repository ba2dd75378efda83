"""``perf stat`` over the window: around the programs that switch it themselves, else attached.

A failure of perf costs the counts and never the measurement.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from copycost.errors import CannotStart, HostError, ParseError
from copycost.hosts.host import Program
from copycost.hosts.launch import Launch
from copycost.hosts.side import SIDES, Side, SideName
from copycost.observers.protocol import WindowObserver
from copycost.perf.command import COUNTS, plan_perf, stat_around, stat_attached
from copycost.perf.counters import PerfSide, PerfStatus, join_counts, no_perf
from copycost.perf.output import parse_perf
from copycost.perf.switch import tell_perf

_ACK_TIMEOUT_S = 2.0
_END_TIMEOUT_S = 2.0
_INTERRUPT = 2


class PerfStat(WindowObserver):
    """Counts events of both sides.

    Parameters
    ----------
    facts
        The host facts, which say how perf is to be called.
    only
        Our names of the events to ask for, None for all: more events than the processor has
        counters for would be counted in turns.
    beside_stops
        Whether somebody stops and continues the programs meanwhile: perf around a program takes a
        stop of its child for its end, so it is attached instead.
    """

    name = "perf_stat"

    def __init__(
        self,
        facts: Mapping[str, Any],
        only: Collection[str] | None = None,
        *,
        beside_stops: bool = False,
    ) -> None:
        self._facts = facts
        self._plan = plan_perf(facts, only)
        self._beside_stops = beside_stops
        self._given_up: str | None = None
        self._forget()

    def _forget(self) -> None:
        self._around: set[SideName] = set()
        self._watched: dict[SideName, Program] = {}
        self._attached: dict[SideName, Program] = {}
        self._failures: dict[SideName, str] = {}
        self._sides: list[SideName] = []

    def give_up(self, reason: str) -> None:
        """Go on without perf, which was found to be unusable around a program."""
        self._given_up = reason
        self._forget()

    def around(self, side: SideName, launch: Launch) -> Launch:
        """Return the program under perf, if perf is to be had."""
        if self._plan is None or self._given_up is not None or self._beside_stops:
            return launch
        self._around.add(side)
        return stat_around(self._plan, launch)

    def attach(self, sides: Sequence[Side]) -> None:
        """Attach to the sides that perf is not around of."""
        for side in sides:
            self._sides.append(side.name)
            if side.name in self._around:
                (self._watched[side.name],) = side.programs
            elif self._plan is not None and self._given_up is None:
                try:
                    launch = stat_attached(self._plan, side.pids)
                    self._attached[side.name] = side.host.start(launch)
                except CannotStart as error:
                    self._failures[side.name] = f"{error.path}: {error.why}"
                except HostError as error:
                    self._failures[side.name] = str(error)

    def window_begins(self) -> None:
        """Switch on what does not switch itself."""
        self._switch("enable")

    def window_ends(self) -> None:
        """Switch it off."""
        self._switch("disable")

    def _switch(self, word: str) -> None:
        for side, perf in self._attached.items():
            if side not in self._failures and not tell_perf(perf, word, _ACK_TIMEOUT_S):
                said = perf.errors().strip()[-200:]
                self._failures[side] = f"perf did not answer; it said: {said}"

    def found(self) -> dict[str, PerfSide | None]:
        """Return what perf counted of each side; None for a side that was not there."""
        entries: dict[str, PerfSide | None] = dict.fromkeys(SIDES)
        return entries | {side: self._counts(side) for side in self._sides}

    def _counts(self, side: SideName) -> PerfSide:
        perf = self._facts["perf"]
        if self._plan is None:
            status: PerfStatus = "missing" if perf["status"] == "missing" else "forbidden"
            return no_perf(self._facts, status, perf["reason"])
        failure = self._given_up or self._failures.get(side)
        if failure is not None:
            return no_perf(self._facts, "failed", failure)
        program = self._watched.get(side) or self._attached[side]
        self._await_counts(program)
        try:
            counts = parse_perf(program.file(COUNTS), f"perf's output for the {side}")
        except ParseError as error:
            return no_perf(self._facts, "failed", str(error))
        if not counts:
            said = " ".join(program.errors().split())[-200:]
            return no_perf(self._facts, "failed", f"perf counted nothing: {said}")
        return join_counts(self._facts, self._plan, counts)

    @staticmethod
    def _await_counts(program: Program) -> None:
        """Have an attached perf write its counts; one around a program has ended with it."""
        if program.poll() is None:
            program.signal(_INTERRUPT)
            program.wait(_END_TIMEOUT_S)

    def close(self) -> None:
        """End what we started."""
        with ExitStack() as stack:
            for program in self._attached.values():
                stack.callback(program.close)
                program.end()
        self._forget()
