"""What the testbeds over a network to another machine have in common.

Nothing is configured there or here: the machines are taken with the network as they are.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from copycost.config.testbeds import transport_of
from copycost.errors import AttemptFailed, Unavailable
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.parent import watched_parents
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.side import SideName
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import kept_host
from copycost.testbeds.links import mtu_at, offloads_at
from copycost.testbeds.testbed import Testbed
from copycost.testbeds.turns import is_before, turn_there_too

_End = tuple[Host, str, str]
"""A host, its address, and its network device."""

_MADE = "./run makes results/peers/PEER.json where config.yaml names a peer under wire"
_DESCRIBE_ANEW = (
    "delete its file in results/peers and run again: then it is described and measured anew"
)
_TRY_AGAIN = "then delete its file in results/peers, and run again"


@contextmanager
def over_wire(
    kind: str, machine: LocalHost, peer: Mapping[str, Any] | None, *, away: SideName
) -> Iterator[Testbed]:
    """Reach the other machine, and keep other measurements off it, for the time of the block.

    Parameters
    ----------
    peer
        The content of results/peers/PEER.json.
    away
        The side that runs there.

    Raises
    ------
    AttemptFailed
        If it cannot be reached, or is not now what is known of it.
    Unavailable
        If nobody tells how fast UDP may be sent to it.
    MeasurementStopped
        If the workflow ends while we wait for our turn there.
    """
    if peer is None:
        raise Unavailable("nothing says which machine is the peer", _MADE)
    wire = peer["wire"]
    no_udp = wire["udp_unavailable"]
    if transport_of(kind) == "datagram" and no_udp is not None:
        raise Unavailable(**no_udp)
    addresses = wire["here"]["address"], wire["there"]["address"]
    with (
        kept_host(SshTarget(wire["peer"], tuple(wire["ssh_options"]))) as other,
        watched_parents() as parent_fds,
        turn_there_too(machine, other, parent_fds, keeps_ours=is_before(machine, other, addresses)),
    ):
        ends: dict[bool, _End] = {
            is_there: (host, wire[end]["address"], wire[end]["device"])
            for is_there, host, end in ((False, machine, "here"), (True, other, "there"))
        }
        _require_as_described(other, peer["identity"], ends.values())
        yield _built(kind, ends, wire, away)


def _built(
    kind: str, ends: Mapping[bool, _End], wire: Mapping[str, Any], away: SideName
) -> Testbed:
    """Return the testbed of two ends, by whether they are there."""
    home: SideName = "receiver" if away == "sender" else "sender"
    sender, receiver = ends[away == "sender"], ends[away == "receiver"]
    unreached = {home: wire["unreached"]["here"], away: wire["unreached"]["there"]}
    at_sender, at_receiver = offloads_at(sender[0], sender[2]), offloads_at(*receiver[::2])
    limit = wire["udp_mbit_per_s"]
    return Testbed(
        kind,
        "host",
        {"sender": sender[0], "receiver": receiver[0]},
        (sender[1], receiver[1]),
        mtu_at(sender[0], sender[2]),
        {"tso": at_sender["tso"], "gso": at_sender["gso"], "gro": at_receiver["gro"]},
        ports=None if wire["ports"] is None else (wire["ports"][0], wire["ports"][1]),
        unreached={
            side: {**why, "remedy": f"{why['remedy']}; {_TRY_AGAIN}"}
            for side, why in unreached.items()
            if why is not None
        },
        devices={"sender": sender[2], "receiver": receiver[2]},
        udp_bits_per_s=None if limit is None else limit * 10**6,
    )


def _require_as_described(
    other: RemoteHost, known: Mapping[str, Any], ends: Iterable[_End]
) -> None:
    """Refuse what would mix two states of a machine in one cell.

    Parameters
    ----------
    known
        What told it from others when it was described: `copycost.hosts.facts.identity`.
    ends
        Of the network.

    Raises
    ------
    AttemptFailed
        If it has another kernel, or an end another address.
    """
    kernel = other.introduction["kernel"]
    now, then = (
        f"Linux {of['release']} {of['version']}"
        for of in (kernel, {key: known[f"kernel_{key}"] for key in ("release", "version")})
    )
    if now != then:
        raise AttemptFailed(
            f"{other.name} runs {now}, and ran {then} when it was described", _DESCRIBE_ANEW
        )
    for host, address, _ in ends:
        try:
            host.free_ports(address, 1)
        except OSError as error:
            raise AttemptFailed(
                f"{host.name} cannot listen at {address} ({error.strerror}), its address when the"
                " wire was described",
                _DESCRIBE_ANEW,
            ) from error
