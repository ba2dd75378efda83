"""The sections `cpu_budget` and `datagrams`, whose senders iperf3 may drive, and their grids."""

from dataclasses import dataclass
from typing import ClassVar

from copycost.config.capabilities import MAX_DATAGRAM_BYTES
from copycost.config.cells import Cell, cells_of
from copycost.config.kinds import (
    CONNECTIONS,
    REPETITIONS,
    SENDERS,
    SETTLING_S,
    WINDOW_S,
    sizes,
)
from copycost.config.settings import Settings
from copycost.config.structure import Flag, ListOf, Name, Number, Size, stated, testbeds
from copycost.config.testbeds import names_over

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
    limiters: tuple[str, ...] = stated(
        ListOf(
            "a list of limiters, at least one",
            Name("the name of a limiter", ("cgroup", "cpulimit")),
        )
    )
    n_threads: tuple[int, ...] = stated(CONNECTIONS)
    limit_percent: tuple[int, ...] = stated(
        ListOf(
            "a list of CPU limits, at least three", Number("a whole number of per cent", 10, 100), 3
        )
    )
    msg_bytes: int = stated(Size("a size such as 128KiB", 64, 1 << 20))
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
    msg_bytes: tuple[int, ...] = stated(sizes(64, MAX_DATAGRAM_BYTES, "64 or 8KiB"))
    n_threads: tuple[int, ...] = stated(CONNECTIONS)
    repetitions: int = stated(REPETITIONS)
    warmup_s: float = stated(SETTLING_S)
    duration_s: float = stated(WINDOW_S)
