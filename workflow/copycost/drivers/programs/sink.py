"""Check what was sent to a sink against what its hook has dropped."""

from collections.abc import Mapping, Sequence

from copycost.records.record import SinkFacts
from copycost.testbeds.drop_hook import DropHook


def settle_sink(hook: DropHook, totals: Sequence[Mapping[str, int]], msg_bytes: int) -> SinkFacts:
    """Return what became of the datagrams of a whole run; its senders have ended.

    Parameters
    ----------
    totals : sequence of mapping
        What each sender counted from the first datagram to the last: `datagrams` and `bytes`.
    msg_bytes : int
        Size of every datagram [bytes]. The hook counts packets, and one packet may hold many
        datagrams (UDP_SEGMENT), so datagrams are counted by their bytes.
    """
    n_bytes = sum(total["bytes"] for total in totals)
    dropped = hook.read_settled(n_bytes)
    return {
        "sent_datagrams": sum(total["datagrams"] for total in totals),
        "dropped_datagrams": dropped.payload_bytes // msg_bytes,
        "lost_before_hook": max(0, n_bytes - dropped.payload_bytes) // msg_bytes,
        "dropped_packets": dropped.packets,
        "dropped_bytes": dropped.payload_bytes,
    }
