"""What a script tells the run that it belongs to: results, and what is to be measured next."""

import json
import socket
from collections.abc import Mapping
from contextlib import suppress

from copycost.snakefile import status_line

_run: socket.socket | None = None


def tell_by(line: socket.socket) -> None:
    """Let what this process tells go to the process of the run, by a socket that keeps messages."""
    global _run
    _run = line


def tell_result(line: str) -> None:
    """Tell that a repetition has ended, and its result in a line."""
    _tell({"result": line}, line)


def tell(line: str) -> None:
    """Tell what else there is to say."""
    _tell({"line": line}, line)


def tell_chosen(counts: Mapping[str, int], each_s: float) -> None:
    """Tell what a pass chose: repetitions by their kind, each of which takes so long [s]."""
    _tell({"chosen": counts, "each_s": each_s}, "")


def _tell(news: Mapping[str, object], line: str) -> None:
    """Tell the run; a script that belongs to none writes the line itself."""
    if _run is not None:
        with suppress(OSError):  # the run was killed: the record still counts
            _run.send(json.dumps(news).encode())
    elif line:
        status_line.say(line)
