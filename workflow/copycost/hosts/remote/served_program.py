"""A program that an agent has started for a session."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from copycost.hosts.program import LocalProgram
from copycost.hosts.remote.messages import Message

# goes with the news that its program has ended; what is larger is sent when it is asked for
_LARGEST_NEWS_BYTES = 1 << 16


class ServedProgram:
    """A program whose end is noticed without waiting for it.

    As long as nobody has waited for it, its process group is its own, and may be killed with it.
    It `talks` as long as lines may come in, and `runs` until its end has been told. What is not
    here is asked of the `LocalProgram` itself.
    """

    def __init__(self, program: LocalProgram) -> None:
        self.program = program
        self.talks = program.launch.control
        self.runs = True

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Return what a `LocalProgram` has."""
        return getattr(self.program, name)

    def lines(self) -> list[str]:
        """Return the lines that have come in."""
        return list(iter(self.program.read_line, None))

    def paths(self) -> dict[str, str]:
        """Return the paths of its memory files."""
        return {name: self.program.file_path(name) for name in self.program.launch.files}

    def texts(self) -> dict[str, str]:
        """Return what it has printed."""
        return {"stdout": self.program.output(), "stderr": self.program.errors()}

    def left(self) -> Message:
        """Return what it has printed, its small memory files, and its exit code."""
        small = [
            name
            for name, path in self.paths().items()
            if Path(path).stat().st_size <= _LARGEST_NEWS_BYTES
        ]
        files = {name: self.program.file(name) for name in small}
        return {"code": self.exit_code(), "texts": self.texts(), "files": files}

    def exit_code(self) -> int | None:
        """Return its exit code, negative for a signal, and leave its process to be ended."""
        if self.program.exit_code is not None:
            return self.program.exit_code
        found = os.waitid(os.P_PID, self.program.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def signal(self, number: int) -> None:
        """Send it a signal; one that has ended gets none."""
        if self.exit_code() is None:
            self.program.signal(number)

    def hang_up(self) -> None:
        """Close its control line."""
        self.talks = False
        self.program.hang_up()

    def finish(self, grace_s: float) -> Message:
        """Make it end, and return what it left."""
        self.talks = self.runs = False
        self.program.end(grace_s)
        return {**self.left(), "killed": self.program.killed}

    def kill(self) -> None:
        """Kill it, while the main thread is busy with something else."""
        if self.program.exit_code is None:
            with suppress(ProcessLookupError):
                os.killpg(self.program.pid, signal.SIGKILL)
