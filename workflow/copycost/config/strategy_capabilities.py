"""What each way to send and to receive can do: the cells that cannot exist follow from it.

A cell that cannot exist (segments over TCP, a batch that no datagram holds) is left out when the
grid is built. One that may fail on a host (io_uring forbidden, say) is not told from here: its
program is run and says so itself.

A strategy declares what it can do to the C programs, in ``the_strategy`` of its source; it is read
from there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from copycost.config.testbeds import APART, SAME, Transport, entry_of

#: The largest payload of a UDP datagram over IPv4 [bytes]: 65535 less 20 of IP and 8 of UDP.
MAX_DATAGRAM_BYTES = 65507

#: Datagrams that one UDP_SEGMENT send may hold: UDP_MAX_SEGMENTS, 64 until Linux 6.8, 128 since.
MAX_SEGMENTS = 64

#: Messages per system call that a sender takes (--batch).
MAX_BATCH = 256

#: The implementation that the others are compared with.
BASELINE = "two_copy"

#: Who else can send: the driver that is no program of ours, by its name among the implementations.
IPERF3 = "iperf3"
_IPERF3_WRITES_BYTES = 1 << 20

STREAM: frozenset[Transport] = frozenset({"stream"})
BOTH: frozenset[Transport] = frozenset({"stream", "datagram"})

_BATCHED = re.compile(r"(?P<strategy>[a-z][a-z0-9_]*?)_x(?P<batch>[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Capability:
    """What a strategy can do, over which sockets.

    `batching`: several messages in one system call; `batch_is_one_datagram`: as one datagram, which
    they then have to fit; `zero_copy`: asks the kernel not to copy and learns, send by send, what
    became of that.
    """

    transports: frozenset[Transport] = STREAM
    batching: bool = False
    zero_copy: bool = False
    batch_is_one_datagram: bool = False

    def allows(self, transport: Transport, msg_bytes: int, batch: int = 1) -> bool:
        """Tell whether such messages, so many per system call, can be sent over such sockets."""
        if transport not in self.transports or not 1 <= batch <= MAX_BATCH:
            return False
        if batch > 1 and not self.batching:
            return False
        if transport == "datagram" and msg_bytes > MAX_DATAGRAM_BYTES:
            return False
        if self.batch_is_one_datagram:
            return batch <= MAX_SEGMENTS and batch * msg_bytes <= MAX_DATAGRAM_BYTES
        return True


#: Where each strategy has its file, NAME.c.
STRATEGIES = Path(__file__).parents[3] / "src" / "strategies"

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DECLARATION = re.compile(
    r"\bstruct\s+strategy\s+(?:const\s+)?the_strategy\s*=\s*\{(.*?)\}\s*;", re.DOTALL
)
_FIELD = re.compile(r"\.(\w+)\s*=\s*([^,}]*)")

#: By receiver, which is the name of a file in src/receivers: the sockets that it can read.
RECEIVERS: Mapping[str, frozenset[Transport]] = {
    "recv": BOTH,
    "trunc": BOTH,
    "mmap": STREAM,
    "uring": STREAM,
}


def split_implementation(implementation: str) -> tuple[str, int]:
    """Return the strategy of an implementation and its messages per system call.

    ``sendmmsg_x16`` is the strategy ``sendmmsg`` with 16 messages per call; any other name is that
    of a strategy, with one.
    """
    match = _BATCHED.fullmatch(implementation)
    return (match["strategy"], int(match["batch"])) if match else (implementation, 1)


def declared(source: str) -> Capability | None:
    """Return what the C file of a strategy declares in ``the_strategy``, None where it has none."""
    found = _DECLARATION.search(_COMMENT.sub(" ", source))
    if found is None:
        return None
    fields = {name: value.strip() for name, value in _FIELD.findall(found[1])}
    transports = re.findall(r"\w+", fields.get("transports", ""))
    return Capability(
        frozenset(name for name in sorted(BOTH) if f"TRANSPORT_{name.upper()}" in transports),
        **{
            name: fields.get(name) == "true"
            for name in ("batching", "zero_copy", "batch_is_one_datagram")
        },
    )


@cache
def capability_of(strategy: str) -> Capability:
    """Return what a strategy can do; of one without a source here, that it sends over TCP."""
    path = STRATEGIES / f"{strategy}.c"
    source = path.read_text("utf-8", errors="replace") if path.is_file() else ""
    return declared(source) or Capability()


def can_exist(
    implementation: str, testbed: str, msg_bytes: int, receiver: str, placement: str = APART
) -> bool:
    """Tell whether a cell with these can exist at all, on any host.

    Where nothing receives, the receiver can only be the default, ``recv``, and both ends are not on
    one CPU: it would be the same cell again.
    """
    strategy, batch = split_implementation(implementation)
    entry = entry_of(testbed)
    transport, usual = entry.transport, receiver == "recv" and placement != SAME
    if strategy == IPERF3:
        # it receives in its own way, may only be pinned as a whole, whatever its streams, and
        # refuses larger writes (MAX_BLOCKSIZE in its iperf.h)
        most_bytes = _IPERF3_WRITES_BYTES if transport == "stream" else MAX_DATAGRAM_BYTES
        return entry.receives and usual and msg_bytes <= most_bytes
    if transport == "datagram" and not entry.own_addresses:
        return False
    receives = transport in RECEIVERS.get(receiver, STREAM) if entry.receives else usual
    return receives and capability_of(strategy).allows(transport, msg_bytes, batch)
