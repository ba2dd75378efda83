"""The section `wire` of the configuration: which other machines are measured with."""

import re
from dataclasses import dataclass, fields

AUTO = "auto"
LINK, UNLIMITED = "link", "unlimited"
NO_PEER = "none"
"""In the place of a peer: there is no other machine."""

UdpRate = int | str

# a user before, and a port behind the name of a host, as ssh is told them
_AROUND = re.compile(r"^.*@|:\d+$")
_HARMFUL = re.compile(r"[^a-z0-9]+")
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Peer:
    """Another machine.

    Attributes
    ----------
    peer
        As ssh is told it, ``user@other`` or an alias; ``none`` for no other machine.
    address
        The address there that bytes are to go to; ``auto`` takes the one that ssh reaches.
    ssh_options
        More options of ssh.
    udp_mbit_per_s
        What UDP senders may send at most, with all headers [Mbit/s]; ``link`` for as much as the
        link carries (nothing where no device tells), ``unlimited`` for as much as they can.
    alias
        What paths and the report call it; ``auto`` makes that of `peer`.
    ports
        Where programs listen: ``FIRST-LAST``, or ``auto`` for any port that is free.
    """

    peer: str
    address: str = AUTO
    ssh_options: tuple[str, ...] = ()
    udp_mbit_per_s: UdpRate = LINK
    alias: str = AUTO
    ports: str = AUTO

    @property
    def port_range(self) -> tuple[int, int] | None:
        """The first and the last port; None for any."""
        return None if self.ports == AUTO else port_range_of(self.ports)

    @property
    def name(self) -> str:
        """What paths and the report call it: small letters, digits and ``-``."""
        if self.alias != AUTO:
            return self.alias
        host = _AROUND.sub("", self.peer).lower()
        return _HARMFUL.sub("-", host)[:_LONGEST].strip("-") or "peer"


@dataclass(frozen=True, slots=True)
class Wire(Peer):
    """The other machines of the testbeds over a wire: one, and more.

    Attributes
    ----------
    more
        Further ones, with which everything over a wire is measured too.
    """

    more: tuple[Peer, ...] = ()

    def peers(self) -> dict[str, Peer]:
        """Return all of them by their names."""
        first = Peer(*(getattr(self, each.name) for each in fields(Peer)))
        there = [one for one in (first, *self.more) if one.peer != NO_PEER]
        return {one.name: one for one in there}


def port_range_of(text: str) -> tuple[int, int]:
    """Return the first and the last port of a text such as ``5201-5210``."""
    first, _, last = text.partition("-")
    return int(first), int(last)
