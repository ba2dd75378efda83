"""What is done on a host at both edges of a window: read something, or tell a program something.

Who is on the same machine does it when an edge comes. A host far away is told the edges before they
come, does it by itself at these times of its own clock, and is asked what came of it afterwards: so
nothing travels within the window.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

# Several files and clocks are read one after the other. What took longer [ns] was held up in
# between, or is always that slow, as on an emulated CPU.
_ONE_MOMENT_NS = 5_000_000
_MOST_READINGS = 3

Reading = tuple[int, dict[str, str]]
"""What was read of several files: when [ns, the host's clock], and each file's text by its path."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ClockReading:
    """What a comparison of a host's clock with ours found."""

    offset_ns: int  # the other CLOCK_MONOTONIC less ours [ns]
    uncertainty_ns: int  # by how much that may be wrong [ns]


SAME_CLOCK = ClockReading(0, 0)
"""Where a clock is shared."""


def of_one_moment(read: Callable[[], T]) -> T:
    """Read until it took but a moment, a few times at most, and return what was read fastest."""
    found: list[tuple[int, T]] = []
    while not found or (found[-1][0] > _ONE_MOMENT_NS and len(found) < _MOST_READINGS):
        began_ns = time.monotonic_ns()
        value = read()
        found.append((time.monotonic_ns() - began_ns, value))
    return min(found, key=lambda one: one[0])[1]


class DoneHere(Generic[T]):
    """Something that we do ourselves when an edge comes: an action for each of both.

    `edges` is asked after the second.
    """

    def __init__(self, actions: Sequence[Callable[[], T]]) -> None:
        self._actions = actions
        self._found: list[T] = []

    def plan(self, start_ns: int, end_ns: int) -> None:
        """Hear when the window will be [ns, the host's clock], and forget an earlier one."""
        self._found.clear()

    def edge(self) -> None:
        """Do what is to be done at the edge that has come."""
        self._found.append(self._actions[len(self._found)]())

    def edges(self) -> Sequence[T]:
        """Return what came of it, the first edge first."""
        return self._found
