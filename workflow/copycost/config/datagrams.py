"""The section `datagrams` of the configuration, and its grid."""

import itertools
from dataclasses import dataclass

from copycost.config.capabilities import can_exist
from copycost.config.cells import Cell
from copycost.config.conditions import RECV
from copycost.config.settings import Settings

STUDY = "datagrams"

FIGURES = ("bitrate_and_loss", "cost")
"""Names of the figures, see `copycost.studies.datagrams.figures`."""


@dataclass(frozen=True, slots=True)
class Datagrams:
    """The section of the configuration."""

    enabled: bool
    implementations: tuple[str, ...]
    testbeds: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    repetitions: int
    warmup_s: float
    duration_s: float

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return run.plain(self.warmup_s, self.duration_s)

    def cells(self) -> tuple[Cell, ...]:
        """Return every repetition that can exist, round by round."""
        points = itertools.product(
            range(1, self.repetitions + 1),
            self.testbeds,
            self.implementations,
            self.msg_bytes,
            self.n_threads,
        )
        return tuple(
            Cell(STUDY, testbed, implementation, msg_bytes, n_threads, rep=rep)
            for rep, testbed, implementation, msg_bytes, n_threads in points
            if can_exist(implementation, testbed, msg_bytes, RECV)
        )
