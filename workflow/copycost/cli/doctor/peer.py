"""What the other machine of a wire is, and the network between, as one JSON object."""

import json
import re
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from copycost.cli.doctor.collect import collect_host
from copycost.config.wire import AUTO, LINK, UNLIMITED, Peer, UdpRate
from copycost.errors import AttemptFailed, HostError, ParseError, Unavailable, WithRemedy
from copycost.hosts.facts.cpu import read_governor
from copycost.hosts.facts.kernel import is_virtual
from copycost.hosts.host import Host, stream
from copycost.hosts.local import LocalHost
from copycost.hosts.parsing import parser_of
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import SshHost
from copycost.hosts.testbeds.links import OFFLOADS, features_at, mtu_at
from copycost.wording.numbers import format_cpu_list

_BOOT_ID = "proc/sys/kernel/random/boot_id"
_NO_SPEED = {
    "reason": "no device at either end reports the link's speed, which UDP senders must not exceed",
    "remedy": "set wire.udp_mbit_per_s in config.yaml to a number of Mbit/s, or to unlimited",
}
# the interpreter of the agent there, whatever that is called
_PYTHON = ("sh", "-c", 'exec /proc/$PPID/exe -c "$@"', "sh")
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
_ANY_PORTS = "ports of net.ipv4.ip_local_port_range, or those that you name under wire.ports"

# ethtool's names of what zero-copy sends need of a device, and of what saves packets
_FEATURES = {"scatter_gather": "scatter-gather", "tx_checksum": "tx-checksumming", **OFFLOADS}
# without a driver of their own: they tell the speed of the cards below them
_OVER_CARDS = ("bond", "team", "vlan")
_INTERRUPT = re.compile(r"^\s*(\d+):.*\s(\S+)$", re.MULTILINE)

Refusal = Mapping[str, str] | None
"""What keeps connections out, `reason` and `remedy`; None where nothing does."""


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
    if isinstance(error, WithRemedy):
        found: dict[str, Any] = {"reason": error.reason, "remedy": error.remedy}
    else:
        said = f"{peer} cannot be described ({error})" if isinstance(error, OSError) else str(error)
        found = {"reason": said, "remedy": "check that machine and the path to it"}
    return found if isinstance(error, Unavailable) else {**found, "failed": True}


def _described(other: SshHost, wire: Peer) -> dict[str, Any]:
    here = LocalHost("this host")
    ours_of, theirs_of = here.about.architecture, other.about.architecture
    if ours_of != theirs_of:
        raise Unavailable(
            f"{other.name} is a machine of architecture {theirs_of}, and the programs that are"
            f" built here are for {ours_of}",
            "measure from a machine of its architecture, or with a peer of this one's",
        )
    theirs = _address_of_ssh(other) if wire.address == AUTO else wire.address
    ours, device = route_to(here, theirs)
    _, device_there = route_to(other, ours)
    if device == "lo":
        raise Unavailable(
            f"the route to {other.name} is this host's loopback device: it is no other machine",
            "name another machine under wire.peer",
        )
    path = {
        "clock": asdict(other.clock),
        "unreached": what_keeps_out((here, other), (ours, theirs), wire.port_range),
        "one_kernel": here.files.text(_BOOT_ID) == other.files.text(_BOOT_ID),
        "here": {"address": ours, **device_facts(here, device)},
        "there": {"address": theirs, **device_facts(other, device_there)},
    }
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
    address = words[2] if len(words) == 4 else "unknown"
    if ":" in address or address == "unknown":
        raise Unavailable(
            f"a wire needs IPv4, and ssh reaches {other.name} at {address}",
            "set wire.address in config.yaml to an IPv4 address of it",
        )
    return address


def route_to(host: Host, address: str) -> tuple[str, str]:
    """Return a machine's own address on the way to another, and the device: see ip-route(8)."""
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
def route_in(said: str) -> tuple[str, str]:
    """Return the address and the device in what ip says of a route."""
    (route,) = json.loads(said)
    return str(route["prefsrc"]), str(route["dev"])


def what_keeps_out(
    hosts: tuple[LocalHost, Host], addresses: tuple[str, str], ports: tuple[int, int] | None
) -> dict[str, Refusal]:
    """Return what keeps connections of the other machine out ``here``, and ours out ``there``.

    Each has its address, this machine first. Programs may listen at a first to a last port, or at
    any.
    """
    (here, there), (ours, theirs) = hosts, addresses
    to = _ANY_PORTS if ports is None else "ports {} to {}".format(*ports)

    def dropped(host: Host, source: str, address: str) -> Refusal:
        return {
            "reason": f"a TCP connection from {source} to {address} was tried and failed",
            "remedy": f"allow TCP connections from {source} on {host.name}, to {to}",
        }

    (port,) = here.free_ports(ours, 1, ports)
    with socket.create_server((ours, port)):
        came = there.run([*_PYTHON, _CONNECT, ours, str(port)]).returncode == 0
    found = {"here": None if came else dropped(here, theirs, ours)}
    try:
        (port,) = there.free_ports(theirs, 1, ports)
    except OSError as error:
        refusal = {
            "reason": f"no program on {there.name} can listen at {theirs} ({error.strerror})",
            "remedy": "set wire.address in config.yaml to an address of one of its own devices",
        }
        return {**found, "there": refusal}
    came = False
    with stream(there, [*_PYTHON, _LISTEN, theirs, str(port)]) as said, suppress(OSError):
        if next(said, b""):
            socket.create_connection((theirs, port), _CONNECT_TIMEOUT_S, (ours, 0)).close()
            came = True
    return {**found, "there": None if came else dropped(there, ours, theirs)}


