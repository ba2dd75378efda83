"""What the testbeds over a network to another machine have in common.

Nothing is configured there or here: the machines are taken with the network as they are.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from copycost.errors import Unavailable
from copycost.grid.testbeds import transport_of
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.parent import watched_parents
from copycost.hosts.side import SideName
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import kept_host
from copycost.hosts.turns import is_before, turn_there_too
from copycost.testbeds.links import mtu_at, offloads_at
from copycost.testbeds.testbed import Testbed

_MADE = "./run makes results/peers/PEER.json where config.yaml names a peer under wire"

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
    Unavailable
        If it cannot be reached, or nobody tells how fast UDP may be sent to it.
    MeasurementStopped
        If the workflow ends while we wait for our turn there.
    """
    if peer is None:
        raise Unavailable("nothing says which machine is the peer", _MADE)
    wire = peer["wire"]
    limit, no_udp = wire["udp_mbit_per_s"], wire["udp_unavailable"]
    if transport_of(kind) == "datagram" and no_udp is not None:
        raise Unavailable(**no_udp)
    home: SideName = "receiver" if away == "sender" else "sender"
    with (
        kept_host(SshTarget(wire["peer"], tuple(wire["ssh_options"]))) as other,
        watched_parents() as parent_fds,
        turn_there_too(
            machine,
            other,
            parent_fds,
            keeps_ours=is_before(
                machine, other, (wire["here"]["address"], wire["there"]["address"])
            ),
        ),
    ):
        ends: dict[bool, tuple[Host, str, str]] = {
            is_there: (host, wire[end]["address"], wire[end]["device"])
            for is_there, host, end in ((False, machine, "here"), (True, other, "there"))
        }
        sender, receiver = ends[away == "sender"], ends[away == "receiver"]
        unreached = {home: wire["unreached"]["here"], away: wire["unreached"]["there"]}
        at_sender, at_receiver = offloads_at(sender[0], sender[2]), offloads_at(*receiver[::2])
        yield Testbed(
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
