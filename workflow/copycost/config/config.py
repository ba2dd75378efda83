"""The configuration as typed values.

config.yaml and workflow/config/defaults.yaml explain each key, with its unit. None stands for a
word such as `kernel`, `auto` or `none` there (`copycost.config.structure`).

Kept free of what only a check needs (`copycost.config.check`), since the measuring process imports
it too and its start-up time is paid at every repetition.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal, Self, get_args

from copycost.config.alpha_spending import confidence_of_analysis
from copycost.config.cells import Cell, values_of
from copycost.config.conditions import HOT, RECV
from copycost.config.settings import AUTO, KERNEL, NoDelay, Settings
from copycost.config.simulated import Simulated
from copycost.config.strategy_capabilities import MAX_DATAGRAM_BYTES
from copycost.config.structure import (
    ANY_SETTLING_S,
    ANY_WINDOW_S,
    IMPLEMENTATIONS,
    MSG_BYTES,
    N_THREADS,
    NONE,
    PLACED,
    RECEIVED_BY,
    REPETITIONS,
    SEED,
    WORKING_SETS,
    Choice,
    Flag,
    ListOf,
    Number,
    Or,
    Size,
    Word,
    from_plain,
    section,
    stated,
    testbeds,
    to_plain,
)
from copycost.config.studies import CpuBudget, Datagrams, Profile
from copycost.config.testbeds import TESTBEDS, names_over
from copycost.config.virtual import Virtual
from copycost.config.wire import Wire

Study = Literal["streams", "round_trips"]
STUDIES: tuple[Study, ...] = get_args(Study)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which cells of a grid are meant; without implementations none."""

    implementations: tuple[str, ...] = stated(IMPLEMENTATIONS)
    msg_bytes: tuple[int, ...] = stated(MSG_BYTES)
    n_threads: tuple[int, ...] = stated(N_THREADS)


@dataclass(frozen=True, slots=True)
class RoundTrips(Chosen):
    """The grid of the study `round_trips`, always hot and received plainly."""

    testbeds: tuple[str, ...] = testbeds(*names_over("stream", receiving=True))
    placements: tuple[str, ...] = stated(PLACED)


@dataclass(frozen=True, slots=True)
class Streams(RoundTrips):
    """A grid of the study `streams`, over TCP or over UDP: every combination is a cell."""

    working_sets: tuple[str, ...] = stated(WORKING_SETS)
    receivers: tuple[str, ...] = stated(RECEIVED_BY)


# our receiver needs an address of its own
_UDP = (name for name in names_over("datagram") if TESTBEDS[name].own_addresses)


@dataclass(frozen=True, slots=True)
class Udp(Streams):
    """The grid over UDP."""

    testbeds: tuple[str, ...] = testbeds(*_UDP)
    msg_bytes: tuple[int, ...] = stated(ListOf(Size(least=1, most=MAX_DATAGRAM_BYTES)))


_CPUS = Or({AUTO: None}, ListOf(Number("a CPU", 0)))
_BUFFER = Or({KERNEL: None}, Size(least=1 << 10, most=1 << 30))


@dataclass(frozen=True, slots=True)
class Cpus:
    """CPU numbers of each side, from which placements choose; None offers all of them."""

    sender: tuple[int, ...] | None = stated(_CPUS)
    receiver: tuple[int, ...] | None = stated(_CPUS)


@dataclass(frozen=True, slots=True)
class Measure:
    """How every cell is measured: `Settings`, and how often and in which order."""

    repetitions: int = stated(REPETITIONS)
    minutes: float | None = stated(Or({NONE: None}, Number("minutes", 0.001, 1440, whole=False)))
    warmup_s: float = stated(ANY_SETTLING_S)
    duration_s: float = stated(ANY_WINDOW_S)
    congestion_control: str = stated(
        Word("the name of a congestion control such as cubic or reno", r"[a-z][a-z0-9_]{0,14}")
    )
    tcp_nodelay: NoDelay = stated(Choice(*get_args(NoDelay)))
    send_buffer_bytes: int | None = stated(_BUFFER)
    receive_buffer_bytes: int | None = stated(_BUFFER)
    cpus: Cpus = section(Cpus)
    fresh: bool = stated(Flag())
    interval_us: int = stated(Number("microseconds", 0, 1_000_000))
    memory_floor: bool = stated(Flag())
    order_seed: int = stated(SEED)

    def settings(self, study: Study = "streams") -> Settings:
        """Return the part that changes what a repetition of a study measures."""
        return Settings(
            warmup_s=self.warmup_s,
            duration_s=self.duration_s,
            congestion_control=self.congestion_control,
            tcp_nodelay=self.tcp_nodelay,
            send_buffer_bytes=self.send_buffer_bytes,
            receive_buffer_bytes=self.receive_buffer_bytes,
            sender_cpus=self.cpus.sender,
            receiver_cpus=self.cpus.receiver,
            fresh=self.fresh,
            mode="request_response" if study == "round_trips" else "stream",
            interval_ns=self.interval_us * 1000 if study == "round_trips" else 0,
        )


