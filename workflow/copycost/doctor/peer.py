"""What the other machine of a wire is, and the network between, as one JSON object."""

import json
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from copycost.config.wire import AUTO, LINK, UNLIMITED, Peer, UdpRate
from copycost.doctor.collect import collect_host
from copycost.doctor.network_device import device_facts
from copycost.errors import AttemptFailed, HostError, ParseError, Unavailable, WithRemedy
from copycost.hosts.host import Host, stream
from copycost.hosts.local import LocalHost
from copycost.hosts.parsing import parser_of
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import SshHost

_NAME = "this host"
_BOOT_ID = "proc/sys/kernel/random/boot_id"
_NO_SPEED = {
    "reason": "no device at either end reports the link's speed, which UDP senders must not exceed",
    "remedy": "set wire.udp_mbit_per_s in config.yaml to a number of Mbit/s, or to unlimited",
}
_CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"
# it says when it listens, and ends by itself when nobody comes
_LISTEN = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as listening:
    listening.settimeout(6)
    print("listening", flush=True)
    try:
        listening.accept()
    except TimeoutError:
        pass
"""
_CONNECT_TIMEOUT_S = 3.0
# the agent's Python need not be the one that is called python3
_PYTHONS = ("python3", "python3.14", "python3.13", "python3.12", "python3.11")
_ANY_PORTS = "ports of net.ipv4.ip_local_port_range, or those that you name under wire.ports"

Refusal = Mapping[str, str] | None
"""What keeps connections out, `reason` and `remedy`; None where nothing does."""


@dataclass(frozen=True, slots=True)
class Route:
    """How one machine reaches an address of the other: its own address, and the network device."""

    source: str
    device: str


def collect_peer(wire: Peer) -> dict[str, object]:
    """Describe the other machine, with `collect_host`, and the network between, as ``wire``.

    That has `here` and `there` (`address`, and `device_facts`), `unreached` (per end, what keeps
    TCP connections out: None, or `reason` and `remedy`), `udp_mbit_per_s` (None without a limit)
    and `udp_unavailable` (why no UDP is sent: None, or the same two); or `unavailable` with these,
    and ``failed`` where another attempt may reach it.
    """
    with peer_reached(wire) as (facts, _):
        return facts


@contextmanager
def peer_reached(wire: Peer) -> Iterator[tuple[dict[str, object], Host | None]]:
    """Yield the same with the machine, as long as it is connected; None where it is not reached.

    Whatever goes wrong is of this machine alone: a run goes on with the testbeds that it has.
    """
    with ExitStack() as stack:
        other = None
        try:
            other = stack.enter_context(SshHost(SshTarget(wire.peer, wire.ssh_options)))
            facts = _described(other, wire)
        except (HostError, ParseError, OSError) as error:
            other, facts = None, {"wire": {"unavailable": _missing(error, wire.peer)}}
        yield facts, other


def _missing(error: Exception, peer: str) -> dict[str, Any]:
    """Return why a machine cannot be had; ``failed`` is what another attempt may mend."""
    if isinstance(error, Unavailable):
        return {"reason": error.reason, "remedy": error.remedy}
    if isinstance(error, WithRemedy):
        return {"reason": error.reason, "remedy": error.remedy, "failed": True}
    said = f"{peer} cannot be described ({error})" if isinstance(error, OSError) else str(error)
    return {"reason": said, "remedy": "check that machine and the path to it", "failed": True}


def _described(other: SshHost, wire: Peer) -> dict[str, Any]:
    path = _path(other, wire)
    _require_that_it_executes(other)
    return {
        "wire": {
            "unavailable": None,
            "peer": wire.peer,
            "ssh_options": list(wire.ssh_options),
            "ports": None if wire.port_range is None else list(wire.port_range),
            **path,
            **_udp_limit(wire.udp_mbit_per_s, path),
        },
        **collect_host(host=other),
    }


def _path(other: SshHost, wire: Peer) -> dict[str, Any]:
    """Return both ends of the network between."""
    here = LocalHost(_NAME)
    ours_of, theirs_of = here.about.architecture, other.about.architecture
    if ours_of != theirs_of:
        raise Unavailable(
            f"{other.name} is a machine of architecture {theirs_of}, and the programs that are"
            f" built here are for {ours_of}",
            "measure from a machine of its architecture, or with a peer of this one's",
        )
    theirs = _address_of_ssh(other) if wire.address == AUTO else wire.address
    ours = route_to(here, theirs)
    back = route_to(other, ours.source)
    if ours.device == "lo":
        raise Unavailable(
            f"the route to {other.name} is this host's loopback device: it is no other machine",
            "name another machine under wire.peer",
        )
    return {
        "clock": asdict(other.clock),
        "unreached": what_keeps_out((here, other), (ours.source, theirs), wire.port_range),
        "one_kernel": here.files.text(_BOOT_ID) == other.files.text(_BOOT_ID),
        "here": {"address": ours.source, **device_facts(here, ours.device)},
        "there": {"address": theirs, **device_facts(other, back.device)},
    }


def _udp_limit(asked: UdpRate, path: Mapping[str, Any]) -> dict[str, Any]:
    """Return what UDP senders may send [Mbit/s], None for as much as they can; or why none may.

    Between namespaces of one kernel there is no link that could be flooded.
    """
    speeds = [path[end]["speed_mbit_per_s"] for end in ("here", "there")]
    known = min((speed for speed in speeds if speed is not None), default=None)
    limit = None if asked == UNLIMITED else known if asked == LINK else int(asked)
    unknown = asked == LINK and known is None and not path["one_kernel"]
    return {"udp_mbit_per_s": limit, "udp_unavailable": _NO_SPEED if unknown else None}


def _require_that_it_executes(other: SshHost) -> None:
    """Refuse a machine that executes nothing of what is brought to it: tried, not guessed."""
    with tempfile.TemporaryDirectory() as folder:
        tried = Path(folder, "tried")
        tried.write_text("#!/bin/sh\n")
        there = Path(other.path_of(tried))
    try:
        other.run([str(there)])
    except OSError as error:
        raise AttemptFailed(
            f"{other.name} executes nothing in {there.parents[1]} ({error.strerror}), where"
            " programs are put",
            f"mount it there without noexec, or make {there.parents[2]} a link to a folder where"
            " programs may be executed",
        ) from error


def _address_of_ssh(other: Host) -> str:
    """Return the address at which ssh reached a machine, see ssh(1), SSH_CONNECTION."""
    words = other.run(["sh", "-c", "echo $SSH_CONNECTION"]).stdout.split()
    if len(words) != 4:
        raise Unavailable(
            f"{other.name} does not report the address at which ssh reaches it",
            "set wire.address in config.yaml to an address of it",
        )
    address = words[2]
    if ":" in address:
        raise Unavailable(
            f"ssh reaches {other.name} over IPv6 ({address}), which is not measured",
            "set wire.address in config.yaml to an IPv4 address of it",
        )
    return address


def route_to(host: Host, address: str) -> Route:
    """Return how a machine reaches an address, by ``ip -json route get``, see ip-route(8)."""
    try:
        done = host.run(["ip", "-json", "route", "get", address])
    except OSError as error:
        raise Unavailable(
            f"{host.name} has no command ip, which finds the route to {address}",
            "install the package iproute2 there",
        ) from error
    try:
        return route_in(done.stdout)
    except ParseError as error:
        said = done.stderr.strip() or "nothing"
        raise Unavailable(
            f"{host.name} knows no route to {address} (ip said: {said})",
            "set wire.address in config.yaml to an address that both machines reach",
        ) from error


@parser_of("ip route get")
def route_in(said: str) -> Route:
    """Return the way in what ip says of it."""
    (route,) = json.loads(said)
    return Route(str(route["prefsrc"]), str(route["dev"]))


def what_keeps_out(
    hosts: tuple[LocalHost, Host], addresses: tuple[str, str], ports: tuple[int, int] | None
) -> dict[str, Refusal]:
    """Return what keeps connections of the other machine out ``here``, and ours out ``there``.

    Each has its address, this machine first. Programs may listen at a first to a last port, or at
    any. Without a free port, or a Python to try with, this is Unavailable.
    """
    here, there = hosts
    ours, theirs = addresses
    python = next((name for name in _PYTHONS if there.find_tool(name)), None)
    if python is None:
        raise Unavailable(f"{there.name} has no {_PYTHONS[0]} on its PATH", "install python3 there")
    (port,) = here.free_ports(ours, 1, ports)
    with socket.create_server((ours, port)):
        came = there.run([python, "-c", _CONNECT, ours, str(port)]).returncode == 0
    return {
        "here": None if came else _dropped(here, ours, theirs, ports),
        "there": _tried_there(there, python, addresses, ports),
    }


def _tried_there(
    there: Host, python: str, addresses: tuple[str, str], ports: tuple[int, int] | None
) -> Refusal:
    """Return what keeps our connections from a program that listens there."""
    ours, theirs = addresses
    try:
        (port,) = there.free_ports(theirs, 1, ports)
    except OSError as error:
        return {
            "reason": f"no program on {there.name} can listen at {theirs} ({error.strerror})",
            "remedy": "set wire.address in config.yaml to an address of one of its own devices",
        }
    with stream(there, [python, "-c", _LISTEN, theirs, str(port)]) as said:
        came = bool(said.readline()) and _reaches((ours, 0), (theirs, port))
    return None if came else _dropped(there, theirs, ours, ports)


def _reaches(source: tuple[str, int], target: tuple[str, int]) -> bool:
    try:
        socket.create_connection(target, _CONNECT_TIMEOUT_S, source).close()
    except OSError:
        return False
    return True


def _dropped(host: Host, address: str, source: str, ports: tuple[int, int] | None) -> Refusal:
    """Return that a machine takes no connection from the other one's address."""
    to = _ANY_PORTS if ports is None else "ports {} to {}".format(*ports)
    return {
        "reason": f"a TCP connection from {source} to {address} was tried and failed",
        "remedy": f"allow TCP connections from {source} on {host.name}, to {to}",
    }
