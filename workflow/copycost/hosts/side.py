"""The sides of a path while it is measured, and all parties that use CPU time for it.

Those are the sides, and where these run in guests, what is around them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from copycost.hosts.host import Host, Program

SideName = Literal["sender", "receiver"]
SIDES: tuple[SideName, ...] = ("sender", "receiver")

_REST, _HYPERVISOR = "guest", "qemu"

PARTIES = (
    *SIDES,
    *(f"{side}_{_REST}" for side in SIDES),
    _REST,
    *(f"{side}_{_HYPERVISOR}" for side in SIDES),
    _HYPERVISOR,
)
"""All that there can be, in the order in which they are told. ``sender_guest`` is what runs in the
sender's guest besides the sender: interrupts and the kernel's own threads; ``sender_qemu`` is the
process of its hypervisor. A guest that both sides run in has ``guest`` and ``qemu``."""

REFERENCES = tuple(f"reference_{side}" for side in SIDES)
"""The sides of the reference, where a repetition measures a way in turns with one."""


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


def rest_of_guest(sides: Sequence[SideName]) -> str:
    """Return the party that a guest is but for the sides that run in it."""
    return _REST if len(sides) > 1 else f"{sides[0]}_{_REST}"


def hypervisor_of(sides: Sequence[SideName]) -> str:
    """Return the party that the hypervisor of a guest is, by the sides that run in it."""
    return _HYPERVISOR if len(sides) > 1 else f"{sides[0]}_{_HYPERVISOR}"


def parties_of(guests: Sequence[Sequence[SideName]], *, receives: bool = True) -> tuple[str, ...]:
    """Return the parties of a path, by the sides that run in each of its guests."""
    found: set[str] = {*(SIDES if receives else SIDES[:1])}
    found.update(part(sides) for sides in guests for part in (rest_of_guest, hypervisor_of))
    return tuple(party for party in PARTIES if party in found)


def is_hypervisor(party: str) -> bool:
    """Tell whether a party is a hypervisor's process."""
    return party.endswith(_HYPERVISOR)


def is_rest(party: str) -> bool:
    """Tell whether a party is what a guest does besides its sides."""
    return party.endswith(_REST)


def is_inside(party: str, parties: Collection[str]) -> bool:
    """Tell whether a party runs in a guest; `parties` are all that there are."""
    guests = {_REST, f"{side_near(party)}_{_REST}"}
    return not is_hypervisor(party) and not guests.isdisjoint(parties)


def side_near(party: str) -> SideName:
    """Return the side whose part of the path a party is on; the sender's where it is on both."""
    return "receiver" if party.startswith("receiver") else "sender"
