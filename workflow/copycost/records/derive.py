"""One record becomes one row of the tidy table."""

from collections.abc import Mapping
from typing import Any

from copycost.config.cells import Cell
from copycost.config.conditions import RECV
from copycost.config.testbeds import peer_of, receives_on, transport_of
from copycost.perf.counts import PerfSide
from copycost.perf.events import COST_EVENTS, HARDWARE_EVENTS, PERF_EVENTS
from copycost.records.column import KEY
from copycost.records.columns import CELLS, COUNTED_STATUSES, PAIRED, SIDES, WARNINGS_SEPARATOR
from copycost.records.cpu_attribution import costs_of, status_columns, use_of
from copycost.records.machine_windows import machines_of
from copycost.records.record import Record, cell_of
from copycost.records.windows import (
    Turns,
    counted_off_window,
    received_bytes,
    require_possible,
    turns_of,
    window_ns,
)

Row = dict[str, object]
"""Column name to value; None, or no entry, where there is none."""

_NS_PER_S = 1e9
_COPIED = (
    "status", "reason", "remedy", "started_at", "boot_id", "start_ns", "end_ns", "lock_wait_s",
    "wall_s", "host_digest", "commit",
)  # fmt: skip
_GUESTS = tuple(column.name for column in status_columns())


def derive_row(record: Record) -> Row:
    """Return the row of a record; everything in it follows from that record alone.

    A repetition that was skipped or failed has its key, status and reason, and no values. DataError
    says which numbers are none that a machine can give.
    """
    settings = record["settings"]
    cell = cell_of(record)
    envelope: Mapping[str, object] = record
    row: Row = {
        **{name: getattr(cell, name) for name in (*KEY, "condition", "strategy", "batch")},
        **{name: envelope[name] for name in _COPIED},
        "peer": peer_of(cell.testbed),
        "transport": transport_of(cell.testbed),
        "ring_bytes": settings["ring_bytes"] or 0,
        "fresh": settings["fresh"],
        "sender_cpus": _cpus(settings["sender_cpus"]),
        "receiver_cpus": _cpus(settings["receiver_cpus"]) if receives_on(cell.testbed) else None,
        "warnings": WARNINGS_SEPARATOR.join(sorted({w["code"] for w in record["warnings"]}))
        or None,
    }
    use = use_of(record)
    row |= {name: use.get(name) for name in _GUESTS}
    driver = record["driver"]
    if record["status"] != "measured" or driver is None:
        for side in SIDES:
            row |= {f"{side}_{event}_status": "not_measured" for event in PERF_EVENTS}
        return row
    require_possible(record)
    sender, receiver = driver["sender"], driver["receiver"]
    turns = turns_of(driver)
    row |= traffic_of(driver, record["observed"].get("perf_stat"), turns[0], cell)
    if receiver is not None and cell.receiver == "mmap":
        row["mapped_share"] = ratio(receiver["in_window"]["mapped_bytes"], row["received_bytes"])
    row |= _datagrams(record, driver)
    if (reference := driver.get("reference")) is not None:
        its = traffic_of(reference, reference["perf_stat"], turns[1], cell)
        row["reference"] = reference["implementation"]
        row |= {f"reference_{name}": its.get(name) for name in PAIRED}
    bytes_per_s = ratio(row["received_bytes"], row["window_s"])
    row |= costs_of(use, bytes_per_s)
    row |= machines_of(record, bytes_per_s)
    row |= _zero_copy(sender)
    row |= _path(record, sender, receiver)
    return CELLS.checked(row)


def traffic_of(
    driver: Mapping[str, Any], perf: Mapping[str, PerfSide] | None, turns: Turns | None, cell: Cell
) -> Row:
    """Return what sender and receiver of one way told of their traffic, and perf of them."""
    sender, receiver = driver["sender"], driver["receiver"]
    row = _stream(driver, turns, cell.n_threads)
    row |= _counters(perf, driver)
    row |= _cpu_time(row, sender, receiver)
    row |= _costs(row)
    row |= _calls(row, sender, receiver)
    return row


