"""One record becomes one row of the tidy table."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from copycost.config.cells import Cell
from copycost.config.conditions import RECV
from copycost.config.testbeds import peer_of, receives_on, transport_of
from copycost.errors import DataError
from copycost.observers.perf.counts import PerfSide
from copycost.observers.perf.events import COST_EVENTS, HARDWARE_EVENTS, PERF_EVENTS
from copycost.records.column import KEY
from copycost.records.columns import CELLS, COUNTED_STATUSES, PAIRED, SIDES, WARNINGS_SEPARATOR
from copycost.records.cpu_attribution import costs_of, machines_of, status_columns, use_of
from copycost.records.record import Record, cell_of

Row = dict[str, object]
"""Column name to value; None, or no entry, where there is none."""

_NS_PER_S = 1e9
# by which share perf may have counted for longer than the window
_OFF_WINDOW = 0.05
_COPIED = (
    "status", "reason", "remedy", "started_at", "boot_id", "start_ns", "end_ns", "lock_wait_s",
    "wall_s", "host_digest", "commit",
)  # fmt: skip
_CALLS = ("send_calls", "poll_calls", "errqueue_calls", "other_calls")


def derive_row(record: Record) -> Row:
    """Return the row of a record; everything in it follows from that record alone.

    A repetition that was skipped or failed has its key, status and reason, and no values. DataError
    says which numbers are none that a machine can give.
    """
    settings = record["settings"]
    cell = cell_of(record)
    envelope: Mapping[str, object] = record
    codes = sorted({warning["code"] for warning in record["warnings"]})
    row: Row = {
        **{name: getattr(cell, name) for name in (*KEY, "condition", "strategy", "batch")},
        **{name: envelope[name] for name in _COPIED},
        "peer": peer_of(cell.testbed),
        "transport": transport_of(cell.testbed),
        "ring_bytes": settings["ring_bytes"] or 0,
        "fresh": settings["fresh"],
        "sender_cpus": _cpus(settings["sender_cpus"]),
        "receiver_cpus": _cpus(settings["receiver_cpus"]) if receives_on(cell.testbed) else None,
        "warnings": WARNINGS_SEPARATOR.join(codes) or None,
    }
    use = use_of(record)
    row |= {column.name: use.get(column.name) for column in status_columns()}
    driver = record["driver"]
    if record["status"] != "measured" or driver is None:
        for side in SIDES:
            row |= {f"{side}_{event}_status": "not_measured" for event in PERF_EVENTS}
        return row
    _require_possible(driver, cell)
    turns = turns_of(driver)
    row |= traffic_of(driver, record["observed"].get("perf_stat"), turns[0], cell)
    row |= _datagrams(record, driver)
    if (reference := driver.get("reference")) is not None:
        its = traffic_of(reference, reference["perf_stat"], turns[1], cell)
        row["reference"] = reference["implementation"]
        row |= {f"reference_{name}": its.get(name) for name in PAIRED}
    bytes_per_s = ratio(row["received_bytes"], row["window_s"])
    row |= costs_of(use, bytes_per_s)
    row |= machines_of(record, bytes_per_s)
    row |= _zero_copy(driver["sender"])
    row |= _path(record, driver["sender"], driver["receiver"])
    if cell.receiver == "mmap" and driver["receiver"] is not None:
        mapped = driver["receiver"]["in_window"]["mapped_bytes"]
        row["mapped_share"] = ratio(mapped, row["received_bytes"])
    return CELLS.checked(row)


def _cpus(cpus: list[int] | None) -> str:
    return ",".join(str(cpu) for cpu in cpus or ()) or "any"


def _require_possible(driver: Mapping[str, Any], cell: Cell) -> None:
    """Refuse a record that no machine can give, be it busy, slow, virtual, or stopped now and then.

    Counts below 0 the schema refuses, shares above 1 the table. What is merely odd, a busy machine
    can give: the job that measured has told so in the warnings.
    """
    sides = {name: side for name in SIDES if (side := driver.get(name))}
    for name, side in sides.items():
        # a program reads its clock at one edge after the other, however late it gets to either
        if window_ns(side) <= 0:
            raise DataError(f"the {name}'s window lasts {window_ns(side)} ns")
    # totals are read once nothing more is sent or received; a network may bring a datagram twice
    if len(sides) == 2 and transport_of(cell.testbed) == "stream":
        sent, received = (sides[name]["total"]["bytes"] for name in SIDES)
        if received > sent:
            raise DataError(f"{received} bytes were received in all, {sent} sent")


def window_ns(side: Mapping[str, Any]) -> int:
    """Return the length of a side's window by its own account [ns]."""
    return int(side["window"]["end_ns"]) - int(side["window"]["start_ns"])


class Turns(NamedTuple):
    """All turns of one sender: how long it sent [ns], and how much [bytes]."""

    length_ns: int
    sent_bytes: int


def turns_of(driver: Mapping[str, Any]) -> tuple[Turns, Turns] | tuple[None, None]:
    """Return the turns of the way under test and of the reference; none where it sent alone."""
    if "slices" not in driver:
        return None, None
    ways = [[one for one in driver["slices"] if one[0] == way] for way in (0, 1)]
    way, reference = (
        Turns(sum(one[2] - one[1] for one in its), sum(one[3] for one in its)) for its in ways
    )
    return way, reference


