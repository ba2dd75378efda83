"""The section `wire` of the configuration: which other machines are measured with."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from copycost.config import structure as kinds

AUTO = "auto"
LINK, UNLIMITED = "link", "unlimited"
NO_PEER = "none"
"""In the place of a peer: there is no other machine."""

UdpRate = int | str

# a user before, and a port behind the name of a host, as ssh is told them
_AROUND = re.compile(r"^.*@|:\d+$")
_HARMFUL = re.compile(r"[^a-z0-9]+")
_LONGEST = 64

_DESTINATION = kinds.word(
    "none, or a machine as ssh is told it, such as user@other",
    r"[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,255}",
)
_ADDRESS = kinds.word("a numeric IPv4 address", r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
_SSH_OPTIONS = kinds.list_of(kinds.word("an option of ssh", most=4096), 0, 64, may_repeat=True)
_RATE = kinds.either({LINK: LINK, UNLIMITED: UNLIMITED}, kinds.number("Mbit/s", 1, 1_000_000))
_ALIAS = kinds.word(
    "auto, or a name of small letters, digits and -", r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?"
)
_PORTS = kinds.word("FIRST-LAST, as in 5201-5216", r"[1-9][0-9]{3,4}-[1-9][0-9]{3,4}")


@dataclass(frozen=True, slots=True)
class Peer:
    """Another machine."""

    peer: Annotated[str, _DESTINATION]
    address: Annotated[str, kinds.either({AUTO: AUTO}, _ADDRESS)] = AUTO
    ssh_options: Annotated[tuple[str, ...], _SSH_OPTIONS] = ()
    udp_mbit_per_s: Annotated[UdpRate, _RATE] = LINK
    alias: Annotated[str, _ALIAS] = AUTO
    ports: Annotated[str, kinds.either({AUTO: AUTO}, _PORTS)] = AUTO

    @property
    def port_range(self) -> tuple[int, int] | None:
        """The first and the last port; None for any."""
        first, _, last = self.ports.partition("-")
        return None if self.ports == AUTO else (int(first), int(last))

    @property
    def name(self) -> str:
        """What paths and the report call it: small letters, digits and ``-``."""
        if self.alias != AUTO:
            return self.alias
        host = _AROUND.sub("", self.peer).lower()
        return _HARMFUL.sub("-", host)[:_LONGEST].strip("-") or "peer"


# of a machine of which nothing else is stated, as YAML has it
_UNSAID = {key: value for key, value in kinds.to_plain(Peer("")).items() if key != "peer"}


@dataclass(frozen=True, slots=True)
class Wire(Peer):
    """The other machines of the testbeds over a wire: one, and more."""

    more: Annotated[tuple[Peer, ...], kinds.list_of(kinds.section(Peer), 0, 16)] = ()

    def peers(self) -> dict[str, Peer]:
        """Return all of them by their names."""
        first = Peer(*(getattr(self, each.name) for each in fields(Peer)))
        there = [one for one in (first, *self.more) if one.peer != NO_PEER]
        return {one.name: one for one in there}


def wire_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section with what a later source says of it.

    What is stated of a machine holds for it alone: where another one is named, none of that is its
    own, unless `below` names it too. What is stated beside no peer is of whoever is named.
    """
    if "peer" not in above:
        return {**below, **above}
    named, further = above["peer"], below.get("more") or ()
    stated = {one.get("peer"): _own(one) for one in (*further, below)}
    is_same = below.get("peer") in (named, NO_PEER)
    if "more" in above:
        more = [{**stated.get(one["peer"], {}), **one} for one in above["more"]]
    else:
        more = [one for one in further if is_same and one["peer"] != named]
    return {**(below if is_same else _UNSAID | stated.get(named, {})), **above, "more": more}


def _own(machine: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in machine.items() if key != "more"}


def peer_named(name: str, section: Mapping[str, Any]) -> Peer:
    """Return a machine with what the section states of it.

    Raises ValueError or AttributeError if the section is none that the check of the configuration
    would let through.
    """
    said = wire_over(section, {"peer": name})
    return kinds.from_plain(_own(said), Peer)
