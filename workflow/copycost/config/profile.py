"""The section `profile` of the configuration."""

from dataclasses import dataclass, replace
from typing import Literal

from copycost.config.settings import Settings

DrivenStudy = Literal["cpu_budget", "datagrams"]
EventChoice = Literal["auto", "cycles", "cpu_clock"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Which cells are profiled, and how."""

    enabled: bool
    implementations: tuple[str, ...]
    testbeds: tuple[str, ...]
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    working_sets: tuple[str, ...]
    receivers: tuple[str, ...]
    placements: tuple[str, ...]
    explains: tuple[DrivenStudy, ...]
    differences: tuple[tuple[str, str], ...]
    repetitions: int
    warmup_s: float
    duration_s: float
    frequency_hz: int
    event: EventChoice

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return replace(run, warmup_s=self.warmup_s, duration_s=self.duration_s)
