"""The sections of studies, which say what their cells are: grids, `placement` and others."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated, ClassVar, Literal

from copycost.config import structure as kinds
from copycost.config.cells import Cell, cells_of, values_of
from copycost.config.conditions import COLD, HOT, RECV
from copycost.config.settings import Settings
from copycost.config.strategy_capabilities import MAX_DATAGRAM_BYTES, RECEIVERS
from copycost.config.testbeds import PLACEMENTS, TESTBEDS, names_over

EventChoice = Literal["auto", "cycles", "cpu_clock"]

CPU_BUDGET = "cpu_budget"
DATAGRAMS = "datagrams"

FIGURES = {CPU_BUDGET: ("bitrate",), DATAGRAMS: ("bitrate_and_loss", "cost")}
"""Names of the figures of each study, see its `figures`."""

IMPLEMENTATION = kinds.word("the name of a file in src/strategies, or NAME_xN", r"\w{1,60}")
Implementation = Annotated[str, IMPLEMENTATION]
Sender = Annotated[
    str, kinds.word("iperf3, or the name of a file in src/strategies", r"[a-z][a-z0-9_]{0,59}")
]
MsgBytes = Annotated[int, kinds.size(1, 64 << 20)]
Threads = Annotated[int, kinds.number("threads", 1, 256)]
_RING = kinds.size(4096, 1 << 40, str)
WorkingSet = Annotated[str, kinds.either({HOT: HOT, COLD: COLD}, _RING)]
StreamTestbeds = Annotated[tuple[str, ...], kinds.testbeds(*names_over("stream", receiving=True))]
Receiver = Annotated[str, kinds.choice(*RECEIVERS)]
Placed = Annotated[str, kinds.choice(*PLACEMENTS)]
_RECEIVING = kinds.testbeds(*names_over("datagram", receiving=True))
_STEPS = kinds.list_of(kinds.number("per cent", 10, 100), least=3)
_STUDIES = kinds.list_of(kinds.choice(CPU_BUDGET, DATAGRAMS), least=0)
_PAIRS = kinds.list_of(kinds.list_of(IMPLEMENTATION, 2, 2), least=0)
_Streams = Annotated[int, kinds.number("streams", 1, 64)]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which cells of a grid are meant; without implementations none."""

    implementations: Annotated[tuple[str, ...], kinds.list_of(IMPLEMENTATION, least=0)]
    msg_bytes: tuple[MsgBytes, ...]
    n_threads: tuple[Threads, ...]


@dataclass(frozen=True, slots=True)
class RoundTrips(Chosen):
    """The grid of the study `round_trips`, always hot and received plainly."""

    testbeds: StreamTestbeds
    placements: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Streams(RoundTrips):
    """A grid of the study `streams`, over TCP or over UDP: every combination is a cell."""

    working_sets: tuple[WorkingSet, ...]
    receivers: tuple[Receiver, ...]


# our receiver needs an address of its own
_UDP = (name for name in names_over("datagram") if TESTBEDS[name].own_addresses)
_OF_DATAGRAMS = kinds.choice(*(name for name, of in RECEIVERS.items() if "datagram" in of))


@dataclass(frozen=True, slots=True)
class Udp(Streams):
    """The grid over UDP."""

    testbeds: Annotated[tuple[str, ...], kinds.testbeds(*_UDP)]
    msg_bytes: tuple[Annotated[int, kinds.size(1, MAX_DATAGRAM_BYTES)], ...]
    receivers: tuple[Annotated[str, _OF_DATAGRAMS], ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """A few cells of two grids, and the placements in which each is measured."""

    placements: tuple[Placed, ...]
    testbeds: StreamTestbeds
    streams: Chosen
    round_trips: Chosen

    def cells(self, grid: Iterable[Cell]) -> Iterator[Cell]:
        """Yield the cells of a grid that are meant, in each placement; some may be in the grid."""
        for cell in grid:
            chosen = values_of(self.round_trips if cell.study == "round_trips" else self.streams)
            is_usual = (cell.working_set, cell.receiver) == (HOT, RECV)
            if is_usual and all(
                getattr(cell, name) in of
                for name, of in {**chosen, "testbed": self.testbeds}.items()
            ):
                for placement in self.placements:
                    yield replace(cell, placement=placement)

    def n_cells_at_most(self) -> int:
        """Return how many cells these are where the grids have them all."""
        places = len(self.placements) * len(self.testbeds)
        both = (self.streams, self.round_trips)
        return places * sum(prod(map(len, values_of(one).values())) for one in both)


@dataclass(frozen=True, slots=True)
class _Driven:
    """What the two that iperf3 may drive have in common; it starts and ends in its own time."""

    study: ClassVar[str]
    enabled: bool
    implementations: tuple[Sender, ...]
    n_threads: tuple[_Streams, ...]
    repetitions: kinds.Repetitions
    warmup_s: Annotated[float, kinds.number("seconds", 0.1, 60, whole=False)]
    duration_s: Annotated[float, kinds.number("seconds", 0.5, 600, whole=False)]

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, by plain sockets.

        The run's CPUs stay, and its congestion control, which decides every TCP figure.
        """
        return Settings(
            self.warmup_s,
            self.duration_s,
            run.congestion_control,
            sender_cpus=run.sender_cpus,
            receiver_cpus=run.receiver_cpus,
        )

    def cells(self) -> tuple[Cell, ...]:
        """Return every repetition that can exist, round by round."""
        return tuple(cells_of(self.study, self, range(1, self.repetitions + 1)))


@dataclass(frozen=True, slots=True)
class CpuBudget(_Driven):
    """The section `cpu_budget`."""

    study: ClassVar[str] = CPU_BUDGET
    testbeds: StreamTestbeds
    limiters: tuple[Literal["cgroup", "cpulimit"], ...]
    limit_percent: Annotated[tuple[int, ...], _STEPS]
    msg_bytes: Annotated[int, kinds.size(64, 1 << 20)]


@dataclass(frozen=True, slots=True)
class Datagrams(_Driven):
    """The section `datagrams`."""

    study: ClassVar[str] = DATAGRAMS
    testbeds: Annotated[tuple[str, ...], _RECEIVING]
    msg_bytes: tuple[Annotated[int, kinds.size(64, MAX_DATAGRAM_BYTES)], ...]


@dataclass(frozen=True, slots=True)
class Profile(Streams):
    """Which cells are profiled, and how."""

    enabled: bool
    implementations: tuple[Implementation, ...]
    testbeds: Annotated[tuple[str, ...], kinds.testbeds(*TESTBEDS)]
    explains: Annotated[tuple[str, ...], _STUDIES]
    differences: Annotated[tuple[tuple[str, str], ...], _PAIRS]
    repetitions: kinds.Repetitions
    warmup_s: kinds.Settling
    duration_s: kinds.Window
    frequency_hz: Annotated[int, kinds.number("samples per second", 10, 50_000)]
    event: EventChoice

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return replace(run, warmup_s=self.warmup_s, duration_s=self.duration_s)
