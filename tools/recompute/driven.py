"""Repetitions of the studies that iperf3 or our own programs drive, read from the raw records.

Who used how much CPU in the window, inside of guests and outside, what held a sender back, and what
became of datagrams.
"""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tools.recompute.raw import records_of

SIDES = ("sender", "receiver")
POINT = {"cpu_budget": "limit_percent", "datagrams": "msg_bytes"}
"""The studies, and what a curve of each goes along."""
MISSED = 5.0
"""By more points of one CPU than that, per stream, a limiter misses."""
CURVE = re.compile(r"`([\w-]+)` with (\d+) streams?(?: \(([^)]*)\))?")
"""The name of a curve: a testbed, a number of streams, and what distinguishes it from others."""

CAUSES = {
    "receive_buffer": "found no room in the receive buffer",
    "socket_memory": "found no memory for sockets",
    "reassembly": "found no room where the receiver's kernel puts the packets of a datagram"
    " together",
    "device": "was dropped by a network device",
    "tap": "was dropped on the host by a guest's TAP device",
    "bridge": "was dropped on the host by the bridge between the guests",
    "other": "had other causes",
}
"""Why datagrams are lost, and how that is told."""

# what a guest says of a time that is longer or shorter by more is not of the window
_OTHER_TIME = 0.25
_FEWEST_INTERVALS = 3
_FULL = 95.0
_NO_LIMIT = 100
_IN_PACKETS = ("reassembly", "device", "tap", "bridge")
_ELSEWHERE = (
    "Udp.InCsumErrors", "Udp.NoPorts", "Ip.InDiscards", "Ip.InHdrErrors", "Ip.InAddrErrors",
    "Ip.OutDiscards", "Ip.OutNoRoutes", "Ip.FragFails",
)  # fmt: skip


def driven(results: Path, study: str) -> pd.DataFrame:
    """Return a row per measured repetition of one of the studies.

    Columns
    -------
    sender, receiver, host
        CPU that the processes and the whole machine used [% of one CPU].
    SIDE_by_scheduler, SIDE_by_perf, SIDE_waiting
        That of the processes by either clock, and for how long they waited for a CPU.
    SIDE_PARTY
        That of a side's guest and of its hypervisor; the receiver has none in the sender's guest.
    emulated, shared
        Whether an emulator ran the guests, and whether one guest holds both sides.
    bits_per_s, sent_bits_per_s, kernel_bits_per_s
        Payload received and sent, and received as the kernel counts what is read.
    kind, missed, saturated
        Of the limiter: what it is; whether it missed, and whether the sender left more than that of
        its budget unused for another reason.
    sent, received, lost, lost_CAUSE, unaccounted
        Datagrams, until the receivers had read all.
    """
    assert study in POINT
    rows = []
    for record in records_of(results / "raw" / study):
        if record["status"] != "measured":
            continue
        row = {**record["cell"], **_processes(record, by_perf=study == "datagrams")}
        row["foreign"] = any(one["code"] == "foreign_load" for one in record["warnings"])
        row["version"] = record["driver"].get("version")
        row |= _rates(record)
        row |= _of_guests(record["observed"].get("hypervisor"))
        if study == "datagrams":
            row |= _datagrams(record)
        else:
            row |= _limited(record, row)
        rows.append(row)
    return pd.DataFrame(rows)


def named_rows(rows: pd.DataFrame, testbed: str, n_threads: str, variant: str) -> pd.DataFrame:
    """Return the repetitions of a curve, by how its name distinguishes it from others."""
    rows = rows[(rows["testbed"] == testbed) & (rows["n_threads"] == int(n_threads))]
    told = {
        "implementation": re.search(r"our sender with `(\w+)`|(iperf3)", variant),
        "limiter": re.search(r"limited by (?:a control group|`(cpulimit)`)", variant),
    }
    for name, found in told.items():
        if found is not None:
            value = next((one for one in found.groups() if one), "cgroup")
            rows = rows[rows[name] == value]
    if rows.empty or len(rows[[n for n in told if n in rows]].drop_duplicates()) != 1:
        raise LookupError(f"{testbed} with {n_threads} streams ({variant}) is no curve")
    if ("emulated" in variant) != bool(rows["emulated"].any()):
        raise ValueError("an emulator is to be told of where there was one, and only there")
    return rows


