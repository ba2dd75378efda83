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
    ssh_options
        More options of ssh.
    """

    peer: str
    address: str
    ssh_options: tuple[str, ...] = ()
