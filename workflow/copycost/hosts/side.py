"""One side of a path while it is measured: its programs, and the host that they run on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from copycost.hosts.host import Host, Program

SideName = Literal["sender", "receiver"]
SIDES: tuple[SideName, ...] = ("sender", "receiver")


@dataclass(frozen=True, slots=True)
class Side:
    """What an observer may look at.

    Attributes
    ----------
    name
        Which side.
    host
        Where it runs.
    programs
        What makes or takes its traffic; wrappers such as perf included.
    ports
        Ports that its sockets are bound to, as far as they are known.
    reads_to_the_end
        Whether all that had arrived has been read when its programs have ended.
    party
        What its samples are called, if not as the side: those of a reference are apart.
    """

    name: SideName
    host: Host
    programs: Sequence[Program]
    ports: Sequence[int] = ()
    reads_to_the_end: bool = False
    party: str = ""

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of what is measured, below its wrappers; HostError if one is gone."""
        return tuple(
            one.child_pid() if one.launch.words[0] != one.launch.program else one.pid
            for one in self.programs
        )
