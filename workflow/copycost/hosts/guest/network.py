"""The network of guests: a bridge in a namespace of its own, and a TAP device for each guest.

Nothing of it has to be taken down: a TAP device ends with the descriptors of it, and the namespace
with the last process in it.

Source: Documentation/networking/tuntap.rst, linux/if_tun.h; ip-link(8) on bridges.
"""

import fcntl
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.tools import run_tool
from copycost.hosts.local import LocalHost

BRIDGE = "bridge"
NETWORK_BITS = 29
# 198.18.0.0/15 is set aside for benchmarks (RFC 2544, appendix C.2.2); MAC addresses are locally
# administered (IEEE 802)
ADDRESSES: Mapping[str, str] = MappingProxyType(
    {"a": "198.18.0.1", "b": "198.18.0.2", BRIDGE: "198.18.0.3"}
)
"""Of each guest by its name, and of the host where it takes part."""
MACS: Mapping[str, str] = MappingProxyType(
    {"a": "02:00:00:00:00:0a", "b": "02:00:00:00:00:0b", BRIDGE: "02:00:00:00:00:0c"}
)
DEVICE = "eth0"
"""A guest's network device, as its kernel calls it."""
LARGEST_MTU_BYTES = 65521
"""Of a TAP device: ETH_MAX_MTU less the header (drivers/net/tun.c, MAX_MTU)."""

VHOST = Path("/dev/vhost-net")
"""Of the kernel, where it can move guests' packets by itself."""

_TUN = Path("/dev/net/tun")
# linux/if_tun.h
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000


def has_vhost() -> bool:
    """Return whether the kernel can move guests' packets by itself."""
    return os.access(VHOST, os.R_OK | os.W_OK)


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


def make_bridge(host: LocalHost) -> None:
    """Make the bridge in the network namespace that we are in, with an address of the host's."""
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
        *(
            f"neighbour add {ADDRESSES[name]} lladdr {MACS[name]} dev {BRIDGE} nud permanent"
            for name in ADDRESSES
            if name != BRIDGE
        ),
    ]
    _ip(host, commands)


def make_tap(host: LocalHost, name: str) -> int:
    """Make a guest's TAP device at the bridge, up; return the descriptor that it lives by."""
    device = f"tap-{name}"
    flags = _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR
    fd = os.open(_TUN, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", device.encode(), flags))
        _ip(host, [f"link set dev {device} mtu {LARGEST_MTU_BYTES} master {BRIDGE} up"])
    except OSError as error:
        os.close(fd)
        raise Unavailable(
            f"no TAP device can be made ({error.strerror})", "run as root, and look at dmesg"
        ) from error
    except HostError:
        os.close(fd)
        raise
    return fd


def _ip(host: LocalHost, commands: list[str]) -> None:
    run_tool(
        ["ip", "-batch", "-"],
        host,
        "".join(f"{line}\n" for line in commands),
        remedy="run as root, and look whether the kernel has bridges (modprobe bridge)",
        what_failed="the network of guests cannot be made",
    )
