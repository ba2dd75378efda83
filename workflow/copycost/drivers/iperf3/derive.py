"""Rates and CPU use of a driven record: from what the driver printed to numbers with units."""

import math
from collections.abc import Mapping
from typing import Any

from copycost.drivers.iperf3.output import intervals_of, within
from copycost.grid.capabilities import IPERF3

# fewer whole intervals within the window are no steady state
_FEWEST_INTERVALS = 3


def rates_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a measured record says of its window; NaN for what it does not.

    Keys
    ----
    {side}_cpu_percent, {side}_perf_percent, {side}_waiting_percent
        Of one CPU, for `sender` and `receiver`.
    sent_bits_per_s, bits_per_s, kernel_bits_per_s
        Payload [bit/s]: sent and received by the driver's own intervals, and received by the
        kernel's count of what was read.
    retransmits, n_intervals
        [count]
    """
    found: dict[str, Any] = {}
    for side in ("sender", "receiver"):
        seen = record[side]
        window_ns = seen["window_ns"]
        clock = seen["perf"]["events"].get("task_clock_ns", {}).get("value")
        found[f"{side}_cpu_percent"] = 100.0 * seen["cpu_ns"] / window_ns
        found[f"{side}_perf_percent"] = _percent(clock, window_ns)
        found[f"{side}_waiting_percent"] = _percent(_waiting_ns(record, side), window_ns)
    read_bytes, window_ns = record["receiver"]["read_bytes"], record["receiver"]["window_ns"]
    found["kernel_bits_per_s"] = math.nan if read_bytes is None else read_bytes * 8e9 / window_ns
    iperf3 = record["driver"]["name"] == IPERF3
    found.update(_driver_rates(record) if iperf3 else _own_rates(record))
    return found


def is_stopped(record: Mapping[str, Any]) -> bool:
    """Whether a limiter stops the sender now and then, also at the edges of its own window."""
    return bool(record["cell"].get("limiter") == "cpulimit")


def _own_rates(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rates by our programs' own counts, each in its own window."""
    pair = record["driver"]["pairs"][0]
    return {
        "sent_bits_per_s": math.nan if is_stopped(record) else _own_rate(pair["client"]),
        "bits_per_s": _own_rate(pair["server"]),
        # it is our own count, so it is no check of it
        "kernel_bits_per_s": math.nan,
        "retransmits": math.nan,
        "n_intervals": 1,
    }


def _own_rate(report: Mapping[str, Any]) -> float:
    window = report["window"]
    return float(report["in_window"]["bytes"] * 8e9 / (window["end_ns"] - window["start_ns"]))


def _driver_rates(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rates by iperf3's intervals that lie wholly within the window."""
    window = record["window"]
    rates = {"client": 0.0, "server": 0.0}
    retransmits: int | None = 0
    fewest = math.inf
    for pair in record["driver"]["pairs"]:
        span_s = [(window[edge] - pair["began_ns"]) / 1e9 for edge in ("start_ns", "end_ns")]
        for role in rates:
            seen = within(intervals_of(pair[role], role), *span_s)
            fewest = min(fewest, len(seen))
            if len(seen) < _FEWEST_INTERVALS:
                rates[role] = math.nan
                continue
            rates[role] += sum(i.n_bytes for i in seen) * 8 / sum(i.seconds for i in seen)
            if role == "client":
                counts = [i.retransmits for i in seen]
                retransmits = (
                    None
                    if retransmits is None or any(count is None for count in counts)
                    else retransmits + sum(count or 0 for count in counts)
                )
    return {
        "sent_bits_per_s": rates["client"],
        "bits_per_s": rates["server"],
        "retransmits": math.nan if retransmits is None else retransmits,
        "n_intervals": int(fewest),
    }


def congestion_control_of(driver: Mapping[str, Any]) -> str | None:
    """Return the TCP congestion control of the senders, as the driver prints it."""
    for pair in driver["pairs"]:
        if driver["name"] != IPERF3:
            name = pair["client"]["effective"].get("congestion_control")
        else:
            name = (pair["client"].get("end") or {}).get("sender_tcp_congestion")
        if name is not None:
            return str(name)
    return None


def _waiting_ns(record: Mapping[str, Any], side: str) -> int | None:
    """Return for how long a side waited for a CPU, without the time that a limiter held it back.

    The kernel counts a task that its group's quota holds back as one that waits for a CPU, and the
    time for which it held a group back once per CPU. So nobody tells where tasks share CPUs.
    """
    waiting_ns: int | None = record[side]["waiting_ns"]
    limiter = record["limiter"]
    if side == "receiver" or waiting_ns is None or limiter is None:
        return waiting_ns
    if limiter["throttled"] is None:
        return waiting_ns  # stopped by a signal, it does not count as waiting
    throttled_ns = int(limiter["throttled"]["throttled_ns"])
    n_cpus = len(set(record["settings"]["sender_cpus"]))
    if throttled_ns and record["cell"]["n_streams"] > n_cpus:
        return None
    return max(0, waiting_ns - throttled_ns)


def _percent(value: float | None, window_ns: int) -> float:
    return math.nan if value is None else 100.0 * value / window_ns
