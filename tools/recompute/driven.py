"""Repetitions of the studies that iperf3 or our own programs drive, read from the raw records.

Who used how much CPU in the window, inside of guests and outside, what held a sender back, and what
became of datagrams. Columns are named as in the tables.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tools.recompute.raw import cpus_of_guests, records_of

SIDES = ("sender", "receiver")
# By more points of one CPU than that, per stream, a limiter misses.
_MISSED = 5.0
_FEWEST_INTERVALS = 3
_FULL = 95.0
_NO_LIMIT = 100
# Datagrams besides messages: a welcome and a goodbye.
_NOTES = 2
_IN_PACKETS = ("reassembly", "device", "tap", "bridge")
_ELSEWHERE = (
    "Udp.InCsumErrors", "Udp.NoPorts", "Ip.InDiscards", "Ip.InHdrErrors", "Ip.InAddrErrors",
    "Ip.OutDiscards", "Ip.OutNoRoutes", "Ip.FragFails",
)  # fmt: skip


def driven(results: Path, study: str) -> pd.DataFrame:
    """Return a row per repetition of `cpu_budget` or of `datagrams`."""
    rows = []
    for record in records_of(results / "raw" / study):
        row: dict[str, Any] = {**record["cell"], "status": record["status"]}
        rows.append(row)
        if study == "cpu_budget":
            row["offered_percent"] = float(row["limit_percent"] * row["n_threads"])
            row |= {"limiter_missed": False, "saturated": False}
        if record["status"] != "measured":
            continue
        row |= _rates(record) | _of_guests(record["observed"].get("hypervisor"))
        row |= _processes(record, by_perf=study == "datagrams")
        row |= {
            f"{name.removesuffix('_percent')}_ns_per_byte": value * 8e7 / row["bits_per_s"]
            for name, value in row.items()
            if name.endswith("_cpu_percent") and row["bits_per_s"] > 0
        }
        row |= _datagrams(record, row) if study == "datagrams" else _limited(record, row)
    return pd.DataFrame(rows)


def _pairs(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = record["driver"].get("pairs", [])
    return found


def _length_ns(report: Mapping[str, Any]) -> int:
    return int(report["window"]["end_ns"] - report["window"]["start_ns"])


def _processes(record: Mapping[str, Any], *, by_perf: bool) -> dict[str, Any]:
    """Return what both sides used: by the scheduler, or by perf where it counted both.

    Our own programs read their clocks themselves, at the edges of their windows; but one that
    `cpulimit` stops may be stopped there too.
    """
    usage = record["observed"].get("usage") or {}
    row: dict[str, Any] = {"cpu_clock": "scheduler"}
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
        row[f"{side}_cpu_percent"] = 100.0 * used / window
        row[f"{side}_perf_percent"] = math.nan if by_it is None else 100.0 * by_it / window
        row[f"{side}_waiting_percent"] = _waiting(record, side, seen)
    clocks = {f"{side}_cpu_percent": row[f"{side}_perf_percent"] for side in SIDES}
    if by_perf and not any(map(math.isnan, clocks.values())):
        row |= clocks | {"cpu_clock": "task_clock"}
    return row


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
    own = (record["driver"][side] for side in SIDES)
    sent, received = (one["in_window"]["bytes"] * 8e9 / _length_ns(one) for one in own)
    return {"bits_per_s": received, "sent_bits_per_s": sent, "kernel_bits_per_s": math.nan}


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


def _of_guests(found: dict[str, Any] | None) -> dict[str, Any]:
    """Return what guests and their hypervisors used [% of one CPU]."""
    if found is None:
        return {}
    row: dict[str, Any] = {
        f"{party}_cpu_percent": 100.0 * cpus for party, cpus in cpus_of_guests(found).items()
    }
    for guest in found["guests"]:
        side, window_ns = guest["sides"][0], guest["window_ns"]
        for kind in ("vcpu", "io"):
            waited = 100.0 * guest["threads"][kind]["waiting_ns"] / window_ns
            row[f"{side}_{kind}_waiting_percent"] = waited
        row[f"{side}_vcpu_threads"] = guest["vcpu_threads"]
        row["accelerator"] = guest["accelerator"]
    return row


def _limited(record: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether the limiter missed, and whether the sender left its budget for another cause.

    What it used too much is the limiter's doing, and what it used too little is where it held the
    sender back most of the time. One that does not tell is to blame, unless the receiver's CPU was
    full, or the sender waited for a CPU for as long as is missing.
    """
    cell, limit = record["cell"], record["observed"]["cpu_limit"]
    left = cell["limit_percent"] - row["sender_cpu_percent"] / cell["n_threads"]
    found = {"limiter_kind": limit["kind"], "limiter_missed": False, "saturated": False}
    if not limit["held"] or left < -_MISSED:
        return found | {"limiter_missed": True}
    if left <= _MISSED:
        return found
    throttled = limit["throttled"]
    if cell["limit_percent"] == _NO_LIMIT:
        by_limiter = False
    elif throttled and throttled["periods"]:
        by_limiter = throttled["throttled_periods"] >= 0.5 * throttled["periods"]
    else:
        waited = row["sender_waiting_percent"] / cell["n_threads"]
        full = row["receiver_cpu_percent"] / cell["n_threads"] >= _FULL
        by_limiter = not full and not waited >= left - _MISSED
    return found | {"limiter_missed": by_limiter, "saturated": not by_limiter}


