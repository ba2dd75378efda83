"""Over the network between two machines: what the link allows, and what a byte takes of both."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.condition_view import View, mean_over_cells
from copycost.analysis.conditions import POINT
from copycost.analysis.evidence import NOT_COPIED_SHARE
from copycost.analysis.external_validity import copied_shares
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.ratio_facts import together
from copycost.config.testbeds import away_on, is_wire, peer_of
from copycost.hosts.facts.net import is_virtual
from copycost.hosts.side import SIDES
from copycost.records.machine_windows import DROPS, machine_columns
from copycost.stats.estimates import estimate

NEAR = 0.95
"""From this share of what the link carries on, the link sets the throughput."""

_RATE_LIMIT = "rate_limit_bits_per_s"
# Ethernet (IEEE 802.3): preamble, header, checksum and the gap to the next frame [bytes]
_FRAME = 38
# headers of IP (version 4, and 6), TCP with time stamps, and UDP [bytes]
_IP = {False: 20, True: 40}
_TCP = 32
_UDP = 8


def link_facts(view: View, wire: Mapping[str, Any] | None) -> tuple[Facts | None, pd.Series]:
    """Return what the link carries, and how near the receiver came; None where no device tells.

    With it the share of each cell, see `_nearness`.

    Keys
    ----
    speed_bits_per_s: As the devices tell it, the slower of both.
    mtu_bytes: Of the sender's device.
    capacity_bits_per_s: Bytes of messages that it carries in packets of that size, the largest of
        the sizes.
    n_points, n_full, n_part, sizes, highest: See `_nearness`.
    exceeded, believed: The highest share of all wires to that machine, and whether no cell's median
        is above what the link carries: a virtual device may tell any speed.
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


def limit_facts(view: View) -> Facts | None:
    """Return what the sender was to send at most, and how near it came; None without a limit.

    Keys
    ----
    low, high: Payload of messages of the size that is allowed least, and most [bit/s].
    n_points, n_full, n_part, sizes, highest: See `_nearness`.
    """
    rows = view.measured
    if _RATE_LIMIT not in rows or rows[_RATE_LIMIT].isna().all():
        return None
    # in the sender's own window, of which the table has the time of a message
    sent = rows["msg_bytes"] * rows["n_threads"] * 8e9 / rows["service_mean_ns"]
    # a table of so many columns takes no single ones
    cells = rows[[*POINT, _RATE_LIMIT]].assign(share=sent / rows[_RATE_LIMIT])
    cells = cells.groupby(POINT).median().dropna()
    limits, shares = cells[_RATE_LIMIT], cells["share"]
    ends = {"low": float(limits.min()), "high": float(limits.max())}
    return ends | _nearness(shares)


