"""The last line of a terminal, which a run writes again and again: how far it is."""

import os
import sys
from contextlib import suppress
from typing import TextIO

_FEWEST_COLUMNS = 20
_CLEAR = "\r\x1b[K"

is_live = False
"""Whether the last line of the terminal is one that this process writes again and again."""


def take_line() -> None:
    """Write the last line again from now on, unless standard output has none that can be."""
    global is_live
    is_live = sys.stdout.isatty() and os.environ.get("TERM") not in (None, "dumb")


def give_line_back() -> None:
    """Clear the last line, and let it be one like the others."""
    global is_live
    clear_line()
    is_live = False


def show_line(text: str) -> None:
    """Write the last line again; what has no room is left out."""
    with suppress(OSError):
        columns = max(os.get_terminal_size(sys.stdout.fileno()).columns, _FEWEST_COLUMNS)
        # a full line would begin the next; back at its beginning, whoever knows nothing of it and
        # says something writes over it
        write(sys.stdout, f"\r{text[: columns - 1]}\x1b[K\r")


def clear_line() -> None:
    """Make room for a line that stays."""
    if is_live:
        write(sys.stdout, _CLEAR)


def say(line: str) -> None:
    """Write a line that stays."""
    write(sys.stdout, f"{_CLEAR if is_live else ''}{line}\n")


def write(stream: TextIO, text: str) -> None:
    """Write to a stream at once, whatever became of its reader."""
    with suppress(OSError, ValueError):
        os.write(stream.fileno(), text.encode())
