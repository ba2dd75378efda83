"""The sections of studies with records of their own: `profile`, and those that iperf3 may drive."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from copycost.config.cells import Cell, cells_of
from copycost.config.settings import Settings
from copycost.config.strategy_capabilities import MAX_DATAGRAM_BYTES
from copycost.config.structure import (
    ANY_SETTLING_S,
    ANY_WINDOW_S,
    CONNECTIONS,
    IMPLEMENTATION,
    MSG_BYTES,
    N_THREADS,
    PLACED,
    RECEIVED_BY,
    REPETITIONS,
    SENDERS,
    SETTLING_S,
    SOME_IMPLEMENTATIONS,
    WINDOW_S,
    WORKING_SETS,
    Choice,
    Flag,
    ListOf,
    Number,
    Size,
    stated,
    testbeds,
)
from copycost.config.testbeds import TESTBEDS, names_over

EventChoice = Literal["auto", "cycles", "cpu_clock"]
DrivenStudy = Literal["cpu_budget", "datagrams"]

CPU_BUDGET = "cpu_budget"
DATAGRAMS = "datagrams"

FIGURES = {CPU_BUDGET: ("bitrate",), DATAGRAMS: ("bitrate_and_loss", "cost")}
"""Names of the figures of each study, see its `figures`."""


class _Driven:
    """What the two have in common."""

    __slots__ = ()
    study: ClassVar[str]
    repetitions: int
    warmup_s: float
    duration_s: float

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return run.plain(self.warmup_s, self.duration_s)

    def cells(self) -> tuple[Cell, ...]:
        """Return every repetition that can exist, round by round."""
        return tuple(cells_of(self.study, self, range(1, self.repetitions + 1)))


@dataclass(frozen=True, slots=True)
class CpuBudget(_Driven):
    """The section `cpu_budget`."""

    study: ClassVar[str] = CPU_BUDGET
    enabled: bool = stated(Flag())
    implementations: tuple[str, ...] = stated(SENDERS)
    testbeds: tuple[str, ...] = testbeds(*names_over("stream", receiving=True))
    limiters: tuple[str, ...] = stated(ListOf(Choice("cgroup", "cpulimit")))
    n_threads: tuple[int, ...] = stated(CONNECTIONS)
    limit_percent: tuple[int, ...] = stated(ListOf(Number("per cent", 10, 100), least=3))
    msg_bytes: int = stated(Size(least=64, most=1 << 20))
    repetitions: int = stated(REPETITIONS)
    warmup_s: float = stated(SETTLING_S)
    duration_s: float = stated(WINDOW_S)


@dataclass(frozen=True, slots=True)
class Datagrams(_Driven):
    """The section `datagrams`."""

    study: ClassVar[str] = DATAGRAMS
    enabled: bool = stated(Flag())
    implementations: tuple[str, ...] = stated(SENDERS)
    testbeds: tuple[str, ...] = testbeds(*names_over("datagram", receiving=True))
    msg_bytes: tuple[int, ...] = stated(ListOf(Size(least=64, most=MAX_DATAGRAM_BYTES)))
    n_threads: tuple[int, ...] = stated(CONNECTIONS)
    repetitions: int = stated(REPETITIONS)
    warmup_s: float = stated(SETTLING_S)
    duration_s: float = stated(WINDOW_S)


@dataclass(frozen=True, slots=True)
class Profile:
    """Which cells are profiled, and how."""

    enabled: bool = stated(Flag())
    implementations: tuple[str, ...] = stated(SOME_IMPLEMENTATIONS)
    testbeds: tuple[str, ...] = testbeds(*TESTBEDS)
    msg_bytes: tuple[int, ...] = stated(MSG_BYTES)
    n_threads: tuple[int, ...] = stated(N_THREADS)
    working_sets: tuple[str, ...] = stated(WORKING_SETS)
    receivers: tuple[str, ...] = stated(RECEIVED_BY)
    placements: tuple[str, ...] = stated(PLACED)
    explains: tuple[DrivenStudy, ...] = stated(ListOf(Choice(*get_args(DrivenStudy)), least=0))
    differences: tuple[tuple[str, str], ...] = stated(
        ListOf(ListOf(IMPLEMENTATION, least=2, most=2), least=0)
    )
    repetitions: int = stated(REPETITIONS)
    warmup_s: float = stated(ANY_SETTLING_S)
    duration_s: float = stated(ANY_WINDOW_S)
    frequency_hz: int = stated(Number("samples per second", 10, 50_000))
    event: EventChoice = stated(Choice(*get_args(EventChoice)))

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return replace(run, warmup_s=self.warmup_s, duration_s=self.duration_s)
