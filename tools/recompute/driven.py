"""Repetitions of the studies that iperf3 drives, read from the raw records.

Who used how much CPU in the window, inside of guests and outside, and what became of datagrams.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

SIDES = ("sender", "receiver")
POINT = {"cpu_budget": "limit_percent", "datagrams": "msg_bytes"}
"""The studies, and what a curve of each goes along."""

# what a guest says of a time that is longer or shorter by more is not of the window
_OTHER_TIME = 0.25
_FEWEST_INTERVALS = 3


def driven(results: Path, study: str) -> pd.DataFrame:
    """Return a row per measured repetition of iperf3 in one of the studies.

    Columns
    -------
    sender, receiver, host
        CPU that the processes and the whole machine used [% of one CPU].
    SIDE_PARTY
        That of a side's guest and of its hypervisor; the receiver has none in the sender's guest.
    bits_per_s
        Payload received.
    sent, lost, lost_CAUSE
        Datagrams.
    """
    assert study in POINT
    rows = []
    for path in sorted((results / "raw" / study).rglob("rep=*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["status"] != "measured" or record["driver"]["name"] != "iperf3":
            continue
        row = {**record["cell"], **_processes(record, by_perf=study == "datagrams")}
        row["bits_per_s"] = sum(_received(pair, record["window"]) for pair in _pairs(record))
        row |= _of_guests(record["observed"].get("hypervisor"))
        if study == "datagrams":
            row |= _account(record["observed"]["datagrams"])
        rows.append(row)
    return pd.DataFrame(rows)


def named_rows(rows: pd.DataFrame, testbed: str, n_threads: str, variant: str) -> pd.DataFrame:
    """Return the repetitions of a curve, by how its name distinguishes it from others."""
    rows = rows[(rows["testbed"] == testbed) & (rows["n_threads"] == int(n_threads))]
    for name in ("implementation", "limiter"):
        if name in rows and rows[name].nunique() > 1:
            rows = rows[rows[name].isin(variant.split(", "))]
    return rows


def _pairs(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = record["driver"]["pairs"]
    return found


def _processes(record: Mapping[str, Any], *, by_perf: bool) -> dict[str, float]:
    """Return what both sides used: by the scheduler, or by perf where it counted both."""
    usage = record["observed"]["usage"]
    counted = {
        side: (record["observed"]["perf_stat"][side] or {}).get("events", {}) for side in SIDES
    }
    clocks = {side: counted[side].get("task_clock_ns", {}).get("value") for side in SIDES}
    by_perf = by_perf and None not in clocks.values()
    ns = {side: clocks[side] if by_perf else usage[side]["cpu_ns"] for side in SIDES}
    return {side: 100.0 * ns[side] / usage[side]["window_ns"] for side in SIDES}


def _received(pair: Mapping[str, Any], window: Mapping[str, int]) -> float:
    """Return the rate of a server in the intervals that lie wholly in the window [bit/s]."""
    start, end = ((window[edge] - pair["began_ns"]) / 1e9 for edge in ("start_ns", "end_ns"))
    sums = [interval["sum"] for interval in pair["server"]["intervals"]]
    inside = [
        one
        for one in sums
        if None not in (one["start"], one["end"], one["bytes"])
        and start <= one["start"] < one["end"] <= end
    ]
    if len(inside) < _FEWEST_INTERVALS:
        return math.nan
    n_bytes = sum(one["bytes"] for one in inside)
    return float(n_bytes * 8 / sum(one["end"] - one["start"] for one in inside))


def _of_guests(found: Mapping[str, Any] | None) -> dict[str, float]:
    """Return what guests and their hypervisors used [% of one CPU]."""
    if found is None:
        return {}
    machine = found["machine"]
    row = {"host": 100.0 * machine["busy_ns"] / machine["window_ns"]}
    for guest in found["guests"]:
        side, inside, window_ns = guest["sides"][0], guest["inside"], guest["window_ns"]
        used = {kind: 100.0 * of["cpu_ns"] / window_ns for kind, of in guest["threads"].items()}
        outside = sum(used.values())
        busy = 100.0 * inside["busy_ns"] / inside["window_ns"]
        if abs(inside["window_ns"] / window_ns - 1.0) > _OTHER_TIME:
            busy = math.nan
        own = math.nan if math.isnan(busy) else min(busy, used["vcpu"])
        used |= {"guest": busy, "hypervisor": outside, "overhead": outside - own}
        for kind in ("vcpu", "io"):
            used[f"{kind}_waiting"] = 100.0 * guest["threads"][kind]["waiting_ns"] / window_ns
        row |= {f"{side}_{party}": value for party, value in used.items()}
    return row


def _account(counters: Mapping[str, Any]) -> dict[str, float]:
    """Return how many datagrams were sent and lost, and for want of what room."""
    change = {
        place: {
            name: counters["stopped"][place][name] - value
            for name, value in counters["begin"][place].items()
        }
        for place in counters["begin"]
    }
    sender = change["sender"]
    receiver = change.get("receiver", sender)
    lost = sender["Udp.OutDatagrams"] - receiver["Udp.InDatagrams"]
    return {
        "sent": sender["Udp.OutDatagrams"],
        "lost": lost,
        "lost_receive_buffer": receiver["Udp.RcvbufErrors"],
    }
