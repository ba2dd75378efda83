"""Conditions: what a cell is measured under, apart from what is compared.

A condition is everything of a cell apart from implementation, size, threads and repetition: the
testbed, where the bytes lie (the working set), how the other side receives and where both ends run
(the placement). The analysis is done per condition. Imports nothing heavy: the measuring process
needs it.
"""

import re
from dataclasses import dataclass
from typing import Self

from copycost.config.strategy_capabilities import RECEIVERS
from copycost.config.testbeds import (
    APART,
    NAME_PATTERN,
    PLACEMENTS,
    TESTBEDS,
    Transport,
    guests_on,
    receives_on,
    transport_of,
)
from copycost.errors import DataError

#: One message again and again, and a ring of messages larger than the last-level cache.
HOT = "hot"
COLD = "cold"

#: The plain receiver, which copies into a buffer.
RECV = "recv"

_SPECIAL_RECEIVERS = [name for name in RECEIVERS if name != RECV]
_SPECIAL_PLACEMENTS = [name for name in PLACEMENTS if name != APART]
_SLUG = re.compile(
    rf"(?P<testbed>{NAME_PATTERN})"
    rf"(_(?P<working_set>{COLD}|[1-9]\d*))?(_(?P<receiver>{'|'.join(_SPECIAL_RECEIVERS)}))?"
    rf"(_(?P<placement>{'|'.join(_SPECIAL_PLACEMENTS)}))?"
)


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """What a cell is measured under: where messages travel, and on which CPUs both ends run.

    The working set is ``hot``, ``cold``, or the size of the ring of messages in digits [bytes]; the
    receiver is ``recv``, without meaning, where nobody receives.
    """

    testbed: str
    working_set: str
    receiver: str
    placement: str = APART

    @property
    def slug(self) -> str:
        """Name for files and tables, without what is usual: ``veth``, ``wire-lab2_cold``."""
        parts = (self.working_set, HOT), (self.receiver, RECV), (self.placement, APART)
        return "_".join([self.testbed, *(part for part, usual in parts if part != usual)])

    @property
    def transport(self) -> Transport:
        """How messages travel."""
        return transport_of(self.testbed)

    @property
    def sender_only(self) -> bool:
        """Whether nobody receives, so that only the sender's cost can be told."""
        return not receives_on(self.testbed)

    @property
    def guests(self) -> int:
        """In how many virtual machines the ends run; 0 in none."""
        return guests_on(self.testbed)

    @classmethod
    def from_slug(cls, slug: str) -> Self:
        """Return the condition that has this name.

        Raises DataError if there is none.
        """
        match = _SLUG.fullmatch(slug)
        if match is None:
            raise DataError(
                f"{slug}: not a condition, which is a testbed ({', '.join(TESTBEDS)}), then "
                f"_{COLD} or _BYTES, then a receiver (_{', _'.join(_SPECIAL_RECEIVERS)}), then a "
                f"placement (_{', _'.join(_SPECIAL_PLACEMENTS)})"
            )
        return cls(
            match["testbed"],
            match["working_set"] or HOT,
            match["receiver"] or RECV,
            match["placement"] or APART,
        )