def ratio(numerator: object, denominator: object) -> float | None:
    """Return the quotient, or None where a part is missing or the denominator is 0."""
    if not isinstance(numerator, int | float) or not isinstance(denominator, int | float):
        return None
    return numerator / denominator if denominator else None


def total(first: object, second: object) -> float | None:
    """Return the sum, or None where a part is missing."""
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        return None
    return first + second


def rate_limit_of(sender: Mapping[str, Any]) -> float | None:
    """Return what a sender of ours was to send at most [bit/s]; None for any number."""
    return 8.0 * sender["options"].get("rate_bytes_per_s", 0) or None


def _cpus(cpus: list[int] | None) -> str:
    return ",".join(str(cpu) for cpu in cpus or ()) or "any"


def _stream(driver: Mapping[str, Any], turns: Turns | None, n_threads: int) -> Row:
    sender = driver["sender"]
    far_end = driver["receiver"] or sender
    sending_ns = window_ns(sender) if turns is None else turns.length_ns
    window_s = (window_ns(far_end) if turns is None else turns.length_ns) / _NS_PER_S
    received = received_bytes(driver, turns)
    counts = far_end["in_window"]
    messages = sender["in_window"]["messages"]
    service = sender["service_time"]
    return {
        "window_s": window_s,
        "received_bytes": received,
        "sent_bytes": sender["in_window"]["bytes"],
        "messages": messages,
        "throughput_bits_per_s": ratio(received * 8, window_s),
        "service_mean_ns": ratio(sending_ns * n_threads, messages),
        "service_median_ns": service["median_ns"],
        "service_p99_ns": service["p99_ns"],
        "service_max_ns": service["max_ns"],
        "service_samples": service["samples"],
        "service_sampled_mean_ns": service["mean_ns"],
        "first_half_share": ratio(counts["first_half_bytes"], counts["bytes"]),
        "slot_waits": sender["in_window"]["slot_waits"],
    }


def _datagrams(record: Record, driver: Mapping[str, Any]) -> Row:
    if transport_of(record["cell"]["testbed"]) != "datagram":
        return {}
    sender, receiver, sink = driver["sender"], driver["receiver"], driver["sink"]
    sent = sender["total"]["datagrams"]
    row: Row = {"datagrams_sent": sent, "rate_limit_bits_per_s": rate_limit_of(sender)}
    kernel = record["observed"].get("kernel")
    if kernel is not None and "reference" not in driver:  # else those of its datagrams are in it
        row["udp_receive_buffer_errors"] = kernel["udp_receive_buffer_errors"]
    if sink is not None:
        row["datagrams_lost"] = sink["lost_before_hook"]
    if receiver is not None:
        row["datagrams_received"] = receiver["total"]["datagrams"]
        row["datagrams_lost"] = sent - receiver["total"]["datagrams"]
    return row


def _counters(perf: Mapping[str, PerfSide] | None, driver: Mapping[str, Any]) -> Row:
    if perf is None:
        return {f"{side}_{event}_status": "missing" for side in SIDES for event in PERF_EVENTS}
    row: Row = {}
    counted = {name: side for name in SIDES if (side := perf[name]) is not None}
    for name in SIDES:
        if name in counted:
            row |= _side_counters(name, counted[name], driver[name]["window"])
        else:
            row |= {f"{name}_{event}_status": "no_receiver" for event in PERF_EVENTS}
    row["user_mode_only"] = any(
        event["user_only"] for side in counted.values() for event in side["events"].values()
    )
    return row


def _side_counters(name: str, side: PerfSide, window: Mapping[str, Any]) -> Row:
    """Return value and status of every event."""
    row: Row = {}
    running = []
    off_window = counted_off_window(window)
    # A side that was counted and yet has a reason is one whose hardware counters were seen to be
    # live but wrong, as in some virtual machines; the measuring job then left their values out.
    implausible = HARDWARE_EVENTS if side["reason"] is not None else ()
    for event in PERF_EVENTS:
        entry = side["events"].get(event)
        value: float | None = None
        status: str = side["status"]
        if status == "counted" and entry is None:
            status = "not_supported"
        elif status == "counted" and entry is not None:
            value, status = entry["value"], entry["status"]
            if status in COUNTED_STATUSES and off_window:
                value, status = None, "off_window"
            elif status in COUNTED_STATUSES and entry["running_percent"] is not None:
                running.append(entry["running_percent"])
            elif status == "not_counted" and event in implausible:
                status = "implausible"
        row[f"{name}_{event}"], row[f"{name}_{event}_status"] = value, status
    row[f"{name}_min_running_percent"] = min(running, default=None)
    return row


