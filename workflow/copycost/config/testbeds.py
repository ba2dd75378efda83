"""Testbeds and placements as data: what lies between two ends, and on which CPUs they run.

A testbed is one entry here and one file in `hosts/testbeds/`.

Everything else that has to know a testbed looks it up here: the grid which cells can exist, the
configuration what may be asked for, the doctor what to try, the report what to call it.

Over a wire there is a testbed per other machine: `wire-lab2` is `wire` to the peer called `lab2`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Transport = Literal["stream", "datagram"]
"""What the sockets are: TCP's or UDP's."""

APART, SAME, FREE = "apart", "same", "free"

PLACEMENTS: Mapping[str, str] = {
    APART: "both ends on different cores",
    SAME: "both ends on one CPU",
    FREE: "placed by the scheduler",
}
"""What each is, by name; the first is the usual one.

It moves throughput by a factor of two and round trips by more than ten. `copycost.hosts.placement`
chooses the CPUs.
"""


@dataclass(frozen=True, slots=True)
class TestbedEntry:
    """What is known of a testbed before it is built.

    `path` is a noun phrase without its name, in which ``{peer}`` stands for the other machine.
    Where it does not receive, only the sender's cost can be told.
    """

    transport: Transport
    path: str
    receives: bool = True
    own_addresses: bool = True  # of each side; our programs need that over UDP
    tools: tuple[str, ...] = ("ip",)  # of the host, to build it
    away: tuple[str, ...] = ()  # sides on another machine, which the facts of that are taken for
    guests: int = 0  # virtual machines that its ends run in
    without_guests: str | None = None  # the same path but for these, to tell what they cost


# What is one path for TCP and for UDP; over UDP, each is called NAME_udp.
_GUEST = TestbedEntry("stream", "", away=("sender", "receiver"), guests=1)
_WIRE = TestbedEntry("stream", "", tools=("ssh", "ip"), away=("receiver",))
_OVER_BOTH = {
    "loopback": TestbedEntry(
        "stream", "the host's own loopback device", own_addresses=False, tools=()
    ),
    "vm_loopback": replace(
        _GUEST,
        path="the loopback device of a virtual machine",
        own_addresses=False,
        tools=(),
        without_guests="loopback",
    ),
    "vm_pair": replace(
        _GUEST,
        path="two virtual machines joined by TAP devices and a bridge",
        guests=2,
        without_guests="veth",
    ),
    "vm_host": replace(
        _GUEST,
        path="a virtual machine that sends to its host through a TAP device and a bridge",
        away=("sender",),
        without_guests="veth",
    ),
    "wire": replace(_WIRE, path="the network to {peer}, to which this machine sends"),
    "wire_in": replace(
        _WIRE, path="the network to {peer}, which sends to this machine", away=("sender",)
    ),
}


def _over_udp(entry: TestbedEntry) -> TestbedEntry:
    without = entry.without_guests and f"{entry.without_guests}_udp"
    return replace(entry, transport="datagram", without_guests=without)


TESTBEDS: Mapping[str, TestbedEntry] = {
    "veth": TestbedEntry(
        "stream",
        "two network namespaces joined by a veth pair, offloads as the kernel sets them",
    ),
    "veth_no_offload": TestbedEntry(
        "stream",
        "a veth pair with segmentation and receive offloads (TSO, GSO, GRO) off",
        tools=("ip", "ethtool"),
    ),
    **_OVER_BOTH,
    "sink": TestbedEntry(
        "datagram",
        "a veth pair whose far end counts and drops what arrives before local delivery, so that"
        " zero-copy sends are not copied after all",
        receives=False,
        tools=("ip", "nft"),
    ),
    "veth_udp": TestbedEntry("datagram", "a veth pair whose packets may be as large as a datagram"),
    **{f"{name}_udp": _over_udp(entry) for name, entry in _OVER_BOTH.items()},
    "wire_sink": replace(
        _WIRE,
        transport="datagram",
        path="the network to {peer}, which counts and drops what this machine sends before"
        " local delivery",
        receives=False,
    ),
}
"""By name; `copycost.hosts.testbeds.testbed` says which module builds it."""


WIRES = tuple(name for name, entry in TESTBEDS.items() if entry.away and not entry.guests)
"""The testbeds over the network to another machine."""

_PEER = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"

NAME_PATTERN = "|".join((*TESTBEDS, *(f"{wire}-{_PEER}" for wire in WIRES)))
"""A regular expression of what a testbed may be called, with its peer where it has one."""


def peer_of(testbed: str) -> str | None:
    """Return what the other machine of a testbed is called; None where there is none."""
    wire, _, peer = testbed.partition("-")
    return peer if peer and wire in WIRES else None


def kind_of(testbed: str) -> str:
    """Return the name of a testbed in the table: without its peer."""
    return testbed.partition("-")[0] if peer_of(testbed) else testbed


def is_wire(testbed: str) -> bool:
    """Return whether a testbed is over the network to another machine."""
    return kind_of(testbed) in WIRES


def entry_of(testbed: str) -> TestbedEntry:
    """Return what is known of a testbed; of one that a table made elsewhere names, as of TCP."""
    return TESTBEDS.get(kind_of(testbed)) or TestbedEntry("stream", "")


def transport_of(testbed: str) -> Transport:
    """Return what the sockets of a testbed are."""
    return entry_of(testbed).transport


def path_of(testbed: str) -> str | None:
    """Return what a testbed is, as a noun phrase; None for one of a table made elsewhere."""
    return entry_of(testbed).path.format(peer=peer_of(testbed) or "another machine") or None


def receives_on(testbed: str) -> bool:
    """Return whether somebody receives on a testbed."""
    return entry_of(testbed).receives


def away_on(testbed: str) -> tuple[str, ...]:
    """Return the sides that run on another machine than this one."""
    return entry_of(testbed).away


def guests_on(testbed: str) -> int:
    """Return in how many virtual machines the ends of a testbed run; 0 in none."""
    return entry_of(testbed).guests


def kernels_on(testbed: str) -> int:
    """Return on how many kernels the ends of a testbed run: 2 where each has one of its own."""
    entry = entry_of(testbed)
    return 2 if entry.receives and (entry.guests == 2 or len(entry.away) == 1) else 1


def names_over(transport: Transport, *, receiving: bool = False) -> tuple[str, ...]:
    """Return the names of the testbeds over a transport, in order; only receiving ones if asked."""
    return tuple(
        name
        for name, entry in TESTBEDS.items()
        if entry.transport == transport and (entry.receives or not receiving)
    )