def _nearness(shares: pd.Series) -> Facts:
    """Return how near cells came to a bound, of which each, by `POINT`, has a share.

    Keys
    ----
    n_points, n_full, n_part, sizes: Combinations of size and threads; those where the median of
        every implementation reached at least `NEAR`, and those where only some did; the sizes where
        every one did with every number of threads.
    highest: The largest share.
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


PARTS = ("sender_process", "sender_rest", "receiver_process", "receiver_rest")
"""What a byte's CPU time on both machines consists of: each process, and the rest of its machine
(interrupts and softirqs, and whatever else ran there)."""

MACHINES = "machines_cpu_ns_per_byte"
"""The column of the CPU time of both machines per byte."""

_PROCESSES = "both_cpu_ns_per_byte"
# a median of the receiver's that is above what the link carries by more belies the link's speed
_TOLERANCE = 0.02


def wire_facts(views: Mapping[str, View], peers: Mapping[str, Mapping[str, Any]]) -> Facts | None:
    """Return what was measured over the network to another machine; None where nothing was to be.

    Views are by slug; peers, what is known of the other machines (contents of
    results/peers/PEER.json), by their names.

    Keys
    ----
    near: `NEAR`.
    peers: Per other machine that was reached: name; what it is: ``cpu``, ``kernel``, ``net``,
        ``unknown`` as of a host; and both ends of the network, ``here`` and ``there``, see
        `copycost.doctor.peer`, with ``clock``.
    conditions: Per condition that was measured: slug, testbed, peer (its name), sends (``here`` or
        ``there``), sender_only (whether nobody receives), virtual (whether the sender's device is
        no network card; None if not known), one_kernel (whether both ends are one machine), link
        (see `link_facts`), limit (see `limit_facts`), cells (see `_cells`), lost (see `_lost`).
    parts: Of what both machines spend on a byte: name (of `PARTS`) and its share, the mean over the
        cells in each round and of that the mean over the rounds; None where not counted.
    softirq: Per side, the share of interrupts and softirqs in the CPU time of its machine,
        likewise.
    compared: Over the baseline, over the cells together: implementation, baseline, processes and
        machines (see `copycost.analysis.ratio_facts`; None where not counted).
    zero_copy, untold: Of what asks for no copy: implementation, copied_share by the completions,
        real (no copy to speak of); and the names of those of which no completion was recorded.
    clock: uncertainty_ns: the largest of all repetitions; share of the shortest window; None where
        not recorded.
    """
    over = [view for view in views.values() if is_wire(view.studied.condition.testbed)]
    if not over:
        return None
    reached = {name: peer for name, peer in peers.items() if peer["wire"]["unavailable"] is None}
    conditions = [
        _condition(replace(view, rows=with_machines(view.rows)), reached)
        for view in over
        if view.is_measured
    ]
    return {
        "near": NEAR,
        "peers": [
            {"name": name}
            | {part: peer[part] for part in ("cpu", "kernel", "net", "unknown")}
            | {part: peer["wire"][part] for part in ("here", "there", "clock")}
            for name, peer in reached.items()
        ],
        "conditions": [_judged(one, conditions) for one in conditions],
    }


def with_machines(rows: pd.DataFrame, unit: str = "byte") -> pd.DataFrame:
    """Return rows of a table with what a unit of work takes of both machines, and the parts of it.

    They are of the cells table, or with another unit, of the table that has the costs of that; see
    `copycost.records.cpu_attribution.UNITS`.

    Columns
    -------
    machines_cpu_ns_per_UNIT: CPU time of both machines; NaN where one was not counted.
    PART_cpu_ns_per_UNIT: Its `PARTS`, whose sum it is. A process may have taken more than its
        machine was busy for, since the two are read at slightly different moments: then the rest is
        below 0.
    softirq_SIDE_share: Share of interrupts and softirqs in the CPU time of a side's machine.
    """
    names = [column.name for column in machine_columns(unit)]
    # a table that was made elsewhere may have none of them
    rows = rows.reindex(columns=[*rows, *(name for name in names if name not in rows)])
    cost = f"cpu_ns_per_{unit}"
    found = {}
    for side in SIDES:
        machine, process = rows[f"{side}_machine_{cost}"], rows[f"{side}_{cost}"]
        softirq = rows[f"{side}_machine_softirq_{cost}"]
        found[part_column(f"{side}_process", unit)] = process.where(machine.notna())
        found[part_column(f"{side}_rest", unit)] = machine - process
        found[f"softirq_{side}_share"] = softirq / machine.where(machine > 0.0)
    machines = [rows[f"{side}_machine_{cost}"] for side in SIDES]
    found[part_column("machines", unit)] = machines[0] + machines[1]
    # at once: a table of so many columns takes no single ones
    return pd.concat([rows, pd.DataFrame(found)], axis="columns")


def priced(
    rows: pd.DataFrame, testbed: str, peers: Mapping[str, Mapping[str, Any]], unit: str = "byte"
) -> tuple[pd.DataFrame, str | None]:
    """Return rows with the CPU time of both machines, over the network, and whose is to be told.

    Rows are as of `with_machines`. Told are ``machines`` where their time was counted whenever that
    of the processes was; ``processes`` where it was not, or where both ends are one machine, which
    would count twice. Elsewhere than over the network, rows are unchanged, and None is told.
    """
    if not is_wire(testbed):
        return rows, None
    rows = with_machines(rows, unit)
    counted = rows.loc[rows[f"both_cpu_ns_per_{unit}"].notna(), part_column("machines", unit)]
    peer = peers.get(peer_of(testbed) or "", {})
    twice = peer.get("wire", {}).get("one_kernel", False)
    whole = not counted.empty and bool(counted.notna().all()) and not twice
    return rows, "machines" if whole else "processes"


def part_column(part: str, unit: str = "byte") -> str:
    """Return the column of one of `PARTS`, a side, its machine (``SIDE_machine``) or both."""
    return f"{part}_cpu_ns_per_{unit}"


def _condition(view: View, peers: Mapping[str, Mapping[str, Any]]) -> Facts:
    testbed = view.studied.condition.testbed
    peer = peer_of(testbed) or ""
    wire = peers[peer]["wire"] if peer in peers else None
    sends = "there" if "sender" in away_on(testbed) else "here"
    others = [name for name in view.implementations if view.has(name) and name != BASELINE]
    link, link_shares = link_facts(view, wire)
    shares = copied_shares(view)
    return {
        "slug": view.name,
        "testbed": testbed,
        "peer": peer,
        "sends": sends,
        "sender_only": view.sender_only,
        "virtual": None if wire is None else is_virtual(wire[sends]["driver"]),
        "one_kernel": wire is not None and wire["one_kernel"],
        "link": link,
        "limit": limit_facts(view),
        "cells": list(_cells(view, link_shares)),
        "parts": _parts(view),
        "softirq": {side: mean_over_cells(view, f"softirq_{side}_share") for side in SIDES},
        "compared": [
            {
                "implementation": name,
                "baseline": BASELINE,
                "processes": together(view, view.cube.pair(_PROCESSES, name, BASELINE)),
                "machines": together(view, view.cube.pair(MACHINES, name, BASELINE)),
            }
            for name in others
            if view.has(BASELINE)
        ],
        "zero_copy": [
            {"implementation": name, "copied_share": share, "real": share <= NOT_COPIED_SHARE}
            for name, share in shares.items()
            if share is not None
        ],
        "untold": [name for name, share in shares.items() if share is None],
        "lost": _lost(view),
        "clock": _clock(view),
    }


def _judged(condition: Facts, conditions: Sequence[Facts]) -> Facts:
    """Return a condition whose link says whether its speed is believed, which all wires decide."""
    link = condition["link"]
    if link is None:
        return condition
    alike = [one["link"] for one in conditions if one["peer"] == condition["peer"]]
    exceeded = max(one["highest"] for one in alike if one)
    judged = {"exceeded": exceeded, "believed": exceeded <= 1.0 + _TOLERANCE}
    return condition | {"link": link | judged}


def _cells(view: View, link: pd.Series) -> Iterator[Facts]:
    """Yield what was measured of each cell.

    Keys
    ----
    implementation, msg_bytes, n_threads: Which.
    throughput: [bit/s] (estimate)
    link_share: Its median as a share of what the link carries; None where that is not known.
    parts: Medians of `PARTS` [ns per byte]; None where not counted.
    """
    order = {name: place for place, name in enumerate(view.implementations)}
    groups: dict[Any, pd.DataFrame] = dict(list(view.measured.groupby(POINT)))
    for cell in sorted(groups, key=lambda at: (at[2], at[1], order[at[0]])):
        rows = groups[cell]
        parts = {name: rows[part_column(name)].median() for name in PARTS}
        yield {
            "implementation": cell[0],
            "msg_bytes": int(cell[1]),
            "n_threads": int(cell[2]),
            "throughput": estimate(rows[THROUGHPUT], view.settings),
            "link_share": link.get(cell),
            "parts": None if any(map(math.isnan, parts.values())) else parts,
        }


def _parts(view: View) -> list[Facts] | None:
    found = [(name, mean_over_cells(view, part_column(name), MACHINES)) for name in PARTS]
    if any(share is None for _, share in found):
        return None
    return [{"name": name} | dict(share) for name, share in found if share]


def _lost(view: View) -> Facts:
    """Return what was lost on the way, over all repetitions.

    Keys
    ----
    sent_again: Segments that the sender sent again per 10^9 received bytes; None over UDP.
    again: Where that differs, the fewest and the most: implementation, and value; else None.
    datagrams: Share of the datagrams, from the first to the last, that did not arrive; None over
        TCP.
    sides: Per side, whether its device was ``counted``, and the ``drops``: cause (of
        `copycost.records.machine_windows.DROPS`) and packets, those that there were.
    """
    rows = view.measured
    again = {name: _sent_again(view.of(name)) for name in view.implementations if view.has(name)}
    told = sorted((value, name) for name, value in again.items() if value is not None)
    ends = [{"implementation": name, "value": value} for value, name in (*told[:1], *told[-1:])]
    differ = bool(told) and told[0][0] < told[-1][0]
    sent = rows["datagrams_sent"].sum() if "datagrams_sent" in rows else 0.0
    return {
        "sent_again": _sent_again(rows),
        "again": ends if differ else None,
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


def _clock(view: View) -> Facts | None:
    known = view.measured["clock_uncertainty_ns"].dropna()
    if known.empty:
        return None
    shares = known * 1e-9 / view.measured["window_s"].reindex(known.index)
    return {"uncertainty_ns": float(known.max()), "share": float(shares.max())}