def _cpu_time(row: Row, sender: Mapping[str, Any], receiver: Mapping[str, Any] | None) -> Row:
    sides = {"sender": sender, "receiver": receiver}
    there = {name: side for name, side in sides.items() if side is not None}
    clocks = {f"{name}_cpu_ns": row.get(f"{name}_task_clock_ns") for name in there}
    if None not in clocks.values():
        return {**clocks, "cpu_source": "task_clock"}
    if any(row.get(f"{name}_task_clock_ns_status") == "off_window" for name in there):
        return {}  # its own clock is of that side's window, which is not the one that was planned
    processes = {f"{name}_cpu_ns": side["process"]["cpu_ns"] for name, side in there.items()}
    return {**processes, "cpu_source": "process_clock"}


def _costs(row: Row) -> Row:
    costs: Row = {}
    received = row["received_bytes"]
    for cost in ("cpu_ns", *COST_EVENTS):
        sender, receiver = row.get(f"sender_{cost}"), row.get(f"receiver_{cost}")
        costs[f"sender_{cost}_per_byte"] = ratio(sender, received)
        costs[f"receiver_{cost}_per_byte"] = ratio(receiver, received)
        costs[f"both_{cost}_per_byte"] = ratio(total(sender, receiver), received)
    return costs


def _calls(row: Row, sender: Mapping[str, Any], receiver: Mapping[str, Any] | None) -> Row:
    counts = sender["in_window"]
    calls = sum(
        counts[name] for name in ("send_calls", "poll_calls", "errqueue_calls", "other_calls")
    )
    switches = row.get("sender_context_switches")
    if receiver is not None:
        switches = total(switches, row.get("receiver_context_switches"))
    return {
        "sender_syscalls": calls,
        "receiver_syscalls": None if receiver is None else receiver["in_window"]["recv_calls"],
        "sender_syscalls_per_message": ratio(calls, row["messages"]),
        "context_switches_per_message": ratio(switches, row["messages"]),
    }


def _zero_copy(sender: Mapping[str, Any]) -> Row:
    counts = sender["in_window"]
    row: Row = {name: counts[name] for name in ("short_writes", "enobufs_count", "errqueue_calls")}
    if (sends := sender["zero_copy"]) is not None:
        for name in ("sent", "completed", "copied", "copied_unknown", "notifications"):
            row[f"zc_{name}"] = sends[name]
        row["zc_copied_share"] = ratio(sends["copied"], sends["completed"])
    return row


def _path(record: Record, sender: Mapping[str, Any], receiver: Mapping[str, Any] | None) -> Row:
    row: Row = {"sender_build": _build(sender)}
    for name in ("congestion_control", "mss_bytes", "send_buffer_bytes"):
        row[name] = sender["effective"][name]
    if sender["tcp"] is not None:
        row["tcp_retransmits"] = sender["tcp"]["retransmits"]
    if receiver is not None:
        row["receiver_build"] = _build(receiver)
        for name in ("receive_buffer_bytes", "receive_lowat_bytes"):
            row[name] = receiver["effective"][name]
        if record["study"] == "streams" and record["cell"]["receiver"] == RECV:
            row["read_bytes"] = receiver["options"].get("read_bytes")
    kernel = record["observed"].get("kernel")
    if kernel is not None:
        row["softnet_dropped"] = kernel["softnet_dropped"]
    testbed = record["testbed"]
    if testbed is not None:
        row["mtu_bytes"] = testbed["mtu_bytes"]
        row["isolation"] = testbed["isolation"]
        row |= {f"offload_{name}": state for name, state in testbed["offloads"].items()}
    return row


def _build(side: Mapping[str, Any]) -> str:
    build = side["build"]
    return f"source {build['source_digest']}, {build['compiler']}, flags {build['flags']}"
