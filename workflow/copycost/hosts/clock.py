"""Comparing the clock of another machine with ours."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClockReading:
    """What one comparison found."""

    offset_ns: int  # the other CLOCK_MONOTONIC less ours [ns]
    uncertainty_ns: int  # by how much that may be wrong [ns]


SAME_CLOCK = ClockReading(0, 0)
"""Where a clock is shared."""


CLOCK_SHARE = 0.01
"""By more of a window nobody may be wrong of when it was on another machine."""


def shortest_window_s(uncertainty_ns: int) -> float:
    """Return how long a window has to be, with a clock that is known so well [s]; to a tenth.

    On a slow path it is the way there and back that decides, half of which is not known.
    """
    return math.ceil(uncertainty_ns / CLOCK_SHARE / 1e8) / 10