def received_bytes(driver: Mapping[str, Any], turns: Turns | None) -> float:
    """Return the payload that arrived in the window [bytes]; on the sink, without what was lost."""
    sender, sink = driver["sender"], driver["sink"]
    received: float = (driver["receiver"] or sender)["in_window"]["bytes"]
    if turns is not None and sender["tcp"] is not None:
        # all has arrived, of which a receiver that waits for more (SO_RCVLOWAT) counts a part later
        received = turns.sent_bytes
    if sink is not None and sink["sent_datagrams"]:
        received *= 1 - (sink["lost_before_hook"] or 0) / sink["sent_datagrams"]
    return received


def counted_off_window(window: Mapping[str, Any]) -> bool:
    """Tell whether perf counted for longer than a side's window by more than a few percent.

    A program tells perf to begin before the window and to stop after it, and waits for the answers.
    """
    beyond_ns = (window["perf_enable_ns"] or 0) + (window["perf_disable_ns"] or 0)
    return bool(beyond_ns > _OFF_WINDOW * (window["end_ns"] - window["start_ns"]))


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


def traffic_of(
    driver: Mapping[str, Any], perf: Mapping[str, PerfSide] | None, turns: Turns | None, cell: Cell
) -> Row:
    """Return what sender and receiver of one way told of their traffic, and perf of them."""
    row = _stream(driver, turns, cell.n_threads)
    row |= _counters(perf, driver)
    row |= _cpu_time(row, driver)
    for cost in ("cpu_ns", *COST_EVENTS):
        used = {side: row.get(f"{side}_{cost}") for side in SIDES}
        used["both"] = total(*used.values())
        row |= {f"{of}_{cost}_per_byte": ratio(n, row["received_bytes"]) for of, n in used.items()}
    return row | _calls(row, driver)


def _stream(driver: Mapping[str, Any], turns: Turns | None, n_threads: int) -> Row:
    sender = driver["sender"]
    far_end = driver["receiver"] or sender
    sending_ns = window_ns(sender) if turns is None else turns.length_ns
    window_s = (window_ns(far_end) if turns is None else turns.length_ns) / _NS_PER_S
    received = received_bytes(driver, turns)
    messages = sender["in_window"]["messages"]
    service = sender["service_time"]
    arrived = far_end["in_window"]
    return {
        "window_s": window_s,
        "received_bytes": received,
        "sent_bytes": sender["in_window"]["bytes"],
        "messages": messages,
        "throughput_bits_per_s": ratio(received * 8, window_s),
        "service_mean_ns": ratio(sending_ns * n_threads, messages),
        **{f"service_{name}": service[name] for name in ("median_ns", "p99_ns", "max_ns")},
        "service_samples": service["samples"],
        "service_sampled_mean_ns": service["mean_ns"],
        "first_half_share": ratio(arrived["first_half_bytes"], arrived["bytes"]),
        "slot_waits": sender["in_window"]["slot_waits"],
    }


def _counters(perf: Mapping[str, PerfSide] | None, driver: Mapping[str, Any]) -> Row:
    if perf is None:
        return {f"{side}_{event}_status": "missing" for side in SIDES for event in PERF_EVENTS}
    row: Row = {"user_mode_only": False}
    for name in SIDES:
        if (side := perf[name]) is None:
            row |= {f"{name}_{event}_status": "no_receiver" for event in PERF_EVENTS}
            continue
        row |= _side_counters(name, side, driver[name]["window"])
        if any(event["user_only"] for event in side["events"].values()):
            row["user_mode_only"] = True
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


def _cpu_time(row: Row, driver: Mapping[str, Any]) -> Row:
    there = [name for name in SIDES if driver[name] is not None]
    clocks = {f"{name}_cpu_ns": row.get(f"{name}_task_clock_ns") for name in there}
    if None not in clocks.values():
        return {**clocks, "cpu_source": "task_clock"}
    if any(row.get(f"{name}_task_clock_ns_status") == "off_window" for name in there):
        return {}  # its own clock is of that side's window, which is not the one that was planned
    processes = {f"{name}_cpu_ns": driver[name]["process"]["cpu_ns"] for name in there}
    return {**processes, "cpu_source": "process_clock"}


def _calls(row: Row, driver: Mapping[str, Any]) -> Row:
    receiver = driver["receiver"]
    calls = sum(driver["sender"]["in_window"][name] for name in _CALLS)
    switches = row.get("sender_context_switches")
    if receiver is not None:
        switches = total(switches, row.get("receiver_context_switches"))
    return {
        "sender_syscalls": calls,
        "receiver_syscalls": None if receiver is None else receiver["in_window"]["recv_calls"],
        "sender_syscalls_per_message": ratio(calls, row["messages"]),
        "context_switches_per_message": ratio(switches, row["messages"]),
    }


def rate_limit_of(sender: Mapping[str, Any]) -> float | None:
    """Return what a sender of ours was to send at most [bit/s]; None for any number."""
    return 8.0 * sender["options"].get("rate_bytes_per_s", 0) or None


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
    if (kernel := record["observed"].get("kernel")) is not None:
        row["softnet_dropped"] = kernel["softnet_dropped"]
    if (testbed := record["testbed"]) is not None:
        row |= {name: testbed[name] for name in ("mtu_bytes", "isolation")}
        row |= {f"offload_{name}": state for name, state in testbed["offloads"].items()}
    return row


def _build(side: Mapping[str, Any]) -> str:
    build = side["build"]
    return f"source {build['source_digest']}, {build['compiler']}, flags {build['flags']}"
