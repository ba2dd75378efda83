"""What ``./run`` says, and the log that has the words of the programs which it starts."""

import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from copycost.errors import CopycostError
from copycost.snakefile import interruption

INTERRUPTED = interruption.LINE.replace("copycost:", "run:")
LOG = Path("results/logs/setup.log")
_DOT_S = 4.0


class RunError(CopycostError):
    """What ends ``./run``, in a sentence."""


def say(sentence: str) -> None:
    """Print a sentence to stderr."""
    print(f"run: {sentence}", file=sys.stderr, flush=True)


def in_log(what: str, command: Sequence[str]) -> bool:
    """Run a command whose words go to the log, and show dots meanwhile; tell whether it worked."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    print(f"run: {what} ", end="", file=sys.stderr, flush=True)
    interruption.end_quietly(line=f"\n{INTERRUPTED}")
    over = threading.Event()

    def show_dots() -> None:
        while not over.wait(_DOT_S):
            print(".", end="", file=sys.stderr, flush=True)

    threading.Thread(target=show_dots, daemon=True).start()
    with LOG.open("a", encoding="utf-8") as log:
        print(f"$ {shlex.join(command)}", file=log, flush=True)
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as running:
            try:
                worked = running.wait() == 0
            finally:  # Ctrl-C reaches it as well: its end is waited for
                over.set()
    interruption.end_quietly(line=INTERRUPTED)
    print("done" if worked else "failed", file=sys.stderr, flush=True)
    return worked
