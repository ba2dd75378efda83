"""The testbeds with sides in guests: `vm_loopback`, `vm_pair`, `vm_host`, and the same over UDP.

Both sides are in one guest, on its loopback device; or in one each, which TAP devices and a bridge
join; or the receiver is on the guest's host, behind the guest's TAP device.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest.host import GuestHost, Lease, borrowed, hosts_in
from copycost.hosts.guest.network import ADDRESSES, BRIDGE
from copycost.hosts.guest.qemu import GuestSpec
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Namespace, NamespaceHost, join_namespaces
from copycost.testbeds.links import End, mtu_at
from copycost.testbeds.testbed import Guest, Testbed
from copycost.testbeds.veth_pair import page_segment_mtu_bytes

DEVICE = "eth0"
"""A guest's network device, as its kernel calls it."""

USUAL_MTU_BYTES = 1500
_ENDS = {"vm_loopback": ("a", "a"), "vm_pair": ("a", "b"), "vm_host": ("a", BRIDGE)}
_MADE = "./run makes results/guest.json where config.yaml lists a testbed in guests"


@dataclass(frozen=True, slots=True)
class Guests:
    """Guests while they are ours."""

    hosts: tuple[GuestHost, ...]  # their insides
    switch: NamespaceHost | None  # the network of this machine that joins them; None without one
    lease: Lease
    spec: GuestSpec


@contextmanager
def build(
    kind: str, machine: LocalHost, *, page_segments: bool, guest: Mapping[str, Any] | None
) -> Iterator[Testbed]:
    """Borrow the guests of a testbed, and give them back at the end of the block.

    `guest` is the content of results/guest.json.
    """
    names = _ENDS[kind.removesuffix("_udp")]
    network = names[0] != names[1]
    with guests(machine, guest, sorted({*names} - {BRIDGE}), network=network) as lent:
        if network:
            ends = [_end(lent, name) for name in names]
            mtu_bytes = page_segment_mtu_bytes(machine) if page_segments else USUAL_MTU_BYTES
            for end in ends:
                _set_mtu(end, mtu_bytes)
        else:
            ends = [End(lent.hosts[0], "127.0.0.1", "lo")] * 2
        testbed = Testbed.between(kind, lent.lease.isolation, *ends)
        yield replace(
            testbed,
            guests=tuple(
                Guest(
                    host.name,
                    tuple(side for side, where in testbed.hosts.items() if where is host),
                    host,
                    host.guest.pid,
                )
                for host in lent.hosts
            ),
            switch=lent.switch,
            virtual={
                **lent.spec.for_record(),
                "boot_s": {guest.name: guest.boot_s for guest in lent.lease.guests},
            },
        )


def _end(lent: Guests, name: str) -> End:
    """Return an end in a guest, or on the host behind its TAP device."""
    if name != BRIDGE:
        host = next(host for host in lent.hosts if host.guest.name == name)
        return End(host, ADDRESSES[name], DEVICE)
    assert lent.switch is not None
    return End(lent.switch, ADDRESSES[BRIDGE], BRIDGE)


def _set_mtu(end: End, mtu_bytes: int) -> None:
    host, _, device = end
    if mtu_at(host, device) != mtu_bytes:
        done = host.run(["ip", "link", "set", "dev", device, "mtu", str(mtu_bytes)])
        if done.returncode != 0:
            raise HostError(
                f"{host.name}: an MTU of {mtu_bytes} is refused: {done.stderr.strip()}; run again"
            )


@contextmanager
def guests(
    machine: LocalHost, guest: Mapping[str, Any] | None, names: Sequence[str], *, network: bool
) -> Iterator[Guests]:
    """Borrow guests for the time of the block, with a network where they are to reach others."""
    if guest is None:
        raise Unavailable("nothing says what guests are made of", _MADE)
    spec = GuestSpec.from_plain(guest["virtual"]["spec"])
    with ExitStack() as stack:
        lease = stack.enter_context(borrowed(spec, names, network=network))
        if network and lease.isolation == "user_namespace":
            # before there is a thread that reads from the agents
            join_namespaces(lease.user_fd, lease.network_fd)
        switch = None
        if network:
            switch = NamespaceHost(machine, Namespace(lease.network_fd), "the guests' network")
        yield Guests(stack.enter_context(hosts_in(lease)), switch, lease, spec)
