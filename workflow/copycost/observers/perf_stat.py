"""``perf stat`` over the window: around the programs that switch it themselves, else attached.

A failure of perf costs the counts and never the measurement.
"""

import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from copycost.errors import CannotStart, HostError, ParseError
from copycost.hosts.host import AtEdges, Host, Program
from copycost.hosts.program import Launch
from copycost.hosts.side import REFERENCES, SIDES, Side, SideName
from copycost.observers.perf.command import (
    COUNTS,
    AttachedPerf,
    plan_perf,
    stat_around,
    stat_attached,
)
from copycost.observers.perf.counts import PerfSide, PerfStatus, join_counts, no_perf, parse_perf
from copycost.observers.protocol import WindowObserver

_ACK_TIMEOUT_S = 2.0
_END_TIMEOUT_S = 2.0


def _side_of(party: str) -> SideName:
    return "receiver" if party.endswith("receiver") else "sender"


class PerfStat(WindowObserver):
    """Counts events of both sides, and of those of a reference, by the facts of their machines.

    `only` are our names of the events to ask for, None for all: more events than the processor has
    counters for would be counted in turns. `beside_stops` tells whether somebody stops and
    continues the programs meanwhile: perf around a program takes a stop of its child for its end,
    so it is attached instead.
    """

    name = "perf_stat"
    takes_both = True

    def __init__(
        self,
        facts: Mapping[SideName, Mapping[str, Any]],
        only: Collection[str] | None = None,
        *,
        beside_stops: bool = False,
    ) -> None:
        self._facts = facts
        self._plans = {side: plan_perf(facts[side], only) for side in SIDES}
        self._beside_stops = beside_stops
        self._given_up: str | None = None
        self._attached: dict[str, AttachedPerf] = {}
        self.close()

    def give_up(self, reason: str) -> None:
        """Go on without perf, which was found to be unusable around a program."""
        self._given_up = reason
        self.close()

    def around(self, party: str, launch: Launch) -> Launch:
        """Return the program under perf, if perf is to be had."""
        plan = self._plans[_side_of(party)]
        if plan is None or self._given_up is not None or self._beside_stops:
            return launch
        self._around.add(party)
        return stat_around(plan, launch)

    def attach(self, sides: Sequence[Side]) -> None:
        """Attach to the sides that perf is not around of."""
        for side in sides:
            party, plan = side.party or side.name, self._plans[side.name]
            self._parties.append(party)
            if party in self._around:
                (self._counting[party],) = side.programs
            elif plan is not None and self._given_up is None:
                try:
                    launch = stat_attached(plan, side.pids)
                    perf = AttachedPerf.start(side.host, launch, _ACK_TIMEOUT_S)
                    # it is to answer at the edges, whatever else wants the CPU
                    side.host.prioritise([perf.program.pid])
                    self._attached[party], self._counting[party] = perf, perf.program
                except CannotStart as error:
                    self._failures[party] = f"{error.path}: {error.why}"
                except HostError as error:
                    self._failures[party] = str(error)

    def at_edges(self) -> Iterable[tuple[Host, AtEdges[bytes | None]]]:
        """Return what switches on and off those that are not switched by their program."""
        return [(one.host, one.switch) for one in self._attached.values()]

    def traffic_ends(self, sides: Sequence[Side]) -> None:
        """Ask whether it was switched."""
        for party, one in self._attached.items():
            if not one.was_switched():
                said = one.program.errors().strip()[-200:]
                self._failures[party] = f"perf did not answer; it said: {said}"

    def found(self) -> dict[str, Any]:
        """Return what perf counted of each side; None for a side that was not there.

        The same of a reference's sides, if there are any, is at ``reference``.
        """
        entries: dict[str, Any] = dict.fromkeys(SIDES)
        beside: dict[str, Any] = dict.fromkeys(SIDES)
        for party in self._parties:
            (beside if party in REFERENCES else entries)[_side_of(party)] = self._counts(party)
        return entries | ({"reference": beside} if any(beside.values()) else {})

    def _counts(self, party: str) -> PerfSide:
        side = _side_of(party)
        facts, plan = self._facts[side], self._plans[side]
        if plan is None:
            perf = facts["perf"]
            status: PerfStatus = "missing" if perf["status"] == "missing" else "forbidden"
            return no_perf(facts, status, perf["reason"])
        failure = self._given_up or self._failures.get(party)
        if failure is not None:
            return no_perf(facts, "failed", failure)
        program = self._counting[party]
        if program.exit_code is None:  # attached: one around a program has ended with it
            program.signal(signal.SIGINT)
            program.wait(_END_TIMEOUT_S)
        try:
            counts = parse_perf(program.file(COUNTS), f"perf's output for the {side}")
        except ParseError as error:
            return no_perf(facts, "failed", str(error))
        if not counts:
            said = " ".join(program.errors().split())[-200:]
            return no_perf(facts, "failed", f"perf counted nothing: {said}")
        return join_counts(facts, plan, counts)

    def close(self) -> None:
        """End what we started."""
        for one in self._attached.values():
            one.close()
        self._attached.clear()
        self._around: set[str] = set()
        self._counting: dict[str, Program] = {}  # perfs, by the party that they count
        self._failures: dict[str, str] = {}
        self._parties: list[str] = []
