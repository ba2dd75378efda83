"""The columns of the tidy table of cells."""

from dataclasses import replace

from copycost.config.placements import PLACEMENTS
from copycost.perf.events import COST_EVENTS, EVENTS, PERF_EVENTS
from copycost.records.column import KEY, Column, Definition, fact
from copycost.records.cpu_attribution import cost_columns, status_columns
from copycost.records.machine_windows import machine_columns

__all__ = [
    "CELLS",
    "COLUMNS",
    "COST_EVENTS",
    "COUNTED_STATUSES",
    "EVENT_STATUSES",
    "KEY",
    "PAIRED",
    "SIDES",
    "STATUSES",
    "WARNINGS_SEPARATOR",
    "Column",
]

SIDES = ("sender", "receiver")
STATUSES = ("measured", "skipped", "failed")
COUNTED_STATUSES = ("counted", "multiplexed")
EVENT_STATUSES = {
    "counted": "counted during the whole window",
    "multiplexed": "counted during a part of the window and scaled up by perf",
    "not_supported": "this host has no such counter",
    "not_counted": "perf did not count it, or may count user mode only, where it never happens",
    "implausible": "the counter runs, but so slowly that it must be wrong (virtual machines)",
    "off_window": "perf began or stopped so late that it counted another time than the window",
    "forbidden": "perf may not count here",
    "missing": "there is no perf",
    "failed": "perf ended without a result",
    "no_receiver": "nobody receives on this testbed",
    "not_measured": "the repetition was skipped or failed",
}
WARNINGS_SEPARATOR = ";"
_SIDE_WORDS = {"sender": "the sender", "receiver": "the receiver", "both": "both sides together"}

_KEY_COLUMNS = (
    fact("study", "str", "", "What was measured: streams or round_trips", "Key"),
    fact("testbed", "str", "",
         "Path of the bytes, such as veth (TCP), sink (UDP) or vm_pair (between guests)", "Key"),
    fact("implementation", "str", "",
         "Strategy of the sender, as its source file is named; with _xN, N messages per system "
         "call", "Key"),
    fact("msg_bytes", "int64", "byte", "Size of a message", "Key"),
    fact("n_threads", "int64", "count", "Connections, each with one thread on either side", "Key"),
    fact("working_set", "str", "",
         "Where the bytes lie: hot (one message again and again), cold (a ring of messages larger "
         "than the last-level cache) or the size of the ring in digits [byte]", "Key"),
    fact("receiver", "str", "",
         "Program that receives: recv, trunc, mmap or uring; recv, which then says nothing, on "
         "sink", "Key"),
    Column("placement", "str", "",
           "CPUs of both ends of a connection: apart (on different cores), same (on one CPU) or "
           "free (the scheduler's choice)", "Key",
           nullable=False, always=True, allowed=tuple(PLACEMENTS)),
    fact("rep", "int64", "", "Number of the repetition, from 1", "Key"),
)  # fmt: skip

_DERIVED = "From the key and the settings"
_DERIVED_COLUMNS = (
    fact("condition", "str", "",
         "Testbed, working set unless hot, receiver unless recv, placement unless apart, joined by "
         "_", _DERIVED),
    Column("peer", "str", "", "The other machine of a testbed over a wire, as its name has it",
           _DERIVED, always=True),
    fact("strategy", "str", "", "The implementation without its batch", _DERIVED),
    fact("batch", "int64", "count", "Messages per system call", _DERIVED),
    Column("transport", "str", "", "TCP (stream) or UDP (datagram: one message each)", _DERIVED,
           nullable=False, always=True, allowed=("stream", "datagram")),
    fact("ring_bytes", "int64", "byte",
         "Size of the ring of messages, all threads together; 0 where it is hot", _DERIVED),
    Column("fresh", "boolean", "", "Whether each message was rewritten before it was sent",
           _DERIVED, always=True),
)  # fmt: skip

OUTCOME = (
    Column("status", "str", "", "Whether there is a measurement", "Outcome",
           nullable=False, always=True, allowed=STATUSES),
    Column("reason", "str", "", "Why it was skipped or failed", "Outcome", always=True),
    Column("remedy", "str", "", "What can be done about that", "Outcome", always=True),
)  # fmt: skip

_RATE = "Throughput, time per message and latency"
_STREAM = (
    Column("window_s", "float64", "s",
           "Length of the window at the receiver; on sink, at the sender", _RATE),
    Column("received_bytes", "float64", "byte",
           "Bytes received in the window; on sink, sent_bytes less the share lost before the hook",
           _RATE),
    Column("sent_bytes", "float64", "byte",
           "Bytes that the sender's kernel accepted in the window", _RATE),
    Column("messages", "float64", "count", "Messages sent in the window", _RATE),
    Column("throughput_bits_per_s", "float64", "bit/s", "received_bytes x 8 / window_s", _RATE),
    Column("service_mean_ns", "float64", "ns",
           "Time per message: the sender's window x n_threads / messages", _RATE),
    Column("service_median_ns", "float64", "ns",
           "Median duration of sending a message, over the sampled ones", _RATE),
    Column("service_p99_ns", "float64", "ns", "99th percentile of the same", _RATE),
    Column("service_max_ns", "float64", "ns", "Maximum of the same", _RATE),
    Column("service_sampled_mean_ns", "float64", "ns",
           "Mean of the same; unlike service_mean_ns it leaves out what lies between sends", _RATE),
    Column("service_samples", "float64", "count", "Messages whose duration was taken", _RATE),
    Column("first_half_share", "float64", "1",
           "Share of received_bytes (on sink, of sent_bytes) in the first half of the window; "
           "0.5 for a steady stream", _RATE, highest=1),
    Column("slot_waits", "float64", "count",
           "Messages in the window that had to wait until the kernel gave back a message of the "
           "ring", _RATE),
    Column("mapped_share", "float64", "1",
           "Share of received_bytes that the receiver mmap mapped instead of copying", _RATE,
           highest=1),
)  # fmt: skip

