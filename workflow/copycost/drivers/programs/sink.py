"""Check what was sent to a sink against what its hook has dropped."""

from collections.abc import Mapping

from copycost.records.record import SinkFacts
from copycost.testbeds.drop_hook import DropHook


def settle_sink(hook: DropHook, total: Mapping[str, int], msg_bytes: int) -> SinkFacts:
    """Return what became of the datagrams of a whole run; its sender has ended.

    Parameters
    ----------
    total : mapping
        What the sender counted from the first datagram to the last: `datagrams` and `bytes`.
    msg_bytes : int
        Size of every datagram [bytes]. The hook counts packets, and one packet may hold many
        datagrams (UDP_SEGMENT), so datagrams are counted by their bytes.
    """
    dropped = hook.read_settled(total["bytes"])
    return {
        "sent_datagrams": total["datagrams"],
        "dropped_datagrams": dropped.payload_bytes // msg_bytes,
        "lost_before_hook": max(0, total["bytes"] - dropped.payload_bytes) // msg_bytes,
        "dropped_packets": dropped.packets,
        "dropped_bytes": dropped.payload_bytes,
    }
