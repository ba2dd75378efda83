"""The configuration as typed values.

config.yaml and workflow/config/defaults.yaml explain each key, with its unit. None stands for a
word such as `kernel`, `auto` or `none` there (`copycost.config.structure`).

Kept free of the validator (`copycost.config.check`) and of cattrs (`copycost.config.structure`),
since the measuring process imports it too and its start-up time is paid at every repetition.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal, Self, get_args

from copycost.config.alpha_spending import confidence_of_analysis
from copycost.config.cells import Cell, values_of
from copycost.config.conditions import HOT, RECV
from copycost.config.cpu_budget import CpuBudget
from copycost.config.datagrams import Datagrams
from copycost.config.profile import Profile
from copycost.config.settings import AUTO, NoDelay, Settings
from copycost.config.simulated import Simulated
from copycost.config.virtual import Virtual
from copycost.config.wire import Wire

Study = Literal["streams", "round_trips"]
STUDIES: tuple[Study, ...] = get_args(Study)


@dataclass(frozen=True, slots=True)
class Streams:
    """A grid of the study `streams`, over TCP or over UDP: every combination is a cell."""

    implementations: tuple[str, ...]
    testbeds: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    working_sets: tuple[str, ...]
    receivers: tuple[str, ...]
    placements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """The grid of the study `round_trips`, always hot and received plainly."""

    implementations: tuple[str, ...]
    testbeds: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    placements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cpus:
    """CPU numbers of each side, from which placements choose; None offers all of them."""

    sender: tuple[int, ...] | None
    receiver: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Measure:
    """How every cell is measured: `Settings`, and how often and in which order."""

    repetitions: int
    minutes: float | None
    warmup_s: float
    duration_s: float
    congestion_control: str
    tcp_nodelay: NoDelay
    send_buffer_bytes: int | None
    receive_buffer_bytes: int | None
    cpus: Cpus
    fresh: bool
    interval_us: int
    memory_floor: bool
    order_seed: int

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

    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Report:
    """What the report looks like."""

    title: str
    formats: tuple[ReportFormat, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which cells of a grid are meant; without implementations none."""

    implementations: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """A few cells of two grids, and the placements in which each is measured."""

    placements: tuple[str, ...]
    testbeds: tuple[str, ...]
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


Place = Literal["local", "slurm"]


@dataclass(frozen=True, slots=True)
class Slurm:
    """Nodes of a cluster that ``./run fleet`` measures."""

    partition: str
    nodes: tuple[str, ...]
    count: int
    constraint: str | None

    @property
    def named_partition(self) -> str | None:
        """The partition; None for the one that jobs go to by default."""
        return None if self.partition == AUTO else self.partition


@dataclass(frozen=True, slots=True)
class Hosts:
    """Which hosts ``./run fleet`` is about."""

    alias: str
    where: tuple[Place, ...]
    slurm: Slurm


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration, checked."""

    streams: Streams
    udp: Streams
    round_trips: RoundTrips
    placement: Placement
    profile: Profile
    cpu_budget: CpuBudget
    datagrams: Datagrams
    virtual: Virtual
    wire: Wire
    hosts: Hosts
    simulated: Simulated
    measure: Measure
    statistics: Statistics
    report: Report

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
        from copycost.config.structure import to_plain  # not at the top: see there

        return to_plain(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> Self:
        """Return the configuration from what `as_dict` gave, or from a checked config file."""
        from copycost.config.structure import from_plain

        return from_plain(tree, cls)
