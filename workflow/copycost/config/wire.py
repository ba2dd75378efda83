"""The section `wire` of the configuration: which other machine is measured with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wire:
    """The other machine of the testbeds ``wire`` and ``wire_in``.

    Attributes
    ----------
    peer
        As ssh is told it, ``user@other`` or an alias; ``none`` for no other machine.
    address
        The address there that bytes are to go to; ``auto`` takes the one that ssh reaches.
    """

    peer: str
    address: str
