"""How far a run is, and how long the rest takes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from copycost.snakefile.jobs import WORDS

# So many seconds as expected count with those that were: the first jobs may be odd ones.
_PRIOR_S = 5.0
_BAR_COLUMNS = 12


@dataclass(slots=True)
class Progress:
    """How far a run is, by kinds of jobs: repetitions, and the jobs of a rule that measures none.

    `counts` are the jobs of the run, one of which is expected to take `each_s` [s]; those that have
    ended were expected to take `done_s`, and took `took_s`. What may be chosen behind the grid
    takes about `ahead_s`. The run began at `started_s`, and the kind `at_work`, and nothing else,
    at `since_s` (CLOCK_MONOTONIC) [s]; it is empty before the first. `done` counts repetitions,
    `said` is the last result in words.
    """

    counts: dict[str, int]
    each_s: dict[str, float]
    started_s: float
    ahead_s: float = 0.0
    done: int = 0
    done_s: float = 0.0
    took_s: float = 0.0
    at_work: str = ""
    since_s: float = 0.0
    said: str = ""

    @property
    def total(self) -> int:
        """Repetitions that the run measures [count]."""
        return sum(n for kind, n in self.counts.items() if kind not in WORDS)

    @property
    def measuring_s(self) -> float:
        """How long all repetitions are expected to take [s]."""
        return sum(n * self.each_s[kind] for kind, n in self.counts.items() if kind not in WORDS)

    def left_s(self, now_s: float) -> float:
        """Return how long everything that is still to come takes, at the pace so far [s]."""
        pace = (_PRIOR_S + self.took_s) / (_PRIOR_S + self.done_s)
        expected_s = sum(n * self.each_s[kind] for kind, n in self.counts.items()) - self.done_s
        at_work_s = self.each_s.get(self.at_work, 0.0) * pace
        spent_s = min(now_s - self.since_s, at_work_s)
        return max((expected_s + self.ahead_s) * pace - spent_s, 0.0)

    def begin(self, kind: str, now_s: float) -> None:
        """Note that a job begins; what is between two repetitions counts to these."""
        if self.at_work in WORDS:  # it has ended by then
            self._end(now_s)
        if kind in WORDS or not self.at_work:
            self.since_s = now_s
        self.at_work = kind

    def end_repetition(self, now_s: float, said: str) -> tuple[str, str]:
        """Note that a repetition has ended; return its number of how many, and what is left."""
        self.done += 1
        self.said = said
        self._end(now_s)
        done, total, left_s = self.done, max(self.total, self.done), self.left_s(now_s)
        about = f", about {format_duration(left_s)}" if left_s else ""
        return f"[{done:{len(str(total))}}/{total}]", f"{total - done} left{about}"

    def line(self, doing: str, now_s: float) -> str:
        """Return all of it in a line: a bar, repetitions, the time left, what is done.

        `doing` is the job at work in words, empty while a repetition is measured.
        """
        spent_s, left_s = max(now_s - self.started_s, 0.0), self.left_s(now_s)
        n_full = round(_BAR_COLUMNS * spent_s / (spent_s + left_s)) if spent_s else 0
        parts = [f"[{'#' * n_full:.<{_BAR_COLUMNS}}]"]
        if self.total:
            parts.append(f"{self.done}/{self.total}")
        parts.append(f"{format_duration(left_s)} left")
        what = doing or re.sub(r", repetition \d+", "", self.said)
        return f"{' '.join(parts)}  {what}"

    def _end(self, now_s: float) -> None:
        self.done_s += self.each_s.get(self.at_work, 0.0)
        self.took_s += now_s - self.since_s
        self.since_s = now_s

    def extend(self, counts: Mapping[str, int], each_s: float) -> None:
        """Count in repetitions that a pass has chosen; where it chose none, none will follow."""
        for kind, n in counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + n
            self.each_s.setdefault(kind, each_s)
        chosen_s = sum(n * self.each_s[kind] for kind, n in counts.items())
        self.ahead_s = max(self.ahead_s - chosen_s, 0.0) if counts else 0.0


def format_duration(seconds: float) -> str:
    """Return a duration as people say it: ``40 s``, ``6 min``, ``2 h 40 min``."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
