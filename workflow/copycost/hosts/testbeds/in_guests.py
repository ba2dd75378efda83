"""The testbeds with sides in guests: `vm_loopback`, `vm_pair`, `vm_host`, and the same over UDP.

Both sides are in one guest, on its loopback device; or in one each, which TAP devices and a bridge
join; or the receiver is on the guest's host, behind the guest's TAP device.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest.host import borrowed
from copycost.hosts.guest.network import ADDRESSES, BRIDGE, DEVICE
from copycost.hosts.guest.qemu import GuestSpec
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Namespace, NamespaceHost
from copycost.hosts.testbeds.links import End, mtu_at, stream_mtu_bytes
from copycost.hosts.testbeds.testbed import Guest, Testbed

_ENDS = {"vm_loopback": ("a", "a"), "vm_pair": ("a", "b"), "vm_host": ("a", BRIDGE)}
_MADE = "./run makes results/guest.json where config.yaml lists a testbed in guests"


@contextmanager
def build(
    kind: str, machine: LocalHost, *, page_segments: bool, guest: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Borrow the guests of a testbed, and give them back at the end of the block.

    `guest` is the content of results/guest.json.
    """
    if guest is None:
        raise Unavailable("nothing says what guests are made of", _MADE)
    spec = GuestSpec(**guest["virtual"]["spec"])
    names = _ENDS[kind.removesuffix("_udp")]
    network = names[0] != names[1]
    with borrowed(spec, sorted({*names} - {BRIDGE}), network=network) as lease:
        hosts = {host.guest: host for host in lease.hosts}
        switch = None
        if network:
            switch = NamespaceHost(machine, Namespace(lease.network_fd), "the guests' network")
            known = {name: End(host, ADDRESSES[name], DEVICE) for name, host in hosts.items()}
            known[BRIDGE] = End(switch, ADDRESSES[BRIDGE], BRIDGE)
            sender, receiver = (known[name] for name in names)
            mtu_bytes = stream_mtu_bytes(machine, page_segments=page_segments)
            for end in (sender, receiver):
                _set_mtu(end, mtu_bytes)
        else:
            sender = receiver = End(hosts[names[0]], "127.0.0.1", "lo")
        testbed = Testbed.between(kind, lease.isolation, sender, receiver)
        sides = testbed.hosts.items()
        guests = tuple(
            Guest(host.name, tuple(side for side, at in sides if at is host), host, host.pid)
            for host in hosts.values()
        )
        boot_s = {name: host.boot_s for name, host in hosts.items()}
        places = ("qemu", "kernel", "initrd")  # where things lie is none of a record's
        made_of = {name: said for name, said in asdict(spec).items() if name not in places}
        virtual = {**made_of, "boot_s": boot_s}
        yield replace(testbed, guests=guests, switch=switch, virtual=virtual)


def _set_mtu(end: End, mtu_bytes: int) -> None:
    host, _, device = end
    if mtu_at(host, device) != mtu_bytes:
        done = host.run(["ip", "link", "set", "dev", device, "mtu", str(mtu_bytes)])
        if done.returncode != 0:
            raise HostError(
                f"{host.name}: an MTU of {mtu_bytes} is refused: {done.stderr.strip()}; run again"
            )
