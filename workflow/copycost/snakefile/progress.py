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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from copycost.snakefile import terminal

VARIABLE = "COPYCOST_PROGRESS"


# So many repetitions as expected count with those that were: the first one alone may be an odd one.
_N_EXPECTED = 3


@dataclass(slots=True)
class Kind:
    """Repetitions, or the jobs of a rule that measures none, that take about equally long.

    Of `total` [count] so many are done, whatever became of them; one is expected to take `each_s`,
    and those that are finished took `took_s` together [s].
    """

    total: int
    each_s: float
    done: int = 0
    took_s: float = 0.0
    measures: bool = True

    @property
    def pace_s(self) -> float:
        """How long one takes, as it was expected and as it was [s]."""
        return (_N_EXPECTED * self.each_s + self.took_s) / (_N_EXPECTED + self.done)

    @property
    def left_s(self) -> float:
        """How long the rest takes [s]."""
        return max(self.total - self.done, 0) * self.pace_s

    def end_one(self, took_s: float) -> None:
        """Note that one has ended, which took so long [s]."""
        self.done += 1
        self.total = max(self.total, self.done)
        self.took_s += took_s


@dataclass(slots=True)
class Progress:
    """How far a run is, by kind and rule.

    What may be chosen behind the grid takes about `ahead_s` [s]. The run began at `started_s`, and
    the kind or rule `at_work`, and nothing else, at `since_s` (CLOCK_MONOTONIC) [s]; it is empty
    before the first. `said` is the last result in words.
    """

    kinds: dict[str, Kind]
    ahead_s: float
    started_s: float
    at_work: str = ""
    since_s: float = 0.0
    said: str = ""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the progress that was written down."""
        kinds = {name: Kind(**one) for name, one in values["kinds"].items()}
        return cls(**{**values, "kinds": kinds})

    @property
    def repetitions(self) -> list[Kind]:
        """The kinds of repetitions."""
        return [kind for kind in self.kinds.values() if kind.measures]

    @property
    def total(self) -> int:
        """Repetitions that the run measures [count]."""
        return sum(kind.total for kind in self.repetitions)

    @property
    def done(self) -> int:
        """Repetitions that are finished [count]."""
        return sum(kind.done for kind in self.repetitions)

    def left_s(self, now_s: float) -> float:
        """Return how long everything that is still to come takes [s]."""
        left_s = sum(kind.left_s for kind in self.kinds.values()) + self.ahead_s
        if self.at_work in self.kinds:
            left_s -= min(now_s - self.since_s, self.kinds[self.at_work].pace_s)
        return max(left_s, 0.0)

    def begin(self, name: str, now_s: float, *, measures: bool) -> None:
        """Note that a repetition of a kind, or another job of a rule, begins.

        What is between two repetitions counts as well; another job has ended by then.
        """
        before = self.kinds.get(self.at_work)
        if before is None or not (before.measures and measures):
            if before is not None and not before.measures:
                before.end_one(now_s - self.since_s)
            self.since_s = now_s
        self.at_work = name

    def end_repetition(self, now_s: float) -> None:
        """Note that a repetition has ended."""
        kind = self.kinds.get(self.at_work)
        if kind is None or not kind.measures:
            kind = self.kinds.setdefault("", Kind(0, 0.0))
        kind.end_one(now_s - self.since_s)
        self.since_s = now_s

    def extend(self, kinds: Mapping[str, Kind]) -> None:
        """Count in repetitions that a pass has chosen; where it chose none, none will follow."""
        for name, more in kinds.items():
            self.kinds.setdefault(name, Kind(0, more.each_s)).total += more.total
        chosen_s = sum(more.total * more.each_s for more in kinds.values())
        self.ahead_s = max(self.ahead_s - chosen_s, 0.0) if kinds else 0.0


@dataclass(slots=True)
class Counter:
    """The file in which is counted."""

    path: Path = field(default_factory=lambda: Path(os.environ.get(VARIABLE, "")))

    def read(self) -> Progress | None:
        """Return the progress; None where nobody counts, or it is just being written."""
        try:
            return Progress.from_dict(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def write(self, progress: Progress) -> None:
        """Write the progress down; on a full disk nothing happens: the count is a courtesy."""
        with suppress(OSError):
            self.path.write_text(json.dumps(asdict(progress)), encoding="utf-8")


def begin(path: Path, progress: Progress) -> None:
    """Start counting in a file, and let scripts find it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.environ[VARIABLE] = str(path)
    Counter(path).write(progress)


def extend(kinds: Mapping[str, Kind]) -> None:
    """Count in repetitions that were chosen behind the grid."""
    counter = Counter()
    progress = counter.read()
    if progress is not None:
        progress.extend(kinds)
        counter.write(progress)


def count_in(line: str) -> str:
    """Count a finished repetition, if somebody counts, and return its line with what is left.

    Where the progress has a line of its own on a terminal, the result is noted for that line, and
    only what was not measured is returned.
    """
    counter = Counter()
    progress = counter.read()
    if progress is None:
        return line
    now_s = time.monotonic()
    progress.end_repetition(now_s)
    progress.said = line
    counter.write(progress)
    total = progress.total
    place = f"[{progress.done:{len(str(total))}}/{total}]"
    if terminal.has_line():
        return f"{place} {line}" if _FAILED in line or _SKIPPED in line else ""
    left = total - progress.done
    left_s = progress.left_s(now_s)
    about = f", about {format_duration(left_s)}" if left_s else ""
    return f"{place} {line}, {left} left{about}"


_FAILED, _SKIPPED = ": FAILED, ", ": SKIPPED, "  # as `results` says it


def say(line: str) -> None:
    """Print a line; where nobody reads any more (``./run | head``) the record still counts."""
    if line:
        terminal.clear_line()
        terminal.write(sys.stdout, f"{line}\n")  # nothing is left for the exit to flush


def format_duration(seconds: float) -> str:
    """Return a duration as people say it: ``40 s``, ``6 min``, ``2 h 40 min``."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def format_range(least_s: float, most_s: float) -> str:
    """Return what lies between two durations: ``11 to 13 min``, ``40 s``, ``80 s to 2 min``."""
    least, most = format_duration(least_s), format_duration(most_s)
    if least == most:
        return most
    number, _, unit = least.partition(" ")
    return f"{number if most.endswith(f' {unit}') and ' ' not in unit else least} to {most}"
