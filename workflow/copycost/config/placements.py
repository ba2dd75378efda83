"""Placements: on which CPUs the two ends of a connection run, as data.

It moves throughput by a factor of two and round trips by more than ten, so it is a condition of its
own. `copycost.hosts.placement` chooses the CPUs.
"""

from collections.abc import Mapping
from types import MappingProxyType

APART = "apart"
SAME = "same"
FREE = "free"

PLACEMENTS: Mapping[str, str] = MappingProxyType(
    {
        APART: "both ends on different cores",
        SAME: "both ends on one CPU",
        FREE: "placed by the scheduler",
    }
)
"""What each is, by name; the first is the usual one."""