def _datagrams(record: Mapping[str, Any], rates: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a datagram costs each side [ns], and what became of all of them."""
    size, counters = record["cell"]["msg_bytes"], record["observed"]["datagrams"]
    mtu_bytes = record["testbed"]["mtu_bytes"]
    row: dict[str, Any] = {"drained": counters["drained"], "mtu_bytes": mtu_bytes}
    for side, way, rate in (("sender", "sent", "sent_"), ("receiver", "received", "")):
        row[f"{way}_per_s"] = each_s = rates[f"{rate}bits_per_s"] / 8 / size
        row[f"{side}_ns"] = rates[f"{side}_cpu_percent"] * 1e7 / each_s if each_s > 0 else math.nan
    # all packets but the last carry a multiple of 8 bytes
    each = -(-(size + 8) // ((mtu_bytes - 20) // 8 * 8)) if size + 28 > mtu_bytes else 1
    row["packets_each"] = each
    row |= _account(record, "stopped", each)
    whole = _account(record, "end", each)
    row |= {"kernel_sent": whole["sent"], "kernel_lost": whole["lost"]}
    ends = [pair["client"].get("end") or {} for pair in _pairs(record)]
    told = [(end.get("sum") or {}).get("lost_packets") for end in ends]
    row["driver_lost"] = math.nan if None in told or not told else sum(told)
    late = [
        (stream.get("udp") or {}).get("out_of_order") or 0
        for end in ends
        for stream in end.get("streams", ())
    ]
    return row | {"driver_out_of_order": sum(late) if ends else math.nan}


def _account(record: Mapping[str, Any], until: str, packets_each: int) -> dict[str, float]:
    """Return how many datagrams were sent and lost until some moment, and for want of what room."""
    counters, driver = record["observed"]["datagrams"], record["driver"]
    far = record["cell"]["testbed"].startswith("wire")
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
    if driver.get("sender"):  # our programs repeat what greets and ends each connection
        notes = _NOTES * record["cell"]["n_threads"]
        again = sent - driver["sender"]["total"]["datagrams"] - notes
        sent -= min(max(0, again), max(0, sent - received - sum(lost.values())))
    if far:  # of what is left, errors of devices explain as much as there are
        rest = max(0, sent - received - sum(lost.values()))
        errors = receiver.get("dev.rx_errors", 0) + sender.get("dev.tx_errors", 0)
        lost["device"] += min(rest, errors)
    named = {f"lost_{cause}": value for cause, value in lost.items()}
    unaccounted = sent - received - sum(lost.values())
    account = {"sent": sent, "received": received, "lost": sent - received}
    return account | named | {"lost_unaccounted": unaccounted}


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
