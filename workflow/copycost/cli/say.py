"""What ``./run`` says, and the log that has the words of the programs which it starts."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from copycost.errors import CopycostError
from copycost.snakefile import interruption

INTERRUPTED = interruption.LINE.replace("copycost:", "run:")
EXIT_FAILED_REPETITIONS = 3
LOG = Path("results/logs/setup.log")


class RunError(CopycostError):
    """What ends ``./run``, in a sentence."""


def say(sentence: str) -> None:
    """Print a sentence to stderr."""
    print(f"run: {sentence}", file=sys.stderr, flush=True)


def in_log(what: str, command: Sequence[str]) -> bool:
    """Run a command whose words go to the log; tell whether it worked."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    print(f"run: {what} ... ", end="", file=sys.stderr, flush=True)
    interruption.end_quietly(line=f"\n{INTERRUPTED}")
    with LOG.open("a", encoding="utf-8") as log:
        print(f"$ {shlex.join(command)}", file=log, flush=True)
        # Ctrl-C reaches it as well, and its end is waited for
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as running:
            worked = running.wait() == 0
    interruption.end_quietly(line=INTERRUPTED)
    print("done" if worked else "failed", file=sys.stderr, flush=True)
    return worked


def works(*command: str) -> bool:
    """Tell whether a command can be run, and ends well."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
