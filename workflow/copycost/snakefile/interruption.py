"""What Ctrl-C does: one line at once, an orderly end, and no traceback."""

import logging
import os
import signal
import sys
import threading
import warnings
from types import FrameType
from typing import NoReturn

from copycost.snakefile import terminal

EXIT_CODE = 130
"""What a shell makes of SIGINT."""

SAID = 125
"""Exit status after a Ctrl-C that Snakemake's process has said; of all others ``./run`` says it."""

LINE = "copycost: interrupted; what was measured stays, and the same command goes on from here.\n"


class _State:
    """What is to be said, how the process ends, and whether there was a Ctrl-C."""

    line = ""
    exit_code = EXIT_CODE
    interrupted = False


def end_quietly(*, line: str = "", exit_code: int = EXIT_CODE) -> None:
    """Let Ctrl-C end this process with a line; a second one ends it without any clearing up.

    Nothing is said where somebody else says it; of exit codes, the first one that was given counts.
    """
    if signal.getsignal(signal.SIGINT) is not _interrupt:
        _State.exit_code = exit_code
        signal.signal(signal.SIGINT, _interrupt)
    _State.line = line


def was_interrupted() -> bool:
    """Return whether there was a Ctrl-C."""
    return _State.interrupted


def end() -> NoReturn:
    """End after an interruption, once others have ended."""
    raise SystemExit(_State.exit_code)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if _State.interrupted:
        os._exit(_State.exit_code)
    _State.interrupted = True
    # whatever breaks off now has its reason in this line
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    sys.excepthook = sys.unraisablehook = threading.excepthook = _say_nothing
    terminal.clear_line()
    terminal.write(sys.stderr, _State.line)
    raise SystemExit(_State.exit_code)


def _say_nothing(*_about: object) -> None:
    pass
