"""The section `cpu_budget` of the configuration, and its grid."""

from dataclasses import dataclass

from copycost.config.cells import Cell, cells_of
from copycost.config.kinds import (
    CONNECTIONS,
    REPETITIONS,
    SENDERS,
    SETTLING_S,
    WINDOW_S,
)
from copycost.config.settings import Settings
from copycost.config.structure import Flag, ListOf, Name, Number, Size, stated, testbeds
from copycost.config.testbeds import names_over

STUDY = "cpu_budget"

FIGURES = ("bitrate",)
"""Names of the figures, see `copycost.studies.cpu_budget.figures`."""


_LIMITERS = ("cgroup", "cpulimit")


@dataclass(frozen=True, slots=True)
class CpuBudget:
    """The section of the configuration."""

    enabled: bool = stated(Flag())
    implementations: tuple[str, ...] = stated(SENDERS)
    testbeds: tuple[str, ...] = testbeds(*names_over("stream", receiving=True))
    limiters: tuple[str, ...] = stated(
        ListOf("a list of limiters, at least one", Name("the name of a limiter", _LIMITERS))
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

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return run.plain(self.warmup_s, self.duration_s)

    def cells(self) -> tuple[Cell, ...]:
        """Return every repetition that can exist, round by round."""
        return tuple(cells_of(STUDY, self, range(1, self.repetitions + 1)))
