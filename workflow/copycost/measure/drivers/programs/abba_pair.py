"""Two ways to send, the one under test and the reference, measured in turns by one repetition.

All their connections stay open while their senders send one after the other, in slices of some
milliseconds in the order ABBA. A slice ends when all that was sent has arrived, and who is not
sending sleeps. So what drifts, and what else the machine does, falls on both alike, and what each
program counts is of its own slices. Source: L. Bulej et al., Duet Benchmarking, ICPE 2020.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from copycost.hosts.program import Launch
from copycost.hosts.side import Side
from copycost.measure.drivers.programs.conversation import Slice
from copycost.measure.drivers.programs.driver import Programs, ProgramsTraffic
from copycost.measure.drivers.protocol import Payload, Phase, Setup, Window

# the usual length of a slice [s]: docs/method.md has others beside it
_SLICE_S = 0.02
_FEWEST_SLICES = 4
# each turn takes a little longer than its slice: what is under way arrives, and the word is passed
_TURN_PER_SLICE = 1.15


class Pair:
    """A way to send, and the reference, of that implementation, beside it."""

    def __init__(self, way: Programs, reference: Programs, implementation: str) -> None:
        self._way = way
        self._reference = reference
        self.reference = implementation

    def plan(self, setup: Setup) -> dict[str, Any]:
        """Choose the rings of both."""
        self._reference.plan(self._beside(setup))
        return self._way.plan(setup)

    @contextmanager
    def traffic(self, setup: Setup) -> Iterator["PairTraffic"]:
        """Start both, the reference first in every other repetition.

        Both senders make their messages at the same time.
        """
        both = [(self._way, setup), (self._reference, self._beside(setup))]
        way_first = setup.cell.rep % 2 == 1
        # one settles after the other, and all that time a receiver may hear nothing
        settle_s = 2 * setup.settings.warmup_s
        (first, its_setup), (second, other_setup) = both if way_first else both[::-1]
        with (
            first.begun(its_setup, settle_s) as one,
            second.begun(other_setup, settle_s) as other,
        ):
            for each in (one, other):
                each.connect()
            yield PairTraffic(setup, (one, other), self.reference, way_first=way_first)

    def _beside(self, setup: Setup) -> Setup:
        def around(party: str, launch: Launch) -> Launch:
            return setup.around(f"reference_{party}", launch)

        cell = replace(setup.cell, implementation=self.reference)
        return replace(setup, cell=cell, around=around)


class PairTraffic:
    """Both while they run; see `copycost.measure.drivers.protocol.Traffic`."""

    def __init__(
        self,
        setup: Setup,
        started: tuple[ProgramsTraffic, ProgramsTraffic],
        reference: str,
        *,
        way_first: bool,
    ) -> None:
        self._machine = setup.machine
        self._started = started
        self._way, self._beside = started if way_first else started[::-1]
        self._reference = reference
        # an even number of one way's, each about as long as usual
        duration_s = setup.settings.duration_s
        self._n_slices = max(2 * round(duration_s / _SLICE_S / 2), _FEWEST_SLICES)
        self._slice_s = duration_s / self._n_slices
        self._slices: list[tuple[ProgramsTraffic, Slice]] = []

    @property
    def sides(self) -> Sequence[Side]:
        """Those of the way under test, and of the reference."""
        beside = [replace(side, party=f"reference_{side.name}") for side in self._beside.sides]
        return [*self._way.sides, *beside]

    def open_window(self, warmup_s: float, duration_s: float) -> Window:
        """Have each settle alone, and return when the window will about be."""
        for one in self._started:
            one.await_turns()
        for one in self._started:
            one.take_turn(warmup_s)
        now_ns = self._machine.clock_ns()
        expected_s = 2 * duration_s * _TURN_PER_SLICE
        return Window(now_ns, now_ns + round(expected_s * 1e9), kept=False)

    def watch_until(self, until_ns: int, next_phase: Phase) -> None:
        """Begin what counts, or take the turns that it is made of, and end it."""
        if next_phase == "window":
            self._pass_edge("begin")
            return
        for number in range(self._n_slices):
            if number == self._n_slices // 2:
                self._pass_edge("half")
            for one in self._started if number % 2 == 0 else self._started[::-1]:
                self._slices.append((one, one.take_turn(self._slice_s)))
        self._pass_edge("end")

    def _pass_edge(self, word: str) -> None:
        for one in self._started:
            one.pass_edge(word)

    def finish(self) -> Payload:
        """Let both end, and return what they said: the way's own, and the reference's beside it."""
        for one in self._started:
            one.end()
        beside = self._beside.payload()
        way = self._way.payload(self._beside)
        assert way.cpu_ns is not None
        assert beside.cpu_ns is not None
        reference = {"implementation": self._reference, **beside.entry}
        del reference["name"]
        slices = [[int(one is self._beside), *turn] for one, turn in self._slices]
        return replace(
            way,
            entry={**way.entry, "slices": slices, "reference": reference},
            cpu_ns={side: used + beside.cpu_ns[side] for side, used in way.cpu_ns.items()},
        )
