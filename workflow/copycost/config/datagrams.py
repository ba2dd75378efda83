"""The section `datagrams` of the configuration, and its grid."""

from dataclasses import dataclass

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
from copycost.config.structure import Flag, stated, testbeds
from copycost.config.testbeds import names_over

STUDY = "datagrams"

FIGURES = ("bitrate_and_loss", "cost")
"""Names of the figures, see `copycost.studies.datagrams.figures`."""


@dataclass(frozen=True, slots=True)
class Datagrams:
    """The section of the configuration."""

    enabled: bool = stated(Flag())
    implementations: tuple[str, ...] = stated(SENDERS)
    testbeds: tuple[str, ...] = testbeds(*names_over("datagram", receiving=True))
    msg_bytes: tuple[int, ...] = stated(sizes(64, MAX_DATAGRAM_BYTES, "64 or 8KiB"))
    n_threads: tuple[int, ...] = stated(CONNECTIONS)
    repetitions: int = stated(REPETITIONS)
    warmup_s: float = stated(SETTLING_S)
    duration_s: float = stated(WINDOW_S)

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return run.plain(self.warmup_s, self.duration_s)

    def cells(self) -> tuple[Cell, ...]:
        """Return every repetition that can exist, round by round."""
        return tuple(cells_of(STUDY, self, range(1, self.repetitions + 1)))
