"""The network of guests: a bridge in a namespace of its own, and a TAP device for each guest.

Nothing of it has to be taken down: it ends with the namespace, which ends with the last process
in it.

Source: ip-tuntap(8); ip-link(8) on bridges.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from copycost.errors import Unavailable
from copycost.hosts.facts.tools import run_tool
from copycost.hosts.local import LocalHost

BRIDGE = "bridge"
NETWORK_BITS = 29
# 198.18.0.0/15 is set aside for benchmarks (RFC 2544, appendix C.2.2); MAC addresses are locally
# administered (IEEE 802)
ADDRESSES: Mapping[str, str] = {"a": "198.18.0.1", "b": "198.18.0.2", BRIDGE: "198.18.0.3"}
"""Of each guest by its name, and of the host where it takes part."""
MACS: Mapping[str, str] = {
    "a": "02:00:00:00:00:0a", "b": "02:00:00:00:00:0b", BRIDGE: "02:00:00:00:00:0c",
}  # fmt: skip
DEVICE = "eth0"
"""A guest's network device, as its kernel calls it."""
LARGEST_MTU_BYTES = 65521
"""Of a TAP device: ETH_MAX_MTU less the header (drivers/net/tun.c, MAX_MTU)."""

_TUN, _VHOST = Path("/dev/net/tun"), Path("/dev/vhost-net")


def has_vhost() -> bool:
    """Return whether the kernel can move guests' packets by itself."""
    return os.access(_VHOST, os.R_OK | os.W_OK)


def require_taps() -> None:
    """Raise Unavailable where nobody may make TAP devices."""
    if not _TUN.exists():
        raise Unavailable(
            f"there is no {_TUN}, so guests can have no network",
            "load the module tun (modprobe tun); a container needs --device /dev/net/tun",
        )
    if not os.access(_TUN, os.R_OK | os.W_OK):
        raise Unavailable(
            f"{_TUN} may not be opened, so guests can have no network",
            f"run as root, or allow it: sudo chmod 666 {_TUN}",
        )


def device_words(name: str, *, offloads: bool) -> list[str]:
    """Return the words of agent.sh for a guest's network."""
    address = f"{ADDRESSES[name]}/{NETWORK_BITS}"
    others = [word for one in ADDRESSES if one != name for word in (ADDRESSES[one], MACS[one])]
    return [DEVICE, "on" if offloads else "off", address, *others]


def tap_of(name: str) -> str:
    """Return the TAP device of a guest, which QEMU opens by its name."""
    return f"tap-{name}"


def make_network(host: LocalHost) -> None:
    """Make bridge and TAP devices in the network namespace that we are in.

    The bridge has an address of the host's. Unavailable where that is not allowed.
    """
    # IPv6 would send packets that nobody measured
    ipv6 = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if ipv6.exists():
        ipv6.write_text("1")
    commands = [
        f"link add name {BRIDGE} address {MACS[BRIDGE]} type bridge forward_delay 0 stp_state 0"
        " mcast_snooping 0",
        f"address add {ADDRESSES[BRIDGE]}/{NETWORK_BITS} dev {BRIDGE}",
        "link set dev lo up",
        f"link set dev {BRIDGE} up",
    ]
    for name in (one for one in ADDRESSES if one != BRIDGE):
        where = f"{ADDRESSES[name]} lladdr {MACS[name]} dev {BRIDGE}"
        commands += [
            f"neighbour add {where} nud permanent",
            f"tuntap add dev {tap_of(name)} mode tap vnet_hdr",
            f"link set dev {tap_of(name)} mtu {LARGEST_MTU_BYTES} master {BRIDGE} up",
        ]
    run_tool(
        ["ip", "-batch", "-"],
        host,
        "".join(f"{line}\n" for line in commands),
        remedy="run as root, and look whether the kernel has bridges (modprobe bridge), and dmesg",
        what_failed="bridge and TAP devices of guests cannot be made",
    )
