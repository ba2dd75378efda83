"""Whether TCP connections between two machines reach either end: tried, not guessed."""

import socket
from collections.abc import Mapping

from copycost.errors import Unavailable
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost

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
    with there.stream([python, "-c", _LISTEN, theirs, str(port)]) as said:
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
        "reason": f"no TCP connection from {source} reaches {address} (tried)",
        "remedy": f"let TCP connections from {source} in on {host.name}, to {to}",
    }