ReportFormat = Literal["html", "pdf"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How repetitions are summarised: confidence (0.5 to 1), resamples [count], seed."""

    confidence: float = stated(Number(least=0.5, most=0.9999, whole=False))
    resamples: int = stated(Number("resamples", 100, 1_000_000))
    seed: int = stated(SEED)


@dataclass(frozen=True, slots=True)
class Report:
    """What the report looks like."""

    title: str = stated(
        Word("a text of one line", r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+", most=200)
    )
    formats: tuple[ReportFormat, ...] = stated(ListOf(Choice(*get_args(ReportFormat))))


@dataclass(frozen=True, slots=True)
class Placement:
    """A few cells of two grids, and the placements in which each is measured."""

    placements: tuple[str, ...] = stated(PLACED)
    testbeds: tuple[str, ...] = testbeds(*names_over("stream", receiving=True))
    streams: Chosen = section(Chosen)
    round_trips: Chosen = section(Chosen)

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


Place = Literal["local", "slurm"]
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


@dataclass(frozen=True, slots=True)
class Slurm:
    """Nodes of a cluster that ``./run fleet`` measures."""

    partition: str = stated(Word("auto, or the name of a partition", _NAME))
    nodes: tuple[str, ...] = stated(ListOf(Word("the name of a node", _NAME), least=0, most=1000))
    count: int = stated(Number("nodes", 0, 1000))
    constraint: str | None = stated(
        Or({NONE: None}, Word("features of a node", r"[A-Za-z0-9][A-Za-z0-9._&|-]{0,63}"))
    )

    @property
    def named_partition(self) -> str | None:
        """The partition; None for the one that jobs go to by default."""
        return None if self.partition == AUTO else self.partition


@dataclass(frozen=True, slots=True)
class Hosts:
    """Which hosts ``./run fleet`` is about."""

    alias: str = stated(
        Word(
            "auto, or a name of small letters, digits and hyphens",
            r"[a-z0-9]([a-z0-9-]*[a-z0-9])?",
            40,
        )
    )
    where: tuple[Place, ...] = stated(ListOf(Choice(*get_args(Place))))
    slurm: Slurm = section(Slurm)


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration, checked."""

    streams: Streams = section(Streams)
    udp: Streams = section(Udp)
    round_trips: RoundTrips = section(RoundTrips)
    placement: Placement = section(Placement)
    profile: Profile = section(Profile)
    cpu_budget: CpuBudget = section(CpuBudget)
    datagrams: Datagrams = section(Datagrams)
    virtual: Virtual = section(Virtual)
    wire: Wire = section(Wire)
    hosts: Hosts = section(Hosts)
    simulated: Simulated = section(Simulated)
    measure: Measure = section(Measure)
    statistics: Statistics = section(Statistics)
    report: Report = section(Report)

    def analysed(self) -> Self:
        """Return the configuration with the confidence that the analysis of the grids has.

        It is higher than stated where comparisons were looked at while they were measured.
        """
        if self.measure.minutes is None:
            return self
        confidence = confidence_of_analysis(self.statistics.confidence)
        return replace(self, statistics=replace(self.statistics, confidence=confidence))

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration in the words of config.yaml, sizes in bytes, lists as lists."""
        return to_plain(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> Self:
        """Return the configuration from what `as_dict` gave, or from a checked config file."""
        return from_plain(tree, cls)
