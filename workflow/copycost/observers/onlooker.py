"""Somebody who looks at both sides while they are measured: a sampler of call stacks, say."""

from collections.abc import Sequence
from typing import Protocol

from copycost.drivers.programs.side import Side


class Onlooker(Protocol):
    """What a measurement tells an onlooker, in this order.

    An onlooker disturbs, so timed repetitions have none. One that cannot do its work keeps the
    reason to itself and lets the repetition go on.
    """

    def attach(self, sides: Sequence[Side]) -> None:
        """Look at the sides, which are ready and idle; the window is planned once this returns."""

    def window_begins(self) -> None:
        """Hear that the window has just begun."""

    def window_ends(self) -> None:
        """Hear that the window has just ended; the sides still run."""
