"""What is done on a host at both edges of a window: read something, or tell a program something.

Who is on the same machine does it when an edge comes. A host far away is told the edges before they
come, does it by itself at these times of its own clock, and is asked what came of it afterwards: so
nothing travels within the window.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

# Several files and clocks are read one after the other. What took longer [ns] was held up in
# between, or is always that slow, as on an emulated CPU.
_ONE_MOMENT_NS = 5_000_000
_MOST_READINGS = 3

Reading = tuple[int, dict[str, str]]
"""What was read of several files: when [ns, the host's clock], and each file's text by its path."""

T = TypeVar("T")
_Out = TypeVar("_Out", covariant=True)


@dataclass(frozen=True, slots=True)
class ClockReading:
    """What a comparison of a host's clock with ours found."""

    offset_ns: int  # the other CLOCK_MONOTONIC less ours [ns]
    uncertainty_ns: int  # by how much that may be wrong [ns]


SAME_CLOCK = ClockReading(0, 0)
"""Where a clock is shared."""


class Clock(Protocol):
    """What is known of a host's clock."""

    @property
    def clock_offset_ns(self) -> int:
        """It less ours [ns]."""


class AtEdges(Protocol[_Out]):
    """Something that is done at both edges."""

    def plan(self, start_ns: int, end_ns: int) -> None:
        """Hear when the window will be [ns, the host's clock], and forget an earlier one."""

    def edge(self) -> None:
        """Hear that an edge has come."""

    def edges(self) -> Sequence[_Out]:
        """Return what came of it, the first edge first; to be asked after the second."""


def plan_on(host: Clock, at_edges: AtEdges[object], start_ns: int, end_ns: int) -> None:
    """Plan a window that is told in our clock [ns]."""
    at_edges.plan(start_ns + host.clock_offset_ns, end_ns + host.clock_offset_ns)


def of_one_moment(read: Callable[[], T]) -> T:
    """Read until it took but a moment, a few times at most, and return what was read fastest."""
    found: list[tuple[int, T]] = []
    while not found or (found[-1][0] > _ONE_MOMENT_NS and len(found) < _MOST_READINGS):
        began_ns = time.monotonic_ns()
        value = read()
        found.append((time.monotonic_ns() - began_ns, value))
    return min(found, key=lambda one: one[0])[1]


class DoneHere(Generic[T]):
    """Something that we do ourselves when an edge comes: an action for each of both."""

    def __init__(self, actions: Sequence[Callable[[], T]]) -> None:
        self._actions = actions
        self._found: list[T] = []

    def plan(self, start_ns: int, end_ns: int) -> None:
        """Forget what was of an earlier window."""
        self._found.clear()

    def edge(self) -> None:
        """Do what is to be done at this edge."""
        self._found.append(self._actions[len(self._found)]())

    def edges(self) -> Sequence[T]:
        """Return what came of it at the edges that have come."""
        return self._found
