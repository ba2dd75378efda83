"""Packets of a datagram, and what they take on an Ethernet.

Source: RFC 768 and RFC 791; IEEE 802.3, 3.1.1 (a packet) and 4.4.2 (what lies between two).
"""

import math

_IP_BYTES, _UDP_BYTES = 20, 8
# preamble and start, two addresses, type, check sequence, and the gap to the next one
_FRAME_BYTES = 8 + 12 + 2 + 4 + 12
_LEAST_PACKET_BYTES = 46


def packets_of(msg_bytes: int, mtu_bytes: int) -> int:
    """Return how many packets carry a datagram; all but the last carry a multiple of 8 bytes."""
    room = mtu_bytes - _IP_BYTES
    whole = msg_bytes + _UDP_BYTES
    return 1 if whole <= room else math.ceil(whole / (room // 8 * 8))


def payload_share(msg_bytes: int, mtu_bytes: int) -> float:
    """Return which share of what a datagram takes on an Ethernet is its payload."""
    n_packets = packets_of(msg_bytes, mtu_bytes)
    packets_bytes = msg_bytes + _UDP_BYTES + n_packets * _IP_BYTES
    return msg_bytes / (max(packets_bytes, _LEAST_PACKET_BYTES) + n_packets * _FRAME_BYTES)
