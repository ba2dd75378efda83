"""Over the network between two machines: what the link allows, and what a byte takes of both."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.conditions import POINT
from copycost.analysis.evidence import NOT_COPIED_SHARE
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.real_nic_validity import copied_facts
from copycost.analysis.stats.estimates import estimate
from copycost.config.testbeds import away_on, is_wire, peer_of
from copycost.hosts.facts.kernel import is_virtual
from copycost.hosts.side import SIDES
from copycost.records.cpu_attribution import DROPS, machine_columns

NEAR = 0.95
"""From this share of what the link carries on, the link sets the throughput."""

PARTS = ("sender_process", "sender_rest", "receiver_process", "receiver_rest")
"""What a byte's CPU time on both machines consists of: each process, and the rest of its machine
(interrupts and softirqs, and whatever else ran there)."""

MACHINES = "machines_cpu_ns_per_byte"
"""The column of the CPU time of both machines per byte."""

# Ethernet (IEEE 802.3): preamble, header, checksum and the gap to the next frame [bytes]
_FRAME = 38
# headers of IP (version 4, and 6), TCP with time stamps, and UDP [bytes]
_IP = {False: 20, True: 40}
_TCP = 32
_UDP = 8
# a median of the receiver's that is above what the link carries by more belies the link's speed
_TOLERANCE = 0.02


def wire_facts(views: Mapping[str, View], peers: Mapping[str, Mapping[str, Any]]) -> Facts | None:
    """Return what was measured over the network to another machine; None where nothing was to be.

    Views are by slug; peers, what is known of the other machines (contents of
    results/peers/PEER.json), by their names.
    """
    over = [view for view in views.values() if is_wire(view.condition.testbed)]
    if not over:
        return None
    reached = {name: peer for name, peer in peers.items() if peer["wire"]["unavailable"] is None}
    conditions = [
        _condition(replace(view, rows=with_machines(view.rows)), reached)
        for view in over
        if view.is_measured
    ]
    # a virtual device may tell any speed: all wires to a machine say whether it is believed
    for name in reached:
        links = [one["link"] for one in conditions if one["peer"] == name and one["link"]]
        exceeded = max((link["highest"] for link in links), default=0.0)
        for link in links:
            link |= {"exceeded": exceeded, "believed": exceeded <= 1.0 + _TOLERANCE}
    return {
        "near": NEAR,
        # both ends of the network, `here` and `there`: see copycost.cli.doctor.peer
        "peers": [
            {"name": name}
            | {part: peer[part] for part in ("cpu", "kernel")}
            | {part: peer["wire"][part] for part in ("here", "there", "clock")}
            for name, peer in reached.items()
        ],
        "conditions": conditions,
    }


def with_machines(rows: pd.DataFrame, unit: str = "byte") -> pd.DataFrame:
    """Return rows of a table with what a unit of work takes of both machines [ns], and its parts.

    The `PARTS` add up to the whole; both are NaN where a machine was not counted. A process may
    have taken more than its machine was busy for, since the two are read at slightly different
    moments: then the rest is below 0. ``softirq_SIDE_share`` is the share of interrupts and
    softirqs in the CPU time of a side's machine.
    """
    names = [column.name for column in machine_columns(unit)]
    # a table that was made elsewhere may have none of them
    rows = rows.reindex(columns=[*rows, *(name for name in names if name not in rows)])
    found = {}
    for side in SIDES:
        machine, process, softirq = (
            rows[part_column(part, unit)]
            for part in (f"{side}_machine", side, f"{side}_machine_softirq")
        )
        found[part_column(f"{side}_process", unit)] = process.where(machine.notna())
        found[part_column(f"{side}_rest", unit)] = machine - process
        found[f"softirq_{side}_share"] = softirq / machine.where(machine > 0.0)
    sender, receiver = (rows[part_column(f"{side}_machine", unit)] for side in SIDES)
    found[part_column("machines", unit)] = sender + receiver
    # at once: a table of so many columns takes no single ones
    return pd.concat([rows, pd.DataFrame(found)], axis="columns")


def part_column(part: str, unit: str = "byte") -> str:
    """Return the column of one of `PARTS`, a side, its machine (``SIDE_machine``) or both."""
    return f"{part}_cpu_ns_per_{unit}"


def priced(
    rows: pd.DataFrame, testbed: str, peers: Mapping[str, Mapping[str, Any]], unit: str = "byte"
) -> tuple[pd.DataFrame, str | None]:
    """Return rows with the CPU time of both machines, over the network, and whose is to be told.

    Told are ``machines`` where their time was counted whenever that of the processes was;
    ``processes`` where it was not, or where both ends are one machine, which would count twice.
    Elsewhere than over the network, rows are unchanged, and None is told.
    """
    if not is_wire(testbed):
        return rows, None
    rows = with_machines(rows, unit)
    counted = rows.loc[rows[part_column("both", unit)].notna(), part_column("machines", unit)]
    peer = peers.get(peer_of(testbed) or "", {})
    twice = peer.get("wire", {}).get("one_kernel", False)
    whole = not counted.empty and bool(counted.notna().all()) and not twice
    return rows, "machines" if whole else "processes"


def _condition(view: View, peers: Mapping[str, Mapping[str, Any]]) -> Facts:
    testbed = view.condition.testbed
    peer = peer_of(testbed) or ""
    wire = peers[peer]["wire"] if peer in peers else None
    sends = "there" if "sender" in away_on(testbed) else "here"
    link, shares = _link(view, wire)
    parts = {name: view.mean(part_column(name), MACHINES) for name in PARTS}
    copied = copied_facts(view)
    known = view.measured["clock_uncertainty_ns"].dropna()
    of_window = known * 1e-9 / view.measured["window_s"].reindex(known.index)
    return {
        "slug": view.name,
        "testbed": testbed,
        "peer": peer,
        "sends": sends,
        "sender_only": view.sender_only,
        # whether the sender's device is no network card; None where the peer is not known
        "virtual": None if wire is None else is_virtual(wire[sends]["driver"]),
        "one_kernel": wire is not None and wire["one_kernel"],
        "link": link,
        "limit": _limit(view),
        "cells": list(_cells(view, shares)),
        # means over the cells; None where a machine was not counted
        "parts": (
            [{"name": name} | share for name, share in parts.items() if share]
            if all(parts.values())
            else None
        ),
        "softirq": {side: view.mean(f"softirq_{side}_share") for side in SIDES},
        "compared": [
            {
                "implementation": name,
                "baseline": BASELINE,
                "processes": view.together(part_column("both"), name, BASELINE),
                "machines": view.together(MACHINES, name, BASELINE),
            }
            for name in view.implementations
            if name != BASELINE and view.has(name, BASELINE)
        ],
        # by the completions; where none was recorded, the way is `untold`
        "zero_copy": [
            one | {"real": one["copied_share"] <= NOT_COPIED_SHARE}
            for one in copied
            if one["copied_share"] is not None
        ],
        "untold": [one["implementation"] for one in copied if one["copied_share"] is None],
        "lost": _lost(view),
        # the largest of all repetitions, as a share of a window, too
        "clock": (
            {"uncertainty_ns": float(known.max()), "share": float(of_window.max())}
            if len(known)
            else None
        ),
    }


def _link(view: View, wire: Mapping[str, Any] | None) -> tuple[Facts | None, pd.Series]:
    """Return what the link carries, and how near cells came; None where no device tells a speed.

    With it the share of each cell. The capacity is in bytes of messages, of the sizes the one of
    which the link carries most.
    """
    speeds = [wire[end]["speed_mbit_per_s"] for end in ("here", "there")] if wire else []
    known = [speed for speed in speeds if speed]
    mtu_bytes = view.measured["mtu_bytes"].median()
    if wire is None or not known or math.isnan(mtu_bytes):
        return None, pd.Series(dtype=float)
    speed = min(known) * 1e6
    ip_bytes = _IP[":" in wire["here"]["address"]]
    cells = view.measured.groupby(POINT)[[THROUGHPUT, "mss_bytes"]].median()
    sizes = cells.index.get_level_values("msg_bytes")
    carried = speed * np.array(
        [
            _efficiency(size, mtu_bytes, mss_bytes, ip_bytes)
            for size, mss_bytes in zip(sizes, cells["mss_bytes"], strict=True)
        ]
    )
    shares = cells[THROUGHPUT] / carried
    return {
        "speed_bits_per_s": speed,
        "mtu_bytes": int(mtu_bytes),
        "capacity_bits_per_s": float(carried.max()),
    } | _nearness(shares), shares


def _efficiency(msg_bytes: int, mtu_bytes: float, mss_bytes: float, ip_bytes: int) -> float:
    """Return the share of a link that carries messages: TCP's by its segments, else a datagram's.

    `mss_bytes` is what a segment carries; NaN where each message is a datagram, in as many packets
    as it takes.
    """
    if not math.isnan(mss_bytes):
        # the path may have a smaller MTU than the device
        packet_bytes = min(mtu_bytes, mss_bytes + ip_bytes + _TCP)
        return min(mss_bytes, packet_bytes) / (packet_bytes + _FRAME)
    per_packet = (mtu_bytes - ip_bytes) // 8 * 8
    n_packets = math.ceil((msg_bytes + _UDP) / per_packet)
    return msg_bytes / (msg_bytes + _UDP + n_packets * (ip_bytes + _FRAME))


def _limit(view: View) -> Facts | None:
    """Return what the sender was to send at most, and how near it came; None without a limit.

    Of the sizes that are allowed least and most, the payload of messages [bit/s].
    """
    rows, limit = view.measured, "rate_limit_bits_per_s"
    if limit not in rows or rows[limit].isna().all():
        return None
    # in the sender's own window, of which the table has the time of a message
    sent = rows["msg_bytes"] * rows["n_threads"] * 8e9 / rows["service_mean_ns"]
    # a table of so many columns takes no single ones
    cells = rows[[*POINT, limit]].assign(share=sent / rows[limit]).groupby(POINT).median().dropna()
    ends = {"low": float(cells[limit].min()), "high": float(cells[limit].max())}
    return ends | _nearness(cells["share"])


def _nearness(shares: pd.Series) -> Facts:
    """Return how near cells came to a bound, of which each, by `POINT`, has a share.

    Combinations of size and threads are full where the median of every implementation reached at
    least `NEAR`, part where only some did; `sizes` are those that are full with every number of
    threads.
    """
    limited = (shares >= NEAR).groupby(level=POINT[1:])
    every, some = limited.all(), limited.any()
    of_sizes = every.groupby(level="msg_bytes").all()
    return {
        "n_points": len(every),
        "n_full": int(every.sum()),
        "n_part": int((some & ~every).sum()),
        "sizes": of_sizes.index[of_sizes].tolist(),
        "highest": float(shares.max()),
    }


def _cells(view: View, link: pd.Series) -> Iterator[Facts]:
    """Yield medians of each cell: throughput, share of what the link carries, `PARTS` [ns/byte]."""
    order = {name: place for place, name in enumerate(view.implementations)}
    groups: dict[Any, pd.DataFrame] = dict(list(view.measured.groupby(POINT)))
    for cell in sorted(groups, key=lambda at: (at[2], at[1], order[at[0]])):
        rows = groups[cell]
        parts = {name: rows[part_column(name)].median() for name in PARTS}
        yield {
            **dict(zip(POINT, cell, strict=True)),
            "throughput": estimate(rows[THROUGHPUT], view.settings),
            "link_share": link.get(cell),
            "parts": None if any(map(math.isnan, parts.values())) else parts,
        }


def _lost(view: View) -> Facts:
    """Return what was lost on the way, over all repetitions."""
    rows = view.measured
    again = {name: _sent_again(view.of(name)) for name in view.implementations if view.has(name)}
    told = sorted((value, name) for name, value in again.items() if value is not None)
    ends = [{"implementation": name, "value": value} for value, name in (*told[:1], *told[-1:])]
    sent = rows["datagrams_sent"].sum() if "datagrams_sent" in rows else 0.0
    return {
        "sent_again": _sent_again(rows),
        # the fewest and the most, where that differs
        "again": ends if told and told[0][0] < told[-1][0] else None,
        # share of the datagrams, from the first to the last, that did not arrive; None over TCP
        "datagrams": float(rows["datagrams_lost"].sum() / sent) if sent > 0 else None,
        "sides": {
            side: {
                "counted": bool(rows[f"{side}_device_rx_dropped"].notna().any()),
                "drops": [
                    {"cause": cause, "packets": int(packets)}
                    for cause in DROPS
                    if (packets := rows[f"{side}_{cause}"].sum()) > 0
                ],
            }
            for side in SIDES
        },
    }


def _sent_again(rows: pd.DataFrame) -> float | None:
    """Return the segments sent again per 10^9 received bytes; None over UDP."""
    sent = rows["tcp_retransmits"].sum(min_count=1)
    return None if math.isnan(sent) else float(sent / rows["received_bytes"].sum() * 1e9)
