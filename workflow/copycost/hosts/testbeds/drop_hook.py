"""The far end of the testbeds `sink` and `wire_sink`: count what arrives, and drop it.

It is dropped before local delivery, which is where the kernel copies the bytes of a zero-copy send
after all (skb_orphan_frags_rx in net/core/dev.c, __netif_receive_skb_core). The ingress hook comes
before it in the same function, so what is dropped there was never copied.

Source: nft(8), "NETDEV ADDRESS FAMILY", "COUNTERS" and "TABLES" (the flag `owner`, Linux 5.12).
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from copycost.errors import AttemptFailed, Unavailable
from copycost.hosts.facts.tools import run_tool
from copycost.hosts.host import Host
from copycost.hosts.parsing import parser_of
from copycost.hosts.program import Launch, pipe_word

SINK_PORT = 9
"""Of the discard service (RFC 863): what is dropped before delivery needs no listener."""

_TABLE = "copycost"
_RULES = "rules"
_COUNTER = re.compile(r"counter (\w+) \{\s*packets (\d+) bytes (\d+)")
# The headers before the payload, which a hook's counters hold too: IPv4 and UDP, or IPv4 alone in a
# fragment behind the first. It sees no Ethernet header, and a packet that is still to be cut into
# several datagrams (UDP_SEGMENT) once.
_HEADER_BYTES = {"datagrams": 20 + 8, "fragments": 20}
_REMEDY = (
    "run as root, on a kernel with nftables and its ingress hook (modprobe nf_tables;"
    " CONFIG_NF_TABLES_NETDEV, CONFIG_NETFILTER_INGRESS), or take sink out of config.yaml"
)
_FAR_REMEDY = (
    "let ssh reach root there, with nftables (nft 1.0.1) and Linux 5.12 or newer, or take wire_sink"
    " out of config.yaml"
)
# how long packets may take from the sender's last system call to the hook
_SETTLE_S = 0.25
_PAUSE_S = 0.005
# how long nft may take there to make the rules
_FAR_LIMIT_S = 3.0
_FAR_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True)
class Dropped:
    """What the hook has dropped so far: packets, and the bytes of the datagrams in them."""

    packets: int
    payload_bytes: int


@dataclass(frozen=True, slots=True)
class DropHook:
    """A drop at the ingress of one device, with counters."""

    host: Host
    table: str = _TABLE  # of nft, with the counters
    remedy: str = _REMEDY

    def read(self) -> Dropped:
        """Return what has been dropped since the hook was installed."""
        words = ["nft", "list", "counters", "table", "netdev", self.table]
        return parse_counters(run_tool(words, self.host, remedy=self.remedy))

    def read_settled(self, sent_bytes: int) -> Dropped:
        """Return what was dropped of `sent_bytes`, waiting a little for what is under way.

        A packet may lie in a queue of the host when the system call that sent it has returned.
        """
        deadline_s = time.monotonic() + _SETTLE_S
        while (found := self.read()).payload_bytes < sent_bytes and time.monotonic() < deadline_s:
            time.sleep(_PAUSE_S)
        return found


@parser_of("nft list counters")
def parse_counters(listing: str) -> Dropped:
    """Return all counters together from what ``nft list counters`` prints; there is one or more."""
    found = [(_HEADER_BYTES[of], int(n), int(size)) for of, n, size in _COUNTER.findall(listing)]
    if not found:
        raise ValueError("there is no counter")
    payload_bytes = sum(size - n * header for header, n, size in found)
    return Dropped(sum(n for _, n, _ in found), payload_bytes)


def install_drop_hook(host: Host, device: str, address: str) -> DropHook:
    """Drop, and count, every datagram for our port at `address` as it comes in at a device."""
    run_tool(["nft", "-f", "-"], host, drop_rules(device, f"ip daddr {address}"), remedy=_REMEDY)
    return DropHook(host)


def drop_rules(device: str, ours: str, table: str = _TABLE, flags: str = "") -> str:
    """Return what `nft` is told to drop and count what comes in at a device, and is ours.

    It is one line, so that it is done as a whole, or not at all.
    """
    # fragments behind the first one have no ports
    return (
        f"add table netdev {table} {{ {flags} counter datagrams {{ }}; counter fragments {{ }};"
        f' chain ingress {{ type filter hook ingress device "{device}" priority 0; policy accept;'
        f" {ours} udp dport {SINK_PORT} counter name datagrams drop;"
        f" {ours} meta l4proto udp ip frag-off & 0x1fff != 0 counter name fragments drop; }}; }}\n"
    )


@contextmanager
def far_hook(host: Host, device: str, addresses: tuple[str, str]) -> Iterator[DropHook]:
    """Drop, and count, our datagrams as they come in at another machine's device, for the block.

    The machine is somebody's, so only datagrams from the first address to the second are dropped,
    and a process there owns the rules: the kernel takes them away when it ends, at the latest with
    the connection. Unavailable if `nft` is missing there, or the kernel or a restriction refuses.
    """
    nft = host.find_tool("nft")
    if nft is None:
        raise Unavailable(f"the command nft was not found on {host.name}", _FAR_REMEDY)
    table = f"copycost_{os.urandom(4).hex()}"
    listen = f"exec '{nft}' -i < /proc/self/fd/{pipe_word(_RULES, 'read')}"
    owner = host.start(Launch(("sh", "-c", listen), nft, pipes=(_RULES,), dies_with_us=True))
    try:
        ours = "ip saddr {} ip daddr {}".format(*addresses)
        owner.write_pipe(_RULES, drop_rules(device, ours, table, "flags owner;").encode())
        deadline_s = time.monotonic() + _FAR_LIMIT_S
        while host.run(["nft", "list", "table", "netdev", table]).returncode != 0:
            said = next(iter(owner.errors().splitlines()), "")
            if said or time.monotonic() > deadline_s:
                kind = Unavailable if said else AttemptFailed
                reason = f"nft on {host.name} refused the hook: {said or 'no answer'}"
                raise kind(reason, _FAR_REMEDY)
            time.sleep(_FAR_PAUSE_S)
        yield DropHook(host, table, _FAR_REMEDY)
    finally:
        owner.end()
        owner.close()