_CPU = "CPU time"
_CPU_COLUMNS = (
    *(
        Column(f"{side}_cpu_ns", "float64", "ns",
               f"CPU time of {_SIDE_WORDS[side]} in the window", _CPU)
        for side in SIDES
    ),
    Column("cpu_source", "str", "",
           "Where that comes from: perf's task-clock where it was counted on every side, "
           "else the programs' own process clocks, which give a side that is woken on the other's "
           "CPU some of the other's time (their sum is right)", _CPU,
           allowed=("task_clock", "process_clock")),
)  # fmt: skip


def _event_columns() -> tuple[Column, ...]:
    columns = []
    group = "Counters"
    for side in SIDES:
        for event in PERF_EVENTS:
            unit, words = EVENTS[event].unit, EVENTS[event].meaning
            name = f"{side}_{event}"
            columns.append(Column(name, "float64", unit, f"{words} of {_SIDE_WORDS[side]}", group))
            columns.append(
                Column(f"{name}_status", "str", "", f"How {name} came about", group,
                       nullable=False, always=True, allowed=tuple(EVENT_STATUSES))
            )  # fmt: skip
        columns.append(
            Column(f"{side}_min_running_percent", "float64", "%",
                   f"Smallest part of the window during which an event of {_SIDE_WORDS[side]} "
                   "that was counted was really counting", group, highest=100)
        )  # fmt: skip
    columns.append(
        Column("user_mode_only", "boolean", "",
               "Whether perf left the kernel's part out of the counts", group)
    )  # fmt: skip
    return tuple(columns)


def _cost_columns() -> tuple[Column, ...]:
    return tuple(
        Column(
            f"{side}_{cost}_per_byte",
            "float64",
            f"{'ns' if cost == 'cpu_ns' else EVENTS[cost].unit}/byte",
            f"{side}_{cost} / received_bytes"
            if side != "both"
            else f"(sender_{cost} + receiver_{cost}) / received_bytes, "
            "where both sides were counted; none on sink",
            "Cost per received byte",
        )
        for side in (*SIDES, "both")
        for cost in ("cpu_ns", *COST_EVENTS)
    )


_CALLS = "System calls and context switches"
_CALL_COLUMNS = (
    Column("sender_syscalls", "float64", "count",
           "System calls of the sending threads in the window", _CALLS),
    Column("receiver_syscalls", "float64", "count",
           "System calls of the receiving threads in the window", _CALLS),
    Column("sender_syscalls_per_message", "float64", "1", "sender_syscalls / messages", _CALLS),
    Column("context_switches_per_message", "float64", "1",
           "Context switches of both sides / messages, where both were counted; "
           "on sink of the sender", _CALLS),
)  # fmt: skip

PAIRED = (
    "throughput_bits_per_s",
    "service_mean_ns",
    *(column.name for column in _cost_columns()),
    "sender_syscalls_per_message",
    "context_switches_per_message",
)
"""Columns that have a ``reference_`` one: the same of the reference, in the same repetition."""

_REFERENCE = "The reference, measured in the same repetition"


def _reference_columns() -> tuple[Column, ...]:
    by_name = {column.name: column for column in (*_STREAM, *_cost_columns(), *_CALL_COLUMNS)}
    return (
        Column("reference", "str", "",
               "Implementation that was measured in turns with this one; this one itself in the "
               "control, and none where it was measured alone", _REFERENCE, always=True),
        *(
            replace(by_name[name], name=f"reference_{name}", group=_REFERENCE,
                    description=f"The reference's {name}")
            for name in PAIRED
        ),
    )  # fmt: skip


_ZERO_COPY = "Zero-copy sends"
_ZERO_COPY_COLUMNS = (
    Column("zc_sent", "float64", "count",
           "Sends for which zero-copy was requested, from the first byte to the last", _ZERO_COPY),
    Column("zc_completed", "float64", "count",
           "Sends that the kernel reported as completed (equals zc_sent)", _ZERO_COPY),
    Column("zc_copied", "float64", "count",
           "Completed sends whose bytes the kernel copied after all", _ZERO_COPY),
    Column("zc_copied_unknown", "str", "", "Why there is no zc_copied though there are zc_sent",
           _ZERO_COPY),
    Column("zc_notifications", "float64", "count",
           "Notifications of the kernel; one may complete many sends", _ZERO_COPY),
    Column("zc_copied_share", "float64", "1", "zc_copied / zc_completed", _ZERO_COPY, highest=1),
    Column("short_writes", "float64", "count",
           "Sends in the window of which the kernel took but a part", _ZERO_COPY),
    Column("enobufs_count", "float64", "count",
           "Sends in the window refused with ENOBUFS, and repeated", _ZERO_COPY),
    Column("errqueue_calls", "float64", "count",
           "Reads of the error queue in the window", _ZERO_COPY),
)  # fmt: skip

