"""A long way between two network namespaces: frames of two TAP devices, each handed on late.

For where the kernel has no netem. It takes root; what is sent is never faster than Python hands it
on, so that it is for delays and not for rates.

Source: the kernel's Documentation/networking/tuntap.rst.
"""

import fcntl
import os
import queue
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from copycost.hosts.facts.tools import run_tool
from copycost.hosts.namespaces import NamespaceHost

NAMES = ("sender", "receiver")
# linux/if_tun.h
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_MOST_BYTES = 1 << 16
_MOST_FRAMES = 20_000


@contextmanager
def slow_link(
    here: NamespaceHost, there: NamespaceHost, addresses: tuple[str, str], delay_s: float
) -> Iterator[None]:
    """Join two namespaces by devices of these names for the time of the block.

    Parameters
    ----------
    addresses
        Of both ends; they form a /30 network.
    delay_s
        Each way.
    """
    ends = [_tap(*one) for one in zip((here, there), NAMES, addresses, strict=True)]
    relay = os.fork()  # a process of its own: threads of ours would share Python's lock with it
    if relay == 0:
        _hand_on(ends, delay_s)
    for fd in ends:
        os.close(fd)
    try:
        yield
    finally:
        os.kill(relay, 9)
        os.waitpid(relay, 0)


def _tap(host: NamespaceHost, name: str, address: str) -> int:
    """Make a device in a namespace; it lives as long as the descriptor."""
    with host.inside():
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        request = struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI)
        fcntl.ioctl(fd, _TUNSETIFF, request)
    up = [f"address add {address}/30 dev {name}", f"link set dev {name} up", "link set dev lo up"]
    run_tool(["ip", "-batch", "-"], host, "\n".join(up) + "\n")
    return fd


def _hand_on(ends: list[int], delay_s: float) -> None:
    """Hand frames on both ways until the process that asked for it has ended."""
    parent = os.getppid()
    for source, target in (ends, ends[::-1]):
        frames: queue.Queue[tuple[float, bytes]] = queue.Queue(_MOST_FRAMES)
        for work in (_take, _give):
            args = (source if work is _take else target, frames, delay_s)
            threading.Thread(target=work, args=args, daemon=True).start()
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(0)


def _take(source: int, frames: "queue.Queue[tuple[float, bytes]]", delay_s: float) -> None:
    while True:
        frame = os.read(source, _MOST_BYTES)
        frames.put((time.monotonic() + delay_s, frame))


def _give(target: int, frames: "queue.Queue[tuple[float, bytes]]", _delay_s: float) -> None:
    while True:
        due_s, frame = frames.get()
        time.sleep(max(0.0, due_s - time.monotonic()))
        os.write(target, frame)