def curves(rows: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield what each curve is of, and its repetitions."""
    keys = [name for name in ("testbed", "implementation", "limiter", "n_threads") if name in rows]
    for key, of in rows.groupby(keys, sort=False):
        yield dict(zip(keys, key, strict=True)), of


def _pairs(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = record["driver"].get("pairs", [])
    return found


def _length_ns(report: Mapping[str, Any]) -> int:
    return int(report["window"]["end_ns"] - report["window"]["start_ns"])


def _processes(record: Mapping[str, Any], *, by_perf: bool) -> dict[str, float]:
    """Return what both sides used: by the scheduler, or by perf where it counted both.

    Our own programs read their clocks themselves, at the edges of their windows; but one that
    `cpulimit` stops may be stopped there too.
    """
    usage = record["observed"].get("usage") or {}
    row: dict[str, float] = {}
    for side in SIDES:
        seen = usage.get(side)
        perf = (record["observed"]["perf_stat"][side] or {}).get("events", {})
        by_it = perf.get("task_clock_ns", {}).get("value")
        stopped = side == "sender" and record["cell"].get("limiter") == "cpulimit"
        if seen is not None and (_pairs(record) or stopped):
            used, window = seen["cpu_ns"], seen["window_ns"]
        else:
            report = record["driver"][side]
            used, window = report["process"]["cpu_ns"], _length_ns(report)
        row[f"{side}_by_scheduler"] = 100.0 * used / window
        row[f"{side}_by_perf"] = math.nan if by_it is None else 100.0 * by_it / window
        row[f"{side}_waiting"] = _waiting(record, side, seen)
    clocks = {side: row[f"{side}_by_perf"] for side in SIDES}
    row["by_perf"] = by_perf and not any(map(math.isnan, clocks.values()))
    own = "by_perf" if row["by_perf"] else "by_scheduler"
    return row | {side: row[f"{side}_{own}"] for side in SIDES}


def _waiting(record: Mapping[str, Any], side: str, seen: Mapping[str, Any] | None) -> float:
    """Return for how long a side could run but had no CPU, but for what a limiter held back."""
    if seen is None or seen["waiting_ns"] is None:
        return math.nan
    held_ns: int = 0
    throttled = (record["observed"].get("cpu_limit") or {}).get("throttled")
    if side == "sender" and throttled:
        held_ns = throttled["throttled_ns"]
        cpus = set(record["settings"]["sender_cpus"])
        if held_ns and len(cpus) < record["cell"]["n_threads"]:
            return math.nan  # the kernel counts it once per CPU
    return float(100.0 * max(seen["waiting_ns"] - held_ns, 0) / seen["window_ns"])


def _rates(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the rates of the window, by who drove it and by the kernel [bit/s]."""
    if pairs := _pairs(record):
        read = record["observed"]["usage"]["receiver"]
        by_role = {
            role: sum(_in_window(pair[role], pair["began_ns"], record["window"]) for pair in pairs)
            for role in ("client", "server")
        }
        by_kernel = math.nan
        if read["read_bytes"] is not None:
            by_kernel = read["read_bytes"] * 8e9 / read["window_ns"]
        return {
            "bits_per_s": by_role["server"],
            "sent_bits_per_s": by_role["client"],
            "kernel_bits_per_s": by_kernel,
        }
    own = {
        side: record["driver"][side]["in_window"]["bytes"]
        * 8e9
        / _length_ns(record["driver"][side])
        for side in SIDES
    }
    return {
        "bits_per_s": own["receiver"],
        "sent_bits_per_s": own["sender"],
        "kernel_bits_per_s": math.nan,
    }


def _in_window(report: Mapping[str, Any], began_ns: int, window: Mapping[str, int]) -> float:
    """Return the rate of one end in the intervals that lie wholly in the window [bit/s]."""
    start, end = ((window[edge] - began_ns) / 1e9 for edge in ("start_ns", "end_ns"))
    sums = [interval["sum"] for interval in report["intervals"]]
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
    row: dict[str, Any] = {"emulated": False, "shared": False}
    if found is None:
        return row
    machine = found["machine"]
    row["host"] = 100.0 * machine["busy_ns"] / machine["window_ns"]
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
        used["vcpus"] = guest["vcpu_threads"]
        row |= {f"{side}_{party}": value for party, value in used.items()}
        row["emulated"] |= guest["accelerator"] == "tcg"
        row["shared"] |= len(guest["sides"]) > 1
    return row


def _limited(record: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether the limiter missed, and whether the sender left its budget for another cause.

    What it used too much is the limiter's doing, and what it used too little is where it held the
    sender back most of the time. One that does not tell is to blame, unless the receiver's CPU was
    full, or the sender waited for a CPU for as long as is missing.
    """
    cell, limit = record["cell"], record["observed"]["cpu_limit"]
    left = cell["limit_percent"] - row["sender"] / cell["n_threads"]
    found = {"kind": limit["kind"], "missed": False, "saturated": False}
    if not limit["held"] or left < -MISSED:
        return found | {"missed": True}
    if left <= MISSED:
        return found
    throttled = limit["throttled"]
    if cell["limit_percent"] == _NO_LIMIT:
        by_limiter = False
    elif throttled and throttled["periods"]:
        by_limiter = throttled["throttled_periods"] >= 0.5 * throttled["periods"]
    else:
        full = row["receiver"] / cell["n_threads"] >= _FULL
        by_limiter = not full and not row["sender_waiting"] / cell["n_threads"] >= left - MISSED
    return found | {"missed": by_limiter, "saturated": not by_limiter}


def _datagrams(record: Mapping[str, Any]) -> dict[str, float]:
    """Return what a datagram costs each side [ns], and what became of all of them."""
    size = record["cell"]["msg_bytes"]
    row: dict[str, float] = {"drained": record["observed"]["datagrams"]["drained"]}
    mtu_bytes = row["mtu_bytes"] = record["testbed"]["mtu_bytes"]
    # all packets but the last carry a multiple of 8 bytes
    each = -(-(size + 8) // ((mtu_bytes - 20) // 8 * 8)) if size + 28 > mtu_bytes else 1
    counters = record["observed"]["datagrams"]
    far = record["cell"]["testbed"].startswith("wire")
    row |= _account(counters, "stopped", each, far=far) | {"packets_each": each}
    whole = _account(counters, "end", each, far=far)
    row |= {"kernel_sent": whole["sent"], "kernel_lost": whole["lost"]}
    ends = [pair["client"].get("end") or {} for pair in _pairs(record)]
    told = [(end.get("sum") or {}).get("lost_packets", math.nan) for end in ends]
    row["driver_lost"] = math.nan if None in told or not told else sum(map(float, told))
    late = [
        (stream.get("udp") or {}).get("out_of_order") or 0
        for end in ends
        for stream in end.get("streams", ())
    ]
    return row | {"driver_out_of_order": sum(late)}


def _account(
    counters: Mapping[str, Any], until: str, packets_each: int, *, far: bool
) -> dict[str, float]:
    """Return how many datagrams were sent and lost until some moment, and for want of what room."""
    change = {
        place: {
            name: counters[until][place][name] - value
            for name, value in counters["begin"][place].items()
        }
        for place in counters["begin"]
    }
    sender = change["sender"]
    receiver = change.get("receiver", sender)
    sent, received = sender["Udp.OutDatagrams"], receiver["Udp.InDatagrams"]
    lost = {
        "receive_buffer": receiver["Udp.RcvbufErrors"],
        "socket_memory": receiver.get("Udp.MemErrors", 0),
        "other": sum(of.get(name, 0) for of in change.values() for name in _ELSEWHERE),
    }
    packets = _packets(change, sender, receiver, far=far)
    left = sent - received - sum(lost.values())
    lost |= packets if packets_each == 1 else _each_its_part(left, packets)
    if far:  # of what is left, errors of devices explain as much as there are
        rest = max(0, sent - received - sum(lost.values()))
        lost["device"] += min(
            rest, receiver.get("dev.rx_errors", 0) + sender.get("dev.tx_errors", 0)
        )
    named = {f"lost_{cause}": value for cause, value in lost.items()}
    unaccounted = sent - received - sum(lost.values())
    return {
        "sent": sent, "lost": sent - received, **named, "unaccounted": unaccounted
    }  # fmt: skip


def _packets(
    change: Mapping[str, Any], sender: Mapping[str, int], receiver: Mapping[str, int], *, far: bool
) -> dict[str, int]:
    """Return how many packets were lost on the way to the socket, by where."""
    failed = receiver.get("Ip.ReasmFails", 0) - receiver.get("Ip.ReasmTimeout", 0)
    found = {"reassembly": max(failed, 0), "tap": 0, "bridge": 0}
    at_ends = [receiver.get("dev.rx_dropped", 0), sender.get("dev.tx_dropped", 0)]
    if switch := change.get("switch"):
        found["tap"] = switch["tap.rx_dropped"] + switch["tap.tx_dropped"]
        found["bridge"] = switch["bridge.dropped"]
        return found | {"device": sum(at_ends)}
    # both ends of a veth pair count the same packet
    return found | {"device": sum(at_ends) if far else max(at_ends)}


def _each_its_part(lost: int, packets: Mapping[str, int]) -> dict[str, int]:
    """Share out lost datagrams by packets; what rounding leaves falls to the largest."""
    total = sum(packets.values())
    if lost >= total:
        return dict(packets)
    if lost <= 0:
        return dict.fromkeys(packets, 0)
    found = {name: lost * n // total for name, n in packets.items()}
    largest = max(_IN_PACKETS, key=lambda name: packets[name])
    found[largest] += lost - sum(found.values())
    return found
