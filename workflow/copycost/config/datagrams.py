"""The section `datagrams` of the configuration, and its grid."""

from dataclasses import dataclass

from copycost.config.cells import Cell, cells_of
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
        return tuple(cells_of(STUDY, self, range(1, self.repetitions + 1)))
