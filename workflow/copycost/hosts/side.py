"""One side of a path while it is measured: its programs, and the host that they run on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from copycost.hosts.host import Host, Program

SideName = Literal["sender", "receiver"]
SIDES: tuple[SideName, ...] = ("sender", "receiver")


@dataclass(frozen=True, slots=True)
class Side:
    """What an observer may look at."""

    name: SideName
    host: Host  # where it runs
    programs: Sequence[Program]  # what makes or takes its traffic; wrappers such as perf included
    ports: Sequence[int] = ()  # ports that its sockets are bound to, as far as they are known
    # whether all that had arrived has been read when its programs have ended
    reads_to_the_end: bool = False
    # what its samples are called, if not as the side: those of a reference are apart
    party: str = ""

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of what is measured, below its wrappers; HostError if one is gone."""
        return tuple(
            one.child_pid() if one.launch.words[0] != one.launch.program else one.pid
            for one in self.programs
        )
