"""Network devices: make a veth pair, set and read back what decides its speed.

Source: ip-link(8), ip(8) on -batch, ethtool(8), netdevice(7), veth(4).
"""

import fcntl
import math
import os
import re
import socket
import struct
import time
from collections.abc import Mapping
from typing import NamedTuple

from copycost.errors import AttemptFailed, HostError, Unavailable
from copycost.hosts.facts.tools import run_tool
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import NamespaceHost

# linux/sockios.h and linux/if.h
_SIOCGIFFLAGS = 0x8913
_SIOCGIFMTU = 0x8921
_IFF_RUNNING = 0x40
_LINK_UP_TIMEOUT_S = 3.0
# Both ends would get index 2, each in its namespace. The kernel takes a device whose peer has
# the same index for a plain one, and lets it wait up to a second for its queue
# (net/core/link_watch.c, linkwatch_urgent_event); with another index it comes up at once.
_SENDER_INDEX = 10
# locally administered (IEEE 802), the sender's and the receiver's
_MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")

_USUAL_MTU_BYTES = 1500
# before the payload of a TCP segment: IPv4, TCP, and its timestamps, which Linux sends by default
_SEGMENT_HEADERS_BYTES = 20 + 20 + 12

OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
}


class End(NamedTuple):
    """One end of a path: a host, its address, and its network device."""

    host: Host
    address: str
    device: str


def make_veth_pair(
    sender: NamespaceHost,
    receiver: NamespaceHost,
    addresses: tuple[str, str],
    mtu_bytes: int = _USUAL_MTU_BYTES,
) -> None:
    """Connect two namespaces by a veth pair; parameters as of `veth_pair_commands`."""
    peer = f"/proc/{os.getpid()}/fd/{receiver.namespace.fd}"
    commands = veth_pair_commands(addresses, peer, mtu_bytes)
    for host, lines in zip((sender, receiver), commands, strict=True):
        run_tool(["ip", "-batch", "-"], host, "\n".join(lines) + "\n")


def veth_pair_commands(
    addresses: tuple[str, str], peer: str, mtu_bytes: int
) -> tuple[list[str], list[str]]:
    """Return what `ip -batch` is told in the sender's namespace, and then in the receiver's.

    Devices named `sender` and `receiver`, both up, get addresses of a /30 network. `peer` is the
    receiver's namespace, a name or a path. Each end knows the other, so that no datagram waits for,
    or is lost to, ARP.
    """
    first, second = (f"address {mac} mtu {mtu_bytes}" for mac in _MACS)
    add = f"link add name sender index {_SENDER_INDEX} {first} type veth"
    add = f"{add} peer name receiver {second} netns {peer}"

    def at_end(device: str, here: int, there: int) -> list[str]:
        return [
            f"address add {addresses[here]}/30 dev {device}",
            f"link set dev {device} up",
            "link set dev lo up",
            f"neighbour add {addresses[there]} lladdr {_MACS[there]} dev {device} nud permanent",
        ]

    return [add, *at_end("sender", 0, 1)], at_end("receiver", 1, 0)


def stream_mtu_bytes(machine: LocalHost, *, page_segments: bool) -> int:
    """Return the MTU for TCP [bytes]: the usual one, or one whose segments carry a page each."""
    if page_segments:
        return machine.constant("SC_PAGE_SIZE") + _SEGMENT_HEADERS_BYTES
    return _USUAL_MTU_BYTES


def switch_offloads_off(host: LocalHost, device: str) -> None:
    """Switch segmentation and receive offloads off; Unavailable if they stay on.

    A testbed whose name may be a lie is worse than none, so it is too where nobody can tell.
    """
    words = [word for name in OFFLOADS for word in (name, "off")]
    run_tool(["ethtool", "-K", device, *words], host)
    found = features_at(host, device, OFFLOADS)
    kept = [OFFLOADS[name] for name, is_on in found.items() if is_on is not False]
    if kept:
        raise Unavailable(
            f"ethtool -k {device} does not say that {', '.join(kept)} is off now",
            "install a newer ethtool (6.1 is known to work), or use the veth testbed",
        )


def wait_until_running(host: LocalHost, device: str) -> None:
    """Wait until a device carries packets.

    A link that has just come up gets its queue from a kernel worker; a SYN that is faster is lost,
    and sent again only after a second.
    """
    deadline = time.monotonic() + _LINK_UP_TIMEOUT_S
    while not struct.unpack_from("H", _ask(host, device, _SIOCGIFFLAGS), 16)[0] & _IFF_RUNNING:
        if time.monotonic() > deadline:
            raise AttemptFailed(
                f"the device {device} did not come up within {_LINK_UP_TIMEOUT_S:g} s",
                "look for veth messages in dmesg",
            )
        time.sleep(0.0005)


def _ask(host: LocalHost, device: str, request: int) -> bytes:
    """Ask one of the interface ioctls of netdevice(7), where the device is."""
    name = struct.pack("16s24x", device.encode())
    with host.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        return fcntl.ioctl(probe, request, name)


def mtu_at(host: Host, device: str) -> int:
    """Return the largest packet of a device on whatever host [bytes]."""
    if isinstance(host, LocalHost):  # of a namespace: /sys shows that in which it was mounted
        return int(struct.unpack_from("i", _ask(host, device, _SIOCGIFMTU), 16)[0])
    found = host.files.number(f"sys/class/net/{device}/mtu")
    if found is None:
        raise HostError(f"{host.name} does not tell the MTU of its device {device}; run again")
    return found


def features_at(host: Host, device: str, names: Mapping[str, str]) -> dict[str, bool | None]:
    """Return whether a device has features on, by our names of those that ``ethtool -k`` names.

    None where nobody tells.
    """
    try:
        text = host.run(["ethtool", "-k", device]).stdout
    except OSError:
        text = ""
    states = dict(re.findall(r"^([a-z-]+): (on|off)", text, flags=re.MULTILINE))
    on = {"on": True, "off": False}
    return {name: on.get(states.get(feature, "")) for name, feature in names.items()}


_IP_BYTES, _UDP_BYTES = 20, 8
# preamble and start, two addresses, type, check sequence, and the gap to the next one
_FRAME_BYTES = 8 + 12 + 2 + 4 + 12
_LEAST_PACKET_BYTES = 46


def packets_of(msg_bytes: int, mtu_bytes: int) -> int:
    """Return how many packets carry a datagram; all but the last carry a multiple of 8 bytes."""
    room = mtu_bytes - _IP_BYTES
    whole = msg_bytes + _UDP_BYTES
    return 1 if whole <= room else math.ceil(whole / (room // 8 * 8))


def payload_share(msg_bytes: int, mtu_bytes: int) -> float:
    """Return which share of what a datagram takes on an Ethernet is its payload."""
    n_packets = packets_of(msg_bytes, mtu_bytes)
    packets_bytes = msg_bytes + _UDP_BYTES + n_packets * _IP_BYTES
    return msg_bytes / (max(packets_bytes, _LEAST_PACKET_BYTES) + n_packets * _FRAME_BYTES)
