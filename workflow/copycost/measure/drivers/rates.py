"""Rates and CPU use of a measured record, whoever drove it: from what was said to numbers."""

import math
from collections.abc import Mapping
from typing import Any

from copycost.hosts.side import SIDES
from copycost.measure.drivers.iperf3.driver import NAME as IPERF3
from copycost.measure.drivers.iperf3.tool import intervals_of, within
from copycost.records.derive import rate_limit_of, window_ns

# fewer whole intervals within the window are no steady state
_FEWEST_INTERVALS = 3


def rates_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a measured record says of its window; NaN for what it does not.

    Of each side, per cent of one CPU: `{side}_cpu_percent`, `{side}_perf_percent`,
    `{side}_waiting_percent`. Payload [bit/s]: `sent_bits_per_s` and `bits_per_s` by the driver's
    own account, and `kernel_bits_per_s`, received by the kernel's count of what was read. Counts:
    `retransmits`, `n_intervals`.
    """
    found: dict[str, Any] = {}
    for side in SIDES:
        own_ns, cpu_ns = _cpu_of(record, side)
        perf = record["observed"]["perf_stat"][side]
        clock_ns = None if perf is None else perf["events"].get("task_clock_ns", {}).get("value")
        found[f"{side}_cpu_percent"] = _percent(cpu_ns, own_ns)
        found[f"{side}_perf_percent"] = _percent(clock_ns, own_ns)
        found[f"{side}_waiting_percent"] = _waiting_percent(record, side)
    # our programs' sockets are not read by read(2), which is what the kernel counts
    found["kernel_bits_per_s"] = math.nan
    if record["driver"]["name"] != IPERF3:
        return found | _by_own_counts(record)
    received = _usage_of(record, "receiver") or {}
    if (read_bytes := received.get("read_bytes")) is not None:
        found["kernel_bits_per_s"] = read_bytes * 8e9 / received["window_ns"]
    return found | _by_intervals(record)


def _is_stopped(record: Mapping[str, Any]) -> bool:
    """Whether a limiter stops the sender now and then, also at the edges of its own window."""
    return bool(record["cell"].get("limiter") == "cpulimit")


def _usage_of(record: Mapping[str, Any], side: str) -> Mapping[str, Any] | None:
    usage: Mapping[str, Any] | None = record["observed"].get("usage", {}).get(side)
    return usage


def _cpu_of(record: Mapping[str, Any], side: str) -> tuple[float, float]:
    """Return the length of a side's window and its CPU time in it [ns]; NaN where it is not known.

    A program of ours reads its clocks at the edges of its window; we look when we get a CPU, on a
    busy host too late, when the threads have nothing to send any more or have ended. So what we see
    is taken for iperf3 and for a sender that a limiter stops: it is stopped at the edges of its own
    window too, which then begins and ends only when it goes on.
    """
    driver, usage = record["driver"], _usage_of(record, side)
    stopped = side == "sender" and _is_stopped(record)
    if driver["name"] == IPERF3 or (stopped and usage is not None):
        return (math.nan, math.nan) if usage is None else (usage["window_ns"], usage["cpu_ns"])
    report = driver[side]
    if report is None:
        return math.nan, math.nan
    return window_ns(report), report["process"]["cpu_ns"]


def _waiting_percent(record: Mapping[str, Any], side: str) -> float:
    """Return for how long a side waited for a CPU, without the time that a limiter held it back.

    The kernel counts a task that its group's quota holds back as one that waits for a CPU, and the
    time for which it held a group back once per CPU. So nobody tells where tasks share CPUs.
    """
    usage = _usage_of(record, side)
    if usage is None or usage["waiting_ns"] is None:
        return math.nan
    waiting_ns = usage["waiting_ns"]
    limit = record["observed"].get("cpu_limit")
    if side == "sender" and limit is not None and limit["throttled"] is not None:
        throttled_ns = int(limit["throttled"]["throttled_ns"])
        n_cpus = len(set(record["settings"]["sender_cpus"]))
        if throttled_ns and record["cell"]["n_threads"] > n_cpus:
            return math.nan
        waiting_ns = max(0, waiting_ns - throttled_ns)
    return _percent(waiting_ns, usage["window_ns"])


def _percent(value: float | None, of_ns: float) -> float:
    return math.nan if value is None else 100.0 * value / of_ns


def _by_own_counts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rates by our programs' own counts, each in its own window."""
    rates = dict.fromkeys(SIDES, math.nan)
    for side in SIDES:
        report = record["driver"][side]
        if report is not None and not (side == "sender" and _is_stopped(record)):
            rates[side] = report["in_window"]["bytes"] * 8e9 / window_ns(report)
    return {
        "sent_bits_per_s": rates["sender"],
        "bits_per_s": rates["receiver"],
        "retransmits": math.nan,
        "n_intervals": 1,
    }


def _by_intervals(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rates by iperf3's intervals that lie wholly within the window."""
    window = record["window"]
    rates = {"client": 0.0, "server": 0.0}
    retransmits: list[float] = []
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
                retransmits += [math.nan if i.retransmits is None else i.retransmits for i in seen]
    return {
        "sent_bits_per_s": rates["client"],
        "bits_per_s": rates["server"],
        "retransmits": sum(retransmits),
        "n_intervals": int(fewest),
    }


def congestion_control_of(driver: Mapping[str, Any]) -> str | None:
    """Return the TCP congestion control of the senders, as the driver says."""
    if driver["name"] != IPERF3:
        name: str | None = driver["sender"]["effective"].get("congestion_control")
        return name
    ends = [pair["client"].get("end") or {} for pair in driver["pairs"]]
    names = [end.get("sender_tcp_congestion") for end in ends]
    return next((str(name) for name in names if name is not None), None)


def limit_of(driver: Mapping[str, Any]) -> float | None:
    """Return what the senders of a record were to send at most [bit/s]; None for any number."""
    if driver["name"] != IPERF3:
        return rate_limit_of(driver["sender"])
    starts = [pair["client"].get("start") or {} for pair in driver["pairs"]]
    asked = [start.get("test_start") or {} for start in starts]
    each = [one.get("num_streams", 1) * one.get("target_bitrate", 0) for one in asked]
    return float(sum(each)) or None


def version_of(record: Mapping[str, Any]) -> str | None:
    """Return the version of who drove a record: iperf3's, or the digest of our sources."""
    driver = record["driver"]
    if driver["name"] == IPERF3:
        return str(driver["version"])
    digest: str | None = driver["sender"]["build"].get("source_digest")
    return digest
