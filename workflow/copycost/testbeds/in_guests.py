"""What all testbeds in guests have in common."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from copycost.errors import HostError, Unavailable
from copycost.hosts.guest.daemon_client import Lease, borrowed
from copycost.hosts.guest.host import GuestHost, hosts_in
from copycost.hosts.guest.network import ADDRESSES, BRIDGE
from copycost.hosts.guest.spec import GuestSpec
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.namespace import NamespaceHost
from copycost.hosts.namespaces import Namespace, join_namespaces
from copycost.hosts.side import SideName
from copycost.testbeds.links import mtu_at, offloads_at
from copycost.testbeds.testbed import Guest, Testbed
from copycost.testbeds.veth_pair import page_segment_mtu_bytes

DEVICE = "eth0"
"""A guest's network device, as its kernel calls it."""

USUAL_MTU_BYTES = 1500
_LOOPBACK = "127.0.0.1"
_MADE = "./run makes results/guest.json where config.yaml lists a testbed in guests"


@dataclass(frozen=True, slots=True)
class Guests:
    """Guests while they are ours.

    Attributes
    ----------
    hosts
        Their insides.
    switch
        The network of this machine that joins them; None without one.
    """

    hosts: tuple[GuestHost, ...]
    switch: NamespaceHost | None
    lease: Lease
    spec: GuestSpec

    def as_testbed(
        self,
        kind: str,
        sides: Mapping[SideName, Host],
        addresses: tuple[str, str],
        devices: Mapping[SideName, str],
    ) -> Testbed:
        """Return the testbed, with what is read back of its path."""
        sender, receiver = sides["sender"], sides["receiver"]
        at_sender = offloads_at(sender, devices["sender"])
        at_receiver = offloads_at(receiver, devices["receiver"])
        return Testbed(
            kind,
            self.lease.isolation,
            sides,
            addresses,
            mtu_at(sender, devices["sender"]),
            {"tso": at_sender["tso"], "gso": at_sender["gso"], "gro": at_receiver["gro"]},
            guests=tuple(
                Guest(host.name, _sides_in(host, sides), host, host.guest.pid)
                for host in self.hosts
            ),
            switch=self.switch,
            virtual={
                **self.spec.for_record(),
                "boot_s": {guest.name: guest.boot_s for guest in self.lease.guests},
            },
        )


@contextmanager
def guests(
    machine: LocalHost, guest: Mapping[str, Any] | None, names: Sequence[str], *, network: bool
) -> Iterator[Guests]:
    """Borrow guests for the time of the block.

    Parameters
    ----------
    guest
        The content of results/guest.json.
    names
        Which guests of the run.
    network
        Whether they are to reach each other, and the host behind their TAP devices.

    Raises
    ------
    Unavailable
        If there are none here.
    HostError
        If one does not come up.
    """
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


@contextmanager
def inside_one(kind: str, machine: LocalHost, guest: Mapping[str, Any] | None) -> Iterator[Testbed]:
    """Return a block with both sides in one guest, on its loopback device."""
    with guests(machine, guest, ["a"], network=False) as lent:
        (host,) = lent.hosts
        yield lent.as_testbed(
            kind,
            {"sender": host, "receiver": host},
            (_LOOPBACK, _LOOPBACK),
            {"sender": "lo", "receiver": "lo"},
        )


@contextmanager
def between_two(
    kind: str, machine: LocalHost, guest: Mapping[str, Any] | None, *, page_segments: bool
) -> Iterator[Testbed]:
    """Return a block with a side in each of two guests."""
    with guests(machine, guest, ["a", "b"], network=True) as lent:
        sender, receiver = lent.hosts
        for host in lent.hosts:
            _set_mtu(host, DEVICE, _wanted_mtu(machine, page_segments))
        yield lent.as_testbed(
            kind,
            {"sender": sender, "receiver": receiver},
            (ADDRESSES["a"], ADDRESSES["b"]),
            {"sender": DEVICE, "receiver": DEVICE},
        )


@contextmanager
def guest_to_host(
    kind: str, machine: LocalHost, guest: Mapping[str, Any] | None, *, page_segments: bool
) -> Iterator[Testbed]:
    """Return a block with the sender in a guest and the receiver on its host."""
    with guests(machine, guest, ["a"], network=True) as lent:
        (sender,) = lent.hosts
        assert lent.switch is not None
        mtu_bytes = _wanted_mtu(machine, page_segments)
        _set_mtu(sender, DEVICE, mtu_bytes)
        _set_mtu(lent.switch, BRIDGE, mtu_bytes)
        yield lent.as_testbed(
            kind,
            {"sender": sender, "receiver": lent.switch},
            (ADDRESSES["a"], ADDRESSES[BRIDGE]),
            {"sender": DEVICE, "receiver": BRIDGE},
        )


def _sides_in(host: GuestHost, sides: Mapping[SideName, Host]) -> tuple[SideName, ...]:
    return tuple(name for name, where in sides.items() if where is host)


def _wanted_mtu(machine: LocalHost, page_segments: bool) -> int:
    return page_segment_mtu_bytes(machine) if page_segments else USUAL_MTU_BYTES


def _set_mtu(host: Host, device: str, mtu_bytes: int) -> None:
    if mtu_at(host, device) != mtu_bytes:
        done = host.run(["ip", "link", "set", "dev", device, "mtu", str(mtu_bytes)])
        if done.returncode != 0:
            raise HostError(
                f"{host.name}: an MTU of {mtu_bytes} is refused: {done.stderr.strip()}; run again"
            )
