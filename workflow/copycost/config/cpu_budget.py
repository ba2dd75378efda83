"""The section `cpu_budget` of the configuration, and its grid."""

import itertools
from dataclasses import dataclass

from copycost.config.cells import Cell
from copycost.config.settings import Settings

STUDY = "cpu_budget"

FIGURES = ("bitrate",)
"""Names of the figures, see `copycost.studies.cpu_budget.figures`."""


@dataclass(frozen=True, slots=True)
class CpuBudget:
    """The section of the configuration."""

    enabled: bool
    implementations: tuple[str, ...]
    testbeds: tuple[str, ...]
    limiters: tuple[str, ...]
    n_threads: tuple[int, ...]
    limit_percent: tuple[int, ...]
    msg_bytes: int
    repetitions: int
    warmup_s: float
    duration_s: float

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return run.plain(self.warmup_s, self.duration_s)

    def cells(self) -> tuple[Cell, ...]:
        """Return every repetition, round by round."""
        points = itertools.product(
            range(1, self.repetitions + 1),
            self.testbeds,
            self.implementations,
            self.limiters,
            self.n_threads,
            self.limit_percent,
        )
        return tuple(
            Cell(
                STUDY,
                testbed,
                implementation,
                self.msg_bytes,
                n_threads,
                rep=rep,
                limiter=limiter,
                limit_percent=limit_percent,
            )
            for rep, testbed, implementation, limiter, n_threads, limit_percent in points
        )
