"""The testbeds over a network to another machine: `wire`, `wire_in`, both over UDP, `wire_sink`.

Nothing is configured there or here: the machines are taken with the network as they are. On
`wire_sink`, datagrams are dropped there before local delivery, which shows a sender's zero-copy
over its real device: there is no receiver, and the sender alone is measured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from copycost.config.testbeds import away_on, receives_on, transport_of
from copycost.errors import AttemptFailed, Unavailable
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.processes import watched_parents
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.side import SIDES, SideName
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import reached
from copycost.hosts.testbeds.drop_hook import far_hook
from copycost.hosts.testbeds.links import End
from copycost.hosts.testbeds.testbed import Testbed

_MADE = "./run makes results/peers/PEER.json where config.yaml names a peer under wire"
_DESCRIBE_ANEW = "delete its file in results/peers and run again: then it is described anew"
_BOOT_ID = "proc/sys/kernel/random/boot_id"
_TRY_AGAIN = "then delete its file in results/peers, and run again"


@contextmanager
def build(
    kind: str, machine: LocalHost, *, page_segments: bool, peer: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Reach the other machine, and keep other measurements off it, for the time of the block.

    What is known of it, `peer`, is in results/peers/PEER.json. AttemptFailed if it cannot be
    reached, or is not now what is known of it; Unavailable if nobody tells how fast UDP may be sent
    to it.
    """
    if peer is None:
        raise Unavailable("nothing says which machine is the peer", _MADE)
    wire = peer["wire"]
    if transport_of(kind) == "datagram" and wire["udp_unavailable"] is not None:
        raise Unavailable(**wire["udp_unavailable"])
    addresses = wire["here"]["address"], wire["there"]["address"]
    with (
        reached(SshTarget(wire["peer"], tuple(wire["ssh_options"]))) as other,
        watched_parents() as parent_fds,
        turn_there_too(machine, other, parent_fds, keeps_ours=is_before(machine, other, addresses)),
        ExitStack() as hook,
    ):
        places: dict[SideName, str] = {
            side: "there" if side in away_on(kind) else "here" for side in SIDES
        }
        hosts: dict[str, Host] = {"here": machine, "there": other}
        ends = {
            side: End(hosts[place], wire[place]["address"], wire[place]["device"])
            for side, place in places.items()
        }
        _require_as_described(other, peer["identity"], ends.values())
        unreached = {side: wire["unreached"][place] for side, place in places.items()}
        limit, ports, drop_hook = wire["udp_mbit_per_s"], wire["ports"], None
        if not receives_on(kind):
            host, _, device = ends["receiver"]
            drop_hook = hook.enter_context(far_hook(host, device, addresses))
        yield replace(
            Testbed.between(kind, "host", ends["sender"], ends["receiver"]),
            ports=ports and (ports[0], ports[1]),
            unreached={
                side: {**why, "remedy": f"{why['remedy']}; {_TRY_AGAIN}"}
                for side, why in unreached.items()
                if why is not None
            },
            devices={side: end.device for side, end in ends.items()},
            udp_bits_per_s=limit and limit * 10**6,
            drop_hook=drop_hook,
        )


def _require_as_described(other: RemoteHost, known: Mapping[str, Any], ends: Iterable[End]) -> None:
    """Refuse what would mix two states of a machine in one cell.

    AttemptFailed if it has another kernel than was `known` of it (`copycost.hosts.facts.identity`),
    or an end of the network another address.
    """
    then = f"Linux {known['kernel_release']} {known['kernel_version']}"
    now = "Linux {osrelease} {version}".format_map(other.introduction["kernel"])
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


def is_before(here: LocalHost, there: RemoteHost, addresses: tuple[str, str]) -> bool:
    """Return whether our machine's lock is the first to be taken of the two.

    Both machines say the same of it: the numbers of their boots decide, and between containers of
    one machine their addresses, ours and the other's.
    """
    ours, theirs = here.files.text(_BOOT_ID), there.introduction["kernel"]["random/boot_id"]
    return (ours or "", addresses[0]) < (theirs or "", addresses[1])


@contextmanager
def turn_there_too(
    here: LocalHost,
    there: RemoteHost,
    parent_fds: Sequence[int],
    *,
    keeps_ours: bool,
    path: Path | None = None,
) -> Iterator[None]:
    """Have the lock of another machine besides ours for the time of the block.

    Two machines that measure with each other hold their own and wait for the other's: the one whose
    own is not the first to be taken (`keeps_ours`, see `is_before`) gives it back meanwhile.
    """
    ours = here.turn
    give_way = (lambda: None) if ours is None or keeps_ours else ours.give_back
    with there.lock(path, parent_fds, give_way) as theirs:
        if ours is not None:
            ours.take(parent_fds)
            ours.wait_s += theirs.wait_s
        yield
