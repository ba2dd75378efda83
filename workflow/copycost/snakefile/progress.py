"""What is said while cells are measured: how many, how long, each result, how many are left.

Each repetition is a process of its own, so the count lies in a small file; its path reaches the
processes in an environment variable. Cells never overlap, and so neither do its writers.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from copycost.grid.capabilities import IPERF3
from copycost.wording.plurals import plural

VARIABLE = "COPYCOST_PROGRESS"


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a repetition takes: so many windows, and what comes on top of them [s]."""

    n_windows: int
    overhead_s: float

    def expected_s(self, window_s: float) -> float:
        """Return how long a repetition with such a window, warm-up included, takes [s]."""
        return self.n_windows * window_s + self.overhead_s


# Start of the job and of both programs, set-up of the testbed, clean-up.
STREAMS = Pace(1, 0.2)
# Other tools have to start and end.
DRIVEN = Pace(1, 1.1)
# A profile has an undisturbed window to compare with, and its samples are read.
_PROFILE = Pace(2, 1.0)
# iperf3 runs for whole seconds, of which perf needs one or two to attach to it.
_PROFILE_OF_IPERF3 = Pace(2, 5.2)


def pace_of_profile(implementation: str) -> Pace:
    """Return how long a repetition of a profile takes, by what it profiles."""
    return _PROFILE_OF_IPERF3 if implementation == IPERF3 else _PROFILE


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    total
        Repetitions that the run measures [count].
    expected_s
        Time that they are expected to take together, from the configuration [s].
    done_s
        What of that is done: the expected time of those that are finished [s].
    started_s
        Start of the first repetition (CLOCK_MONOTONIC) [s]; None before.
    done
        Finished repetitions, whatever became of them [count].
    """

    total: int
    expected_s: float
    done_s: float = 0.0
    started_s: float | None = None
    done: int = 0

    @property
    def left(self) -> int:
        """Repetitions still to come [count]."""
        return max(self.total - self.done, 0)

    def left_s(self, now_s: float) -> float:
        """Return the time that the rest will take at the pace so far [s]."""
        expected_s = max(self.expected_s - self.done_s, 0.0)
        if self.started_s is None or not self.done_s:
            return expected_s
        return expected_s * (now_s - self.started_s) / self.done_s

    def after(self, expected_s: float, now_s: float) -> "Progress":
        """Return the progress with one more repetition, of an expected length [s], ended now."""
        return replace(
            self,
            total=max(self.total, self.done + 1),
            done_s=self.done_s + expected_s,
            started_s=now_s - expected_s if self.started_s is None else self.started_s,
            done=self.done + 1,
        )


def begin(path: Path, n_repetitions: int, expected_s: float) -> str:
    """Start counting in a file, let scripts find it, and return what to tell the user.

    Parameters
    ----------
    path
        Where to count.
    n_repetitions
        Repetitions that this run measures [count].
    expected_s
        How long all of them take together, about [s].
    """
    progress = Progress(total=n_repetitions, expected_s=expected_s)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(progress)), encoding="utf-8")
    os.environ[VARIABLE] = str(path)
    if n_repetitions == 0:
        return "copycost: no repetition is to be measured; what was measured is still good."
    return (
        f"copycost: measuring {count(n_repetitions, 'repetition')}, which takes about "
        f"{format_duration(expected_s)}."
    )


def forecast(n_repetitions: int, expected_s: float, n_others: int) -> str:
    """Return what a run would do, for a dry run; parameters as for `begin`, and other jobs."""
    others = f"{count(n_others, 'other job')} (programs, tables, figures, report)"
    if n_repetitions == 0:
        return f"copycost: a run would measure nothing, and do {others}."
    return (
        f"copycost: a run would measure {count(n_repetitions, 'repetition')}, which takes about "
        f"{format_duration(expected_s)}, and do {others}."
    )


def extend(n_repetitions: int, expected_s: float) -> None:
    """Count in repetitions that nobody knew of at the start: those of added sizes."""
    path = Path(os.environ.get(VARIABLE, ""))
    with suppress(OSError, ValueError, TypeError):  # as in `count_in`: the count is a courtesy
        progress = Progress(**json.loads(path.read_text(encoding="utf-8")))
        progress = replace(
            progress,
            total=progress.total + n_repetitions,
            expected_s=progress.expected_s + expected_s,
        )
        path.write_text(json.dumps(asdict(progress)), encoding="utf-8")


def count_in(line: str, pace: Pace, settings: Mapping[str, Any]) -> str:
    """Count a finished repetition, if somebody counts, and return its line with what is left.

    Parameters
    ----------
    line
        The repetition and its result in words.
    pace
        That of its study.
    settings
        Have `warmup_s` and `duration_s` [s].
    """
    path = Path(os.environ.get(VARIABLE, ""))
    now_s = time.monotonic()
    expected_s = pace.expected_s(settings["warmup_s"] + settings["duration_s"])
    try:
        progress = Progress(**json.loads(path.read_text(encoding="utf-8")))
        progress = progress.after(expected_s, now_s)
        path.write_text(json.dumps(asdict(progress)), encoding="utf-8")
    except (OSError, ValueError, TypeError):
        return line  # nobody counts, or the disk is full; the count is a courtesy
    left = f"{progress.left} left"
    if progress.left:
        left += f", about {format_duration(progress.left_s(now_s))}"
    width = len(str(progress.total))
    return f"[{progress.done:{width}}/{progress.total}] {line}, {left}"


def say(line: str) -> None:
    """Print a line; where nobody reads any more (``./run | head``) the record still counts."""
    with suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), f"{line}\n".encode())  # nothing is left for the exit to flush


def count(n: int, noun: str) -> str:
    """Return a number with its noun: ``1 thread``, ``4 threads``."""
    return plural(n, noun)


def format_duration(seconds: float) -> str:
    """Return a duration as people say it: ``40 s``, ``6 min``, ``2 h 40 min``."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
