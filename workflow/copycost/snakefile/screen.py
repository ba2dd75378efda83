"""Shows how far a run is: on a terminal in a line that is written again, in a log in new ones."""

import threading
import time
from collections.abc import Mapping
from typing import Any

from copycost.snakefile import interruption, status_line
from copycost.snakefile.jobs import WORDS, kind_of
from copycost.snakefile.progress import Progress, format_duration

_PLANNING = "working out what is to be done"

# A line is written again so often [s].
_TICK_S = 1.0
# A log is silent for so long at most while no repetition is measured [s]; longer where somebody has
# been waiting for long: by this share of the time so far.
_SILENCE_S = 4.0
_SILENCE_SHARE = 0.2


class Screen:
    """Says what is done, as long as it is done, from a thread of its own.

    How far the run is it knows once that is known of what is to be done.
    """

    def __init__(self) -> None:
        self.how_far: Progress | None = None
        self._doing = ""
        self._since_s = 0.0
        self._said = ""
        self._said_s = 0.0
        self._ended = threading.Event()

    def begin(self) -> None:
        """Begin with working out what is to be done."""
        status_line.take_line()
        self._doing = _PLANNING
        self._since_s = self._said_s = time.monotonic()
        self._show()
        threading.Thread(target=self._run, daemon=True).start()

    def begin_job(self, rule: str, wildcards: Mapping[str, str]) -> None:
        """Take note of a job that begins."""
        now_s, doing = time.monotonic(), WORDS.get(rule, "")
        if self.how_far is not None:
            self.how_far.begin(kind_of(rule, wildcards), now_s)
        if doing != self._doing:
            self._doing, self._since_s = doing, now_s
        if doing and doing != self._said and not status_line.is_live:
            self._say(f"copycost: {doing}")
            self._said = doing

    def hear(self, news: Mapping[str, Any]) -> None:
        """Take note of what a script tells, and say it.

        Where the progress has a line of its own on a terminal, a result is said there, and only
        what was not measured stays.
        """
        match news:
            case {"line": line}:
                self._say(line)
            case {"result": line} if self.how_far is not None:
                place, left = self.how_far.end_repetition(time.monotonic(), line)
                if not status_line.is_live:
                    self._say(f"{place} {line}, {left}")
                elif ": FAILED, " in line or ": SKIPPED, " in line:  # as `describe_result` says it
                    self._say(f"{place} {line}")
            case {"chosen": counts, "each_s": each_s} if self.how_far is not None:
                self.how_far.extend(counts, each_s)

    def end(self) -> None:
        """Leave the terminal to others."""
        self._ended.set()
        status_line.give_line_back()

    def _run(self) -> None:
        while not self._ended.wait(_TICK_S) and not interruption.happened:
            self._show()

    def _show(self) -> None:
        now_s = time.monotonic()
        spent_s = now_s - self._since_s
        if status_line.is_live:
            how_far = self.how_far
            status_line.show_line(
                how_far.line(self._doing, now_s) if how_far else f"copycost: {self._doing}"
            )
        elif self._doing and now_s - self._said_s >= max(_SILENCE_S, _SILENCE_SHARE * spent_s):
            self._say(f"copycost: still {self._doing}, {format_duration(spent_s)}")

    def _say(self, line: str) -> None:
        self._said_s = time.monotonic()
        status_line.say(line)


SCREEN = Screen()
"""That of this process."""