def device_facts(host: Host, device: str) -> dict[str, Any]:
    """Return what decides a figure of a network device, None where nobody tells.

    The speed is the link's, as far as it is one: of a card, or of what bundles or divides cards. A
    virtual device has none, whatever it says; ``kind`` is what the kernel calls it: bridge, vlan,
    veth, tun. ``rps_cpus`` and ``xps_cpus`` serve queues besides the CPUs of their interrupts: a
    list such as 0-3 for each queue that names some. Rings are as many packets as wait at most.
    """
    folder = f"sys/class/net/{device}"
    files = host.files
    speed = files.number(f"{folder}/speed")
    uevent = files.text(f"{folder}/device/uevent") or ""
    driver = next(iter(re.findall(r"^DRIVER=(.+)$", uevent, re.MULTILINE)), None)
    kind = _kind(host, device)
    is_link = not is_virtual(driver) or kind in _OVER_CARDS
    rings = _said(host, "ethtool", "-g", device).partition("Current hardware settings:")[2]
    return {
        "device": device,
        "driver": driver,
        "kind": kind,
        "speed_mbit_per_s": speed if is_link and speed and speed > 0 else None,
        "mtu_bytes": mtu_at(host, device),
        "rx_queues": len(files.glob(f"{folder}/queues/rx-*")) or None,
        "tx_queues": len(files.glob(f"{folder}/queues/tx-*")) or None,
        "rps_cpus": _queue_cpus(host, f"{folder}/queues/rx-*/rps_cpus"),
        "xps_cpus": _queue_cpus(host, f"{folder}/queues/tx-*/xps_cpus"),
        "interrupt_cpus": _interrupt_cpus(host, device),
        "ring_rx": _number_of("RX", rings),
        "ring_tx": _number_of("TX", rings),
        "coalescing": _coalescing(_said(host, "ethtool", "-c", device)),
        **features_at(host, device, _FEATURES),
        "governor": read_governor(files),
        "congestion_control": files.text("proc/sys/net/ipv4/tcp_congestion_control"),
        "irqbalance": _irqbalance(host),
    }


def _said(host: Host, *words: str) -> str:
    """Return what a command prints; nothing where it fails or is missing."""
    try:
        done = host.run(words)
    except (OSError, HostError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _kind(host: Host, device: str) -> str | None:
    """Return what the kernel calls a virtual device, None for others."""
    with suppress(ParseError):
        return kind_in(_said(host, "ip", "-json", "-details", "link", "show", "dev", device))
    return None


@parser_of("ip -details link show")
def kind_in(said: str) -> str | None:
    """Return the kind in what ip says of one device, see ip-link(8)."""
    (link,) = json.loads(said)
    kind = link.get("linkinfo", {}).get("info_kind")
    return None if kind is None else str(kind)


def _queue_cpus(host: Host, pattern: str) -> list[str]:
    """Return the CPUs that queues name, as lists; of those that name some."""
    found = []
    for mask in host.files.texts([pattern]).values():
        if mask and re.fullmatch(r"[0-9a-f,]*[1-9a-f][0-9a-f,]*", mask):
            number = int(mask.replace(",", ""), 16)
            bits = range(number.bit_length())
            found.append(format_cpu_list([bit for bit in bits if number >> bit & 1]))
    return found


def _interrupt_cpus(host: Host, device: str) -> dict[str, str]:
    """Return the CPUs that a device's interrupts may go to, by the interrupt's name.

    Drivers call an interrupt by the device (``eth0-TxRx-0``), or by where it sits
    (``virtio0-input.0``, ``mlx5_comp0@pci:0000:3b:00.0``).
    """
    place = _said(host, "readlink", "-f", f"/sys/class/net/{device}/device").strip()
    own = "|".join(re.escape(word) for word in (device, place.rpartition("/")[2]) if word)
    table = "\n".join(host.files.lines("proc/interrupts", 4096))
    return {
        name: host.files.text(f"proc/irq/{number}/smp_affinity_list") or "unknown"
        for number, name in _INTERRUPT.findall(table)
        if re.search(rf"\b({own})\b", name)
    }


def _number_of(name: str, said: str) -> int | None:
    """Return a number in what ethtool says; None where it is n/a."""
    found = re.search(rf"^{name}:\s+(\d{{1,9}})$", said, re.MULTILINE)
    return int(found[1]) if found else None


def _coalescing(said: str) -> str | None:
    """Return when a device interrupts, from ``ethtool -c``: what of it is not n/a."""
    adaptive = re.search(r"^Adaptive RX: (on|off)\s+TX: (on|off)", said, flags=re.MULTILINE)
    told = [f"adaptive {adaptive[1]} to receive, {adaptive[2]} to send"] if adaptive else []
    for name in ("rx-usecs", "rx-frames", "tx-usecs", "tx-frames"):
        number = _number_of(name, said)
        told += [] if number is None else [f"{name} {number}"]
    return "; ".join(told) or None


def _irqbalance(host: Host) -> bool | None:
    """Return whether irqbalance runs; None where nobody tells."""
    try:
        code = host.run(["pgrep", "-x", "irqbalance"]).returncode
    except OSError:
        return None
    return {0: True, 1: False}.get(code)
