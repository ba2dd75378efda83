"""What Ctrl-C does: one line at once, an orderly end, and no traceback."""

import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from copycost.snakefile import status_line

EXIT_CODE = 130
"""What a shell makes of SIGINT."""

SAID = 125
"""Exit status after a Ctrl-C that Snakemake's process has said; of all others ``./run`` says it."""

LINE = "copycost: interrupted; what was measured stays, and the same command goes on from here.\n"


happened = False
"""Whether there was a Ctrl-C."""

_line = ""
_exit_code = EXIT_CODE


def end_quietly(*, line: str = "", exit_code: int = EXIT_CODE) -> None:
    """Let Ctrl-C end this process with a line; a second one ends it without any clearing up.

    Nothing is said where somebody else says it; of exit codes, the first one that was given counts.
    """
    global _line, _exit_code
    if signal.getsignal(signal.SIGINT) is not _interrupt:
        _exit_code = exit_code
        signal.signal(signal.SIGINT, _interrupt)
    _line = line


def end() -> NoReturn:
    """End after an interruption, once others have ended."""
    raise SystemExit(_exit_code)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C back from what the block starts, until that lets it through."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    global happened
    if happened:
        os._exit(_exit_code)
    happened = True
    # whatever breaks off now has its reason in this line
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    sys.excepthook = sys.unraisablehook = threading.excepthook = _say_nothing
    status_line.clear_line()
    status_line.write(sys.stderr, _line)
    raise SystemExit(_exit_code)


def _say_nothing(*_about: object) -> None:
    pass
