"""Comparing the clock of another machine with ours."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClockReading:
    """What one comparison found.

    Attributes
    ----------
    offset_ns
        The other CLOCK_MONOTONIC less ours [ns].
    uncertainty_ns
        By how much that may be wrong [ns].
    """

    offset_ns: int
    uncertainty_ns: int


SAME_CLOCK = ClockReading(0, 0)
"""Where a clock is shared."""
