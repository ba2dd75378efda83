"""The section `profile` of the configuration."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from copycost.config.kinds import (
    ANY_SETTLING_S,
    ANY_WINDOW_S,
    IMPLEMENTATION,
    MSG_BYTES,
    N_THREADS,
    PLACED,
    RECEIVED_BY,
    REPETITIONS,
    SOME_IMPLEMENTATIONS,
    WORKING_SETS,
)
from copycost.config.settings import Settings
from copycost.config.structure import Choice, Flag, ListOf, Number, stated, testbeds
from copycost.config.testbeds import TESTBEDS

DrivenStudy = Literal["cpu_budget", "datagrams"]
EventChoice = Literal["auto", "cycles", "cpu_clock"]


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
    explains: tuple[DrivenStudy, ...] = stated(
        ListOf(
            "a list of studies",
            Choice("a study that iperf3 drives", get_args(DrivenStudy)),
            least=0,
            most=2,
        )
    )
    differences: tuple[tuple[str, str], ...] = stated(
        ListOf(
            "a list of pairs of implementations",
            ListOf("a pair of implementations", IMPLEMENTATION, least=2, most=2),
            least=0,
        )
    )
    repetitions: int = stated(REPETITIONS)
    warmup_s: float = stated(ANY_SETTLING_S)
    duration_s: float = stated(ANY_WINDOW_S)
    frequency_hz: int = stated(Number("a whole number of samples per second", 10, 50_000))
    event: EventChoice = stated(Choice("auto, cycles or cpu_clock", get_args(EventChoice)))

    def settings(self, run: Settings) -> Settings:
        """Return how a repetition is measured: in its own window, else as the whole run."""
        return replace(run, warmup_s=self.warmup_s, duration_s=self.duration_s)