RATE_LIMIT = "Payload that the senders were to send at most; none where they need not hold back"
_DATAGRAMS = "Datagrams"
_DATAGRAM_COLUMNS = (
    Column("datagrams_sent", "float64", "count",
           "That the sender's kernel took, from the first to the last", _DATAGRAMS),
    Column("datagrams_received", "float64", "count",
           "That the receiver got, from the first to the last; none on sink", _DATAGRAMS),
    Column("datagrams_lost", "float64", "count",
           "Sent and not received; on sink, sent and never at the hook that drops them",
           _DATAGRAMS),
    Column("rate_limit_bits_per_s", "float64", "bit/s", RATE_LIMIT, _DATAGRAMS),
    Column("udp_receive_buffer_errors", "float64", "count",
           "That the kernel threw away in the window because the receive buffer was full",
           _DATAGRAMS),
)  # fmt: skip

_PATH = "Path and settings in effect"
_PATH_COLUMNS = (
    Column("tcp_retransmits", "float64", "count",
           "Segments that the sender sent again in the window (TCP)", _PATH),
    Column("softnet_dropped", "float64", "count",
           "Packets that the host's receive queues dropped in the window", _PATH, lowest=None),
    Column("congestion_control", "str", "", "Congestion control of the sender (TCP)", _PATH),
    Column("sender_cpus", "str", "",
           "CPUs of the sending threads, thread i on entry i modulo their number; where the "
           "placement is free, on any of them", _PATH, nullable=False, always=True),
    Column("receiver_cpus", "str", "", "The same for the receiving threads; none on sink", _PATH,
           always=True),
    Column("mss_bytes", "float64", "byte", "Largest segment of the sender (TCP)", _PATH),
    Column("send_buffer_bytes", "float64", "byte", "SO_SNDBUF of the sender", _PATH),
    Column("receive_buffer_bytes", "float64", "byte", "SO_RCVBUF of the receiver", _PATH),
    Column("receive_lowat_bytes", "float64", "byte",
           "SO_RCVLOWAT of the receiver, which sleeps until so much has come", _PATH),
    Column("read_bytes", "float64", "byte", "Most that one call of the receiver recv takes", _PATH),
    Column("offload_tso", "boolean", "", "TCP segmentation offload of the sender's device", _PATH),
    Column("offload_gso", "boolean", "",
           "Generic segmentation offload of the sender's device", _PATH),
    Column("offload_gro", "boolean", "", "Generic receive offload of the receiver's device", _PATH),
    Column("mtu_bytes", "float64", "byte", "Largest packet of the sender's device", _PATH),
    Column("isolation", "str", "", "Namespaces made as root, in a user namespace, or none", _PATH,
           allowed=("root", "user_namespace", "host")),
)  # fmt: skip

_WHEN = "When and by what"
_WHEN_COLUMNS = (
    Column("warnings", "str", "",
           f"Codes of what may have disturbed it, joined by {WARNINGS_SEPARATOR}", _WHEN,
           always=True),
    fact("started_at", "str", "", "Start by the wall clock, ISO 8601, UTC", _WHEN),
    fact("boot_id", "str", "", "The kernel's identifier of this boot", _WHEN),
    fact("start_ns", "int64", "ns", "Start by CLOCK_MONOTONIC, once the lock was held", _WHEN),
    fact("end_ns", "int64", "ns", "End by the same clock, all taken down", _WHEN),
    fact("lock_wait_s", "float64", "s", "Wait for other measurements on its machines", _WHEN),
    fact("wall_s", "float64", "s", "end_ns - start_ns", _WHEN),
    fact("host_digest", "str", "", "SHA-256 of the host's description", _WHEN),
    Column("commit", "str", "", "Git commit of copycost", _WHEN, always=True),
    Column("sender_build", "str", "", "Source digest, compiler and flags of the sender", _WHEN),
    Column("receiver_build", "str", "", "The same of the receiver", _WHEN),
)  # fmt: skip

COLUMNS: tuple[Column, ...] = (
    *_KEY_COLUMNS,
    *_DERIVED_COLUMNS,
    *OUTCOME,
    *_STREAM,
    *_CPU_COLUMNS,
    *_event_columns(),
    *_cost_columns(),
    *status_columns(),
    *cost_columns(),
    *machine_columns(),
    *_CALL_COLUMNS,
    *_reference_columns(),
    *_ZERO_COPY_COLUMNS,
    *_DATAGRAM_COLUMNS,
    *_PATH_COLUMNS,
    *_WHEN_COLUMNS,
)

CELLS = Definition("table of cells", COLUMNS)
