"""Network devices: make a veth pair, set and read back what decides its speed.

Source: ip-link(8), ip(8) on -batch, ethtool(8), netdevice(7), veth(4).
"""

import fcntl
import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass

from copycost.errors import HostError
from copycost.testbed.namespaces import Namespace, TestbedUnavailable

# linux/sockios.h and linux/if.h
_SIOCGIFFLAGS = 0x8913
_SIOCGIFMTU = 0x8921
_IFF_RUNNING = 0x40
_LINK_UP_TIMEOUT_S = 3.0
# Both ends would get index 2, each in its namespace. The kernel takes a device whose peer has
# the same index for a plain one, and lets it wait up to a second for its queue
# (net/core/link_watch.c, linkwatch_urgent_event); with another index it comes up at once.
_SENDER_INDEX = 10

OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
}
_ENVIRONMENT = {"LC_ALL": "C", "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}


@dataclass(frozen=True, slots=True)
class Device:
    """A network device: in a namespace of ours, or (`namespace` None) in the host's own."""

    name: str
    namespace: Namespace | None


def make_veth_pair(sender: Namespace, receiver: Namespace, addresses: tuple[str, str]) -> None:
    """Connect two namespaces by a veth pair, devices named `sender` and `receiver`, both up.

    Parameters
    ----------
    addresses : tuple of str
        The sender's and the receiver's address; they form a /30 network.

    Raises
    ------
    TestbedUnavailable
        If `ip` is missing or refuses.
    """
    # the path is looked up by `ip` itself, which inherits the descriptor
    peer = f"/proc/self/fd/{receiver.fd}"
    add = f"link add name sender index {_SENDER_INDEX} type veth peer name receiver netns {peer}"
    _ip(sender, [add, *_up("sender", addresses[0])], pass_fds=(receiver.fd,))
    _ip(receiver, _up("receiver", addresses[1]))


def _up(device: str, address: str) -> list[str]:
    return [
        f"address add {address}/30 dev {device}",
        f"link set dev {device} up",
        "link set dev lo up",
    ]


def switch_offloads_off(devices: Iterable[Device]) -> None:
    """Switch segmentation and receive offloads off.

    Raises
    ------
    TestbedUnavailable
        If `ethtool` is missing or refuses.
    """
    for device in devices:
        _run(["ethtool", "-K", device.name, *_pairs("off")], device.namespace)


def _pairs(state: str) -> list[str]:
    return [word for name in OFFLOADS for word in (name, state)]


def read_offloads(device: Device) -> dict[str, bool]:
    """Return for `tso`, `gso` and `gro` whether they are on."""
    text = _run(["ethtool", "-k", device.name], device.namespace)
    states = dict(re.findall(r"^([a-z-]+): (on|off)", text, flags=re.MULTILINE))
    missing = [feature for feature in OFFLOADS.values() if feature not in states]
    if missing:
        raise TestbedUnavailable(
            f"ethtool -k {device.name} does not tell {', '.join(missing)}",
            "install a newer ethtool (6.1 is known to work)",
        )
    return {name: states[feature] == "on" for name, feature in OFFLOADS.items()}


def read_mtu(device: Device) -> int:
    """Return a device's largest packet in bytes."""
    (mtu,) = struct.unpack_from("i", _ask(device, _SIOCGIFMTU), 16)
    return int(mtu)


def wait_until_running(devices: Iterable[Device]) -> None:
    """Wait until the devices carry packets.

    A link that has just come up gets its queue from a kernel worker; a SYN that is faster is lost,
    and sent again only after a second.

    Raises
    ------
    TestbedUnavailable
        If a device is not running after 3 s.
    """
    deadline = time.monotonic() + _LINK_UP_TIMEOUT_S
    for device in devices:
        while not struct.unpack_from("H", _ask(device, _SIOCGIFFLAGS), 16)[0] & _IFF_RUNNING:
            if time.monotonic() > deadline:
                raise TestbedUnavailable(
                    f"the device {device.name} did not come up within {_LINK_UP_TIMEOUT_S:g} s",
                    "look for veth messages in dmesg",
                )
            time.sleep(0.0005)


def _ask(device: Device, request: int) -> bytes:
    """Ask one of the interface ioctls of netdevice(7), in the device's namespace."""
    name = struct.pack("16s24x", device.name.encode())
    if device.namespace is None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            return fcntl.ioctl(probe, request, name)
    with device.namespace.entered(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        return fcntl.ioctl(probe, request, name)


def _ip(namespace: Namespace, commands: list[str], pass_fds: tuple[int, ...] = ()) -> None:
    _run(["ip", "-batch", "-"], namespace, "\n".join(commands) + "\n", pass_fds)


def _run(
    command: list[str],
    namespace: Namespace | None,
    text: str = "",
    pass_fds: tuple[int, ...] = (),
) -> str:
    """Run a tool in a namespace and return what it prints."""
    try:
        if namespace is None:
            return _spawn(command, text, pass_fds)
        with namespace.entered():
            return _spawn(command, text, pass_fds)
    except FileNotFoundError as error:
        package = {"ip": "iproute2"}.get(command[0], command[0])
        raise TestbedUnavailable(
            f"the command {command[0]} was not found", f"install the package {package}"
        ) from error


def _spawn(command: list[str], text: str, pass_fds: tuple[int, ...]) -> str:
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        pass_fds=pass_fds,
        env=_ENVIRONMENT,
        check=False,
        timeout=10,
    )
    if done.returncode < 0:
        raise HostError(f"{' '.join(command)} was killed by signal {-done.returncode}; run again")
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise TestbedUnavailable(
            f"{' '.join(command)} failed with exit status {done.returncode}: {said[0]}",
            "run as root, and look whether the kernel has veth (modprobe veth)",
        )
    return done.stdout
