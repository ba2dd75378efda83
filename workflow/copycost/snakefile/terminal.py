"""The last line of a terminal, which several processes share: the progress of a run.

The process that shows it says so in an environment variable, so that its scripts clear the line
before they say something of their own.
"""

import os
import sys
from contextlib import suppress
from typing import TextIO

VARIABLE = "COPYCOST_LIVE_LINE"

_FEWEST_COLUMNS = 20
_CLEAR = "\r\x1b[K"


def has_line() -> bool:
    """Return whether the last line of the terminal is one that is written again and again."""
    return VARIABLE in os.environ


def take_line() -> None:
    """Let this process, and those that it starts, know that the last line is written again.

    Unless standard output is no terminal on which it can be.
    """
    if sys.stdout.isatty() and os.environ.get("TERM") not in (None, "dumb"):
        os.environ[VARIABLE] = "yes"


def give_line_back() -> None:
    """Clear the last line, and let it be one like the others."""
    clear_line()
    os.environ.pop(VARIABLE, None)


def show_line(text: str) -> None:
    """Write the last line again; what has no room is left out."""
    with suppress(OSError):
        columns = max(os.get_terminal_size(sys.stdout.fileno()).columns, _FEWEST_COLUMNS)
        # a full line would begin the next; back at its beginning, whoever knows nothing of it and
        # says something writes over it
        write(sys.stdout, f"\r{text[: columns - 1]}\x1b[K\r")


def clear_line() -> None:
    """Make room for a line that stays."""
    if has_line():
        write(sys.stdout, _CLEAR)


def say(line: str) -> None:
    """Print a line that stays."""
    print(f"{_CLEAR if has_line() else ''}{line}", flush=True)


def write(stream: TextIO, text: str) -> None:
    """Write to a stream at once, whatever became of its reader."""
    with suppress(OSError, ValueError):
        os.write(stream.fileno(), text.encode())
