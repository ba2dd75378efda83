"""The section `profile` of the configuration."""

from dataclasses import dataclass, replace
from typing import Literal

from copycost.config.settings import Settings

DrivenStudy = Literal["cpu_budget", "datagrams"]
EventChoice = Literal["auto", "cycles", "cpu_clock"]


@dataclass(frozen=True, slots=True)
class Profile:
    """Which cells are profiled, and how.

    Attributes
    ----------
    enabled
        Whether the study is part of a run without a target.
    implementations, testbeds, msg_bytes, n_threads, working_sets, receivers, placements
        The grid, as that of the study `streams`; every combination that can exist is a cell.
    explains
        Studies of iperf3 that are profiled too where they are part of the run.
    differences
        Pairs of implementations that are laid side by side: from the first to the second.
    repetitions
        Repetitions of every cell [count].
    warmup_s, duration_s
        Traffic before the window, and the window [s]: longer than a window for throughput, since
        shares take many samples.
    frequency_hz
        Samples per second of CPU time.
    event
        What makes a sample.
    """

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
