"""The far end of the testbed `sink`: count what arrives and drop it before local delivery.

Local delivery is where the kernel copies the bytes of a zero-copy send after all
(skb_orphan_frags_rx in net/core/dev.c, __netif_receive_skb_core). The ingress hook comes before it
in the same function, so what is dropped there was never copied.

Source: nft(8), "NETDEV ADDRESS FAMILY" and "COUNTERS".
"""

import re
import time
from dataclasses import dataclass

from copycost.hosts.facts.tools import run_tool
from copycost.hosts.host import Host
from copycost.hosts.local import LocalHost
from copycost.hosts.parsing import parser_of

SINK_PORT = 9
"""Of the discard service (RFC 863): what is dropped before delivery needs no listener."""

_TABLE = "copycost"
_COUNTER = re.compile(r"counter (\w+) \{\s*packets (\d+) bytes (\d+)")
# The headers before the payload, which a hook's counters hold too: IPv4 and UDP, or IPv4 alone in a
# fragment behind the first. It sees no Ethernet header, and a packet that is still to be cut into
# several datagrams (UDP_SEGMENT) once.
_HEADER_BYTES = {"dropped": 20 + 8, "datagrams": 20 + 8, "fragments": 20}
_REMEDY = (
    "run as root, on a kernel with nftables and its ingress hook (modprobe nf_tables;"
    " CONFIG_NF_TABLES_NETDEV, CONFIG_NETFILTER_INGRESS), or take sink out of config.yaml"
)
# how long packets may take from the sender's last system call to the hook
_SETTLE_S = 0.25
_PAUSE_S = 0.005


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
        deadline = self.host.clock_ns() / 1e9 + _SETTLE_S
        while (
            found := self.read()
        ).payload_bytes < sent_bytes and self.host.clock_ns() / 1e9 < deadline:
            time.sleep(_PAUSE_S)
        return found


def install_drop_hook(host: LocalHost, device: str, address: str) -> DropHook:
    """Drop, and count, every UDP packet for `address` as it comes in at a device.

    Other packets, such as those by which IPv6 makes itself known, pass and are not counted.
    """
    run_tool(["nft", "-f", "-"], host, drop_rules(device, address), remedy=_REMEDY)
    return DropHook(host)


def drop_rules(device: str, address: str) -> str:
    """Return what `nft -f` is told, to drop and count what comes in at a device."""
    return f"""\
table netdev {_TABLE} {{
    counter dropped {{
    }}
    chain ingress {{
        type filter hook ingress device "{device}" priority 0; policy accept;
        ip daddr {address} meta l4proto udp counter name dropped drop
    }}
}}
"""


@parser_of("nft list counters")
def parse_counters(listing: str) -> Dropped:
    """Return all counters together from what ``nft list counters`` prints; there is one or more."""
    found = [(_HEADER_BYTES[of], int(n), int(size)) for of, n, size in _COUNTER.findall(listing)]
    if not found:
        raise ValueError("there is no counter")
    payload_bytes = sum(size - n * header for header, n, size in found)
    return Dropped(sum(n for _, n, _ in found), payload_bytes)
