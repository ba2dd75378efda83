"""The sections of studies with records of their own: `profile`, and those that iperf3 may drive."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from copycost.config import structure as kinds
from copycost.config.cells import Cell, cells_of
from copycost.config.settings import Settings
from copycost.config.strategy_capabilities import MAX_DATAGRAM_BYTES
from copycost.config.testbeds import TESTBEDS, names_over

EventChoice = Literal["auto", "cycles", "cpu_clock"]

CPU_BUDGET = "cpu_budget"
DATAGRAMS = "datagrams"

FIGURES = {CPU_BUDGET: ("bitrate",), DATAGRAMS: ("bitrate_and_loss", "cost")}
"""Names of the figures of each study, see its `figures`."""


_RECEIVING = kinds.testbeds(*names_over("datagram", receiving=True))
_STEPS = kinds.list_of(kinds.number("per cent", 10, 100), least=3)
_STUDIES = kinds.list_of(kinds.choice(CPU_BUDGET, DATAGRAMS), least=0)
_PAIRS = kinds.list_of(kinds.list_of(kinds.IMPLEMENTATION, 2, 2), least=0)
_Streams = Annotated[int, kinds.number("streams", 1, 64)]


class _Driven:
    """What the two have in common."""

    __slots__ = ()
    study: ClassVar[str]
    repetitions: int
    warmup_s: float
    duration_s: float

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
    enabled: bool
    implementations: tuple[kinds.Sender, ...]
    testbeds: kinds.StreamTestbeds
    limiters: tuple[Literal["cgroup", "cpulimit"], ...]
    n_threads: tuple[_Streams, ...]
    limit_percent: Annotated[tuple[int, ...], _STEPS]
    msg_bytes: Annotated[int, kinds.size(64, 1 << 20)]
    repetitions: kinds.Repetitions
    warmup_s: kinds.DrivenSettling
    duration_s: kinds.DrivenWindow


@dataclass(frozen=True, slots=True)
class Datagrams(_Driven):
    """The section `datagrams`."""

    study: ClassVar[str] = DATAGRAMS
    enabled: bool
    implementations: tuple[kinds.Sender, ...]
    testbeds: Annotated[tuple[str, ...], _RECEIVING]
    msg_bytes: tuple[Annotated[int, kinds.size(64, MAX_DATAGRAM_BYTES)], ...]
    n_threads: tuple[_Streams, ...]
    repetitions: kinds.Repetitions
    warmup_s: kinds.DrivenSettling
    duration_s: kinds.DrivenWindow


@dataclass(frozen=True, slots=True)
class Profile:
    """Which cells are profiled, and how."""

    enabled: bool
    implementations: tuple[kinds.Implementation, ...]
    testbeds: Annotated[tuple[str, ...], kinds.testbeds(*TESTBEDS)]
    msg_bytes: tuple[kinds.MsgBytes, ...]
    n_threads: tuple[kinds.Threads, ...]
    working_sets: tuple[kinds.WorkingSet, ...]
    receivers: tuple[kinds.Receiver, ...]
    placements: tuple[kinds.Placed, ...]
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
