"""What the link between two machines allows, and how near the ways to send came to it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import THROUGHPUT

NEAR = 0.95
"""From this share of what the link carries on, the link sets the throughput."""

_RATE_LIMIT = "rate_limit_bits_per_s"
# Ethernet (IEEE 802.3): preamble, header, checksum and the gap to the next frame [bytes]
_FRAME = 38
# headers of IP (version 4, and 6), TCP with time stamps, and UDP [bytes]
_IP = {False: 20, True: 40}
_TCP = 32
_UDP = 8


def link_facts(view: View, wire: Mapping[str, Any] | None) -> Facts | None:
    """Return what the link carries, and how near the receiver came; None where no device tells.

    Keys
    ----
    speed_bits_per_s
        As the devices tell it, the slower of both.
    mtu_bytes
        Of the sender's device.
    capacity_bits_per_s
        Bytes of messages that it carries in packets of that size, the largest of the sizes.
    n_points, n_full, n_part, sizes
        Combinations of size and threads; those where the median of every way reached at least
        `NEAR` of what the link carries at that size, and those where only some ways did; the sizes
        where every way did with every number of threads.
    highest
        The largest share of that.
    exceeded, believed
        The same of all wires to that machine, and whether no cell's median is above what the link
        carries: a virtual device may tell any speed.
    shares
        That of each cell: the columns of `POINT`, and the share.
    """
    speeds = [wire[end]["speed_mbit_per_s"] for end in ("here", "there")] if wire else []
    known = [speed for speed in speeds if speed]
    mtu_bytes = view.measured["mtu_bytes"].median()
    if wire is None or not known or math.isnan(mtu_bytes):
        return None
    speed = min(known) * 1e6
    is_v6 = ":" in wire["here"]["address"]
    cells = view.measured.groupby(POINT)[[THROUGHPUT, "mss_bytes"]].median().reset_index()
    carried = speed * np.array(
        [
            _efficiency(size, mtu_bytes, mss_bytes, _IP[is_v6])
            for size, mss_bytes in zip(cells["msg_bytes"], cells["mss_bytes"], strict=True)
        ]
    )
    cells["share"] = cells[THROUGHPUT] / carried
    return {
        "speed_bits_per_s": speed,
        "mtu_bytes": int(mtu_bytes),
        "capacity_bits_per_s": float(carried.max()),
    } | _nearness(cells)


def limit_facts(view: View) -> Facts | None:
    """Return what the sender was to send at most, and how near it came; None without a limit.

    Keys
    ----
    low, high
        Payload of messages of the size that is allowed least, and most [bit/s].
    n_points, n_full, n_part, sizes, highest, shares
        As of `link_facts`, of what was sent over what was to be sent at most.
    """
    rows = view.measured
    if _RATE_LIMIT not in rows or rows[_RATE_LIMIT].isna().all():
        return None
    # in the sender's own window, of which the table has the time of a message
    sent = rows["msg_bytes"] * rows["n_threads"] * 8e9 / rows["service_mean_ns"]
    # a table of so many columns takes no single ones
    cells = rows[[*POINT, _RATE_LIMIT]].assign(share=sent / rows[_RATE_LIMIT])
    cells = cells.groupby(POINT)[["share", _RATE_LIMIT]].median().dropna().reset_index()
    return {
        "low": float(cells[_RATE_LIMIT].min()),
        "high": float(cells[_RATE_LIMIT].max()),
    } | _nearness(cells)


def _nearness(cells: pd.DataFrame) -> Facts:
    """Return how near cells came to a bound, of which each has a share."""
    limited = cells["share"] >= NEAR
    ways = limited.groupby([cells["msg_bytes"], cells["n_threads"]])
    every, some = ways.all(), ways.any()
    of_sizes = every.groupby(level="msg_bytes").all()
    return {
        "n_points": len(every),
        "n_full": int(every.sum()),
        "n_part": int((some & ~every).sum()),
        "sizes": of_sizes.index[of_sizes].tolist(),
        "highest": float(cells["share"].max()),
        "shares": cells[[*POINT, "share"]].to_numpy().tolist(),
    }


def _efficiency(msg_bytes: int, mtu_bytes: float, mss_bytes: float, ip_bytes: int) -> float:
    """Return the share of a link that carries messages: TCP's by its segments, else a datagram's.

    Parameters
    ----------
    mss_bytes
        What a segment carries; NaN where each message is a datagram, in as many packets as it
        takes.
    ip_bytes
        IP's header.
    """
    if not math.isnan(mss_bytes):
        # the path may have a smaller MTU than the device
        packet_bytes = min(mtu_bytes, mss_bytes + ip_bytes + _TCP)
        return min(mss_bytes, packet_bytes) / (packet_bytes + _FRAME)
    per_packet = (mtu_bytes - ip_bytes) // 8 * 8
    n_packets = math.ceil((msg_bytes + _UDP) / per_packet)
    return msg_bytes / (msg_bytes + _UDP + n_packets * (ip_bytes + _FRAME))
