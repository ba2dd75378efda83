"""One of our programs while it runs, maybe under perf, and what it left when it ended."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from copycost.hosts.host import Program
from copycost.hosts.side import SideName

# exit codes of the programs (`--help` states them)
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 77
_SIGNALS = {signal.strsignal(number): number for number in signal.valid_signals()}
# before what the programs tell of them
_UNKNOWN_PEERS = ": unknown peers: "
# what perf itself says on stderr each time it is switched
_PERF_CHATTER = ("Events enabled", "Events disabled")


@dataclass(frozen=True, slots=True)
class RunningSide:
    """A sender or receiver of ours that was started; perf may be between us and it."""

    name: SideName
    program: Program

    @property
    def under_perf(self) -> bool:
        """Whether perf is between us and the program."""
        launch = self.program.launch
        return launch.words[0] != launch.program

    @property
    def exit_code(self) -> int:
        """Its exit code; to be asked after its end."""
        code = self.program.exit_code
        assert code is not None, "asked before its end"
        return code

    def errors(self) -> list[str]:
        """Return the lines on stderr, without what perf says each time it is switched."""
        lines = [line.strip() for line in self.program.errors().splitlines()]
        return [line for line in lines if line and line not in _PERF_CHATTER]

    def ended_by_signal(self) -> int | None:
        """Return the signal that killed the program (or perf above it), None if there was none.

        To be asked after its end; our own killing does not count. perf ends with 0 when its program
        was killed, and only says so: ``./sender: Killed``.
        """
        if self.program.killed:
            return None
        if self.exit_code < 0:
            return -self.exit_code
        if self.under_perf and not self.program.output():
            for line in self.errors():
                # the program's own lines begin otherwise, and "Broken pipe" may be an error too
                words = line.removeprefix(f"{self.program.launch.program}: ")
                if words != line and words in _SIGNALS:
                    return int(_SIGNALS[words])
        return None

    @property
    def last_words(self) -> str:
        """The program's last line on stderr, which begins with its name; '' if there is none.

        What it tells of unknown peers explains no end.
        """
        own = [line for line in self.errors() if line.startswith(f"{self.name}:")]
        own = [line for line in own if _UNKNOWN_PEERS not in line]
        return own[-1] if own else ""

    def unknown_peers(self) -> str:
        """Return who else came to the program's port, by address and count; '' if nobody did."""
        told = (
            line.partition(_UNKNOWN_PEERS)[2] for line in self.errors() if _UNKNOWN_PEERS in line
        )
        return "; ".join(told)


def end_sides(sides: Sequence[RunningSide], grace_s: float) -> None:
    """Make several sides end, at the same time."""
    for side in sides:
        side.program.hang_up()
    for side in sides:
        side.program.end(grace_s)
