"""The far end of the testbed `wire_sink`: what one machine sends is dropped at another's ingress.

The other machine is somebody's, so only our datagrams are dropped, and a process there owns the
rules: the kernel takes them away when it ends, however it ends. It ends with its control line, and
thus with the connection to that machine.

Source: nft(8), "TABLES" (the flag `owner`, Linux 5.12) and "NETDEV ADDRESS FAMILY".
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from copycost.errors import AttemptFailed, Unavailable
from copycost.hosts.host import Host, Program
from copycost.hosts.program import Launch, pipe_word
from copycost.testbeds.drop_hook import SINK_PORT, DropHook

_RULES = "rules"
_REMEDY = (
    "let ssh reach root there, with nftables (nft 1.0.1) and Linux 5.12 or newer, or take wire_sink"
    " out of config.yaml"
)
_LIMIT_S = 3.0
_PAUSE_S = 0.02


@contextmanager
def far_hook(host: Host, device: str, addresses: tuple[str, str]) -> Iterator[DropHook]:
    """Drop, and count, our datagrams as they come in at a device, for the time of the block.

    Those from the first address to the second. Unavailable if `nft` is missing there, or the kernel
    or a restriction refuses.
    """
    nft = host.find_tool("nft")
    if nft is None:
        raise Unavailable(f"the command nft was not found on {host.name}", _REMEDY)
    table = f"copycost_{os.urandom(4).hex()}"
    listen = f"exec '{nft}' -i < /proc/self/fd/{pipe_word(_RULES, 'read')}"
    owner = host.start(Launch(("sh", "-c", listen), nft, pipes=(_RULES,), dies_with_us=True))
    try:
        owner.write_pipe(_RULES, far_rules(table, device, addresses).encode())
        _await(host, owner, table)
        yield DropHook(host, table, _REMEDY)
    finally:
        owner.end()
        owner.close()


def far_rules(table: str, device: str, addresses: tuple[str, str]) -> str:
    """Return what `nft -i` is told, in one line: it is done as a whole, or not at all."""
    ours = f"ip saddr {addresses[0]} ip daddr {addresses[1]}"
    parts = (
        "flags owner",
        "counter datagrams { }",
        "counter fragments { }",
        (
            f'chain ingress {{ type filter hook ingress device "{device}" priority 0;'
            f" policy accept;"
            f" {ours} udp dport {SINK_PORT} counter name datagrams drop;"
            # those behind the first one have no ports
            f" {ours} meta l4proto udp ip frag-off & 0x1fff != 0 counter name fragments drop; }}"
        ),
    )
    return f"add table netdev {table} {{ {'; '.join(parts)}; }}\n"


def _await(host: Host, owner: Program, table: str) -> None:
    """Wait until the rules are there."""
    deadline_s = time.monotonic() + _LIMIT_S
    while host.run(["nft", "list", "table", "netdev", table]).returncode != 0:
        said = next(iter(owner.errors().splitlines()), "")
        if said or time.monotonic() > deadline_s:
            kind = Unavailable if said else AttemptFailed
            raise kind(f"nft on {host.name} refused the hook: {said or 'no answer'}", _REMEDY)
        time.sleep(_PAUSE_S)
