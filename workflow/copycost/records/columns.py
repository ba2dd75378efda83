"""The columns of the tidy table of cells."""

from collections.abc import Iterator
from dataclasses import replace

from copycost.config.testbeds import PLACEMENTS
from copycost.observers.perf.events import COST_EVENTS, EVENTS
from copycost.records.column import Column, Definition, fact, flag, grouped, number, text
from copycost.records.cpu_attribution import cost_columns, machine_columns, status_columns

SIDES = ("sender", "receiver")
THROUGHPUT = "throughput_bits_per_s"
STATUSES = ("measured", "skipped", "failed")
COUNTED_STATUSES = ("counted", "multiplexed")
EVENT_STATUSES = {
    "counted": "counted during the whole window",
    "multiplexed": "counted during a part of the window and scaled up by perf",
    "not_supported": "this host has no such counter",
    "not_counted": "perf did not count it, or may count user mode only, where it never happens",
    "implausible": "the counter runs, but so slowly that it must be wrong (virtual machines)",
    "off_window": "perf began or stopped so late that it counted another period than the window",
    "forbidden": "perf is not allowed to count here",
    "missing": "perf is missing",
    "failed": "perf ended without a result",
    "no_receiver": "this testbed has no receiver",
    "not_measured": "the repetition was skipped or failed",
}
WARNINGS_SEPARATOR = ";"

_KEY_COLUMNS = grouped(
    "Key",
    fact("study", "str", "", "What was measured: streams or round_trips"),
    fact("testbed", "str", "",
         "Path of the bytes, such as veth (TCP), sink (UDP) or vm_pair (between guests)"),
    fact("implementation", "str", "",
         "Strategy of the sender, named as its source file; with _xN, N messages per system call"),
    fact("msg_bytes", "int64", "byte", "Size of a message"),
    fact("n_threads", "int64", "count", "Connections, each with one thread on either side"),
    fact("working_set", "str", "",
         "Where the bytes lie: hot (one message again and again), cold (a ring of messages larger "
         "than the last-level cache) or the size of the ring in digits [byte]"),
    fact("receiver", "str", "",
         "Receiving program: recv, trunc, mmap or uring; on sink always recv, without meaning"),
    fact("placement", "str", "",
         "CPUs of both ends of a connection: apart (on different cores), same (on one CPU) or "
         "free (the scheduler's choice)", allowed=tuple(PLACEMENTS)),
    fact("rep", "int64", "", "Number of the repetition, from 1"),
)  # fmt: skip

_DERIVED_COLUMNS = grouped(
    "From the key and the settings",
    fact("condition", "str", "",
         "Testbed, working set unless hot, receiver unless recv, placement unless apart, joined by "
         "_"),
    text("peer", "The other machine of a testbed over a wire, as named there", always=True),
    fact("strategy", "str", "", "The implementation without its batch"),
    fact("batch", "int64", "count", "Messages per system call"),
    fact("transport", "str", "", "TCP (stream) or UDP (datagram: one message each)",
         allowed=("stream", "datagram")),
    fact("ring_bytes", "int64", "byte",
         "Size of the ring of messages, all threads together; 0 if hot"),
    flag("fresh", "Whether each message was rewritten before it was sent", always=True),
)  # fmt: skip

OUTCOME = grouped(
    "Outcome",
    fact("status", "str", "", "Whether there is a measurement", allowed=STATUSES),
    text("reason", "Why it was skipped or failed", always=True),
    text("remedy", "Remedy for that reason", always=True),
)

_STREAM = grouped(
    "Throughput, time per message and latency",
    number("window_s", "s", "Length of the window at the receiver; on sink, at the sender"),
    number("received_bytes", "byte",
           "Bytes received in the window; on sink, sent_bytes less the share lost before the hook"),
    number("sent_bytes", "byte", "Bytes that the sender's kernel accepted in the window"),
    number("messages", "count", "Messages sent in the window"),
    number(THROUGHPUT, "bit/s", "received_bytes x 8 / window_s"),
    number("service_mean_ns", "ns", "Time per message: the sender's window x n_threads / messages"),
    number("service_median_ns", "ns",
           "Median duration of sending a message, over the sampled messages"),
    number("service_p99_ns", "ns", "99th percentile of the same"),
    number("service_max_ns", "ns", "Maximum of the same"),
    number("service_sampled_mean_ns", "ns",
           "Mean of the same; unlike service_mean_ns, without the time between sends"),
    number("service_samples", "count", "Messages whose duration was measured"),
    number("first_half_share", "1",
           "Share of received_bytes (on sink, of sent_bytes) in the first half of the window; "
           "0.5 for a steady stream", highest=1),
    number("slot_waits", "count",
           "Messages in the window that had to wait until the kernel released a message of the "
           "ring"),
    number("mapped_share", "1",
           "Share of received_bytes that the receiver mmap mapped instead of copying", highest=1),
)  # fmt: skip

_CPU_COLUMNS = grouped(
    "CPU time",
    *(
        number(f"{side}_cpu_ns", "ns", f"CPU time of the {side} in the window")
        for side in SIDES
    ),
    text("cpu_source",
         "Source of the CPU times: perf's task-clock if it was counted on every side, "
         "else the programs' own process clocks, which give a side that is woken on the other's "
         "CPU some of the other's time (their sum is right)",
         allowed=("task_clock", "process_clock")),
)  # fmt: skip


def _event_columns() -> Iterator[Column]:
    statuses = tuple(EVENT_STATUSES)
    for side in SIDES:
        for event, entry in EVENTS.items():
            name = f"{side}_{event}"
            yield number(name, entry.unit, f"{entry.meaning} of the {side}")
            yield fact(f"{name}_status", "str", "", f"How {name} came about", allowed=statuses)
        yield number(
            f"{side}_min_running_percent", "%",
            f"Smallest share of the window during which a counted event of the {side} "
            "was really counted", highest=100,
        )  # fmt: skip
    yield flag("user_mode_only", "Whether perf's counts leave out the kernel")


def _cost_column(side: str, cost: str) -> Column:
    unit = "ns" if cost == "cpu_ns" else EVENTS[cost].unit
    if side == "both":
        both = f"(sender_{cost} + receiver_{cost}) / received_bytes"
        meaning = f"{both}, if both sides were counted; none on sink"
    else:
        meaning = f"{side}_{cost} / received_bytes"
    return number(f"{side}_{cost}_per_byte", f"{unit}/byte", meaning)


_COST_COLUMNS = grouped(
    "Cost per received byte",
    *(
        _cost_column(side, cost)
        for side in (*SIDES, "both")
        for cost in ("cpu_ns", *COST_EVENTS)
    ),
)  # fmt: skip

_CALL_COLUMNS = grouped(
    "System calls and context switches",
    number("sender_syscalls", "count", "System calls of the sending threads in the window"),
    number("receiver_syscalls", "count", "System calls of the receiving threads in the window"),
    number("sender_syscalls_per_message", "1", "sender_syscalls / messages"),
    number("context_switches_per_message", "1",
           "Context switches of both sides / messages, if both were counted; "
           "on sink, of the sender"),
)  # fmt: skip

PAIRED = (
    THROUGHPUT,
    "service_mean_ns",
    *(column.name for column in _COST_COLUMNS),
    "sender_syscalls_per_message",
    "context_switches_per_message",
)
"""Columns that have a ``reference_`` one: the same of the reference, in the same repetition."""

_BY_NAME = {column.name: column for column in (*_STREAM, *_COST_COLUMNS, *_CALL_COLUMNS)}
_REFERENCE_COLUMNS = grouped(
    "The reference, measured in the same repetition",
    text("reference",
         "Implementation measured in turns with this one; this one itself in the control, and "
         "none if it was measured alone", always=True),
    *(
        replace(_BY_NAME[name], name=f"reference_{name}", description=f"The reference's {name}")
        for name in PAIRED
    ),
)  # fmt: skip

_ZERO_COPY_COLUMNS = grouped(
    "Zero-copy sends",
    number("zc_sent", "count",
           "Sends for which zero-copy was requested, from the first byte to the last"),
    number("zc_completed", "count", "Sends that the kernel reported as completed (equals zc_sent)"),
    number("zc_copied", "count", "Completed sends whose bytes the kernel copied after all"),
    text("zc_copied_unknown", "Why zc_copied is missing although there are zc_sent"),
    number("zc_notifications", "count", "Notifications of the kernel; one may complete many sends"),
    number("zc_copied_share", "1", "zc_copied / zc_completed", highest=1),
    number("short_writes", "count", "Sends in the window that the kernel accepted only in part"),
    number("enobufs_count", "count", "Sends in the window refused with ENOBUFS, and repeated"),
    number("errqueue_calls", "count", "Reads of the error queue in the window"),
)  # fmt: skip

RATE_LIMIT = "Limit on the payload that the senders send; none if they are not limited"
_DATAGRAM_COLUMNS = grouped(
    "Datagrams",
    number("datagrams_sent", "count",
           "Datagrams that the sender's kernel accepted, from the first to the last"),
    number("datagrams_received", "count",
           "Datagrams that the receiver got, from the first to the last; none on sink"),
    number("datagrams_lost", "count",
           "Datagrams sent and not received; on sink, sent and never at the hook that drops them"),
    number("rate_limit_bits_per_s", "bit/s", RATE_LIMIT),
    number("udp_receive_buffer_errors", "count",
           "Datagrams that the kernel dropped in the window because the receive buffer was full"),
)  # fmt: skip

_PATH_COLUMNS = grouped(
    "Path and settings in effect",
    number("tcp_retransmits", "count", "Segments retransmitted by the sender in the window (TCP)"),
    number("softnet_dropped", "count",
           "Packets that the host's receive queues dropped in the window", lowest=None),
    text("congestion_control", "Congestion control of the sender (TCP)"),
    fact("sender_cpus", "str", "",
         "CPUs of the sending threads, thread i on entry i modulo their number; where the "
         "placement is free, on any of them"),
    text("receiver_cpus", "The same for the receiving threads; none on sink", always=True),
    number("mss_bytes", "byte", "Largest segment of the sender (TCP)"),
    number("send_buffer_bytes", "byte", "SO_SNDBUF of the sender"),
    number("receive_buffer_bytes", "byte", "SO_RCVBUF of the receiver"),
    number("receive_lowat_bytes", "byte",
           "SO_RCVLOWAT of the receiver, which sleeps until that much has arrived"),
    number("read_bytes", "byte", "Maximum that one call of the receiver recv takes"),
    flag("offload_tso", "TCP segmentation offload of the sender's device"),
    flag("offload_gso", "Generic segmentation offload of the sender's device"),
    flag("offload_gro", "Generic receive offload of the receiver's device"),
    number("mtu_bytes", "byte", "Largest packet of the sender's device"),
    text("isolation", "Namespaces made as root, in a user namespace, or none",
         allowed=("root", "user_namespace", "host")),
)  # fmt: skip

_WHEN_COLUMNS = grouped(
    "When and by what",
    text("warnings", f"Codes of what may have disturbed it, joined by {WARNINGS_SEPARATOR}",
         always=True),
    fact("started_at", "str", "", "Start by the wall clock, ISO 8601, UTC"),
    fact("boot_id", "str", "", "The kernel's identifier of this boot"),
    fact("start_ns", "int64", "ns", "Start by CLOCK_MONOTONIC, after the lock was taken"),
    fact("end_ns", "int64", "ns", "End by the same clock, after everything was taken down"),
    fact("lock_wait_s", "float64", "s", "Time waited for other measurements on its machines"),
    fact("wall_s", "float64", "s", "end_ns - start_ns"),
    fact("host_digest", "str", "", "SHA-256 of the host's description"),
    text("commit", "Git commit of copycost", always=True),
    text("sender_build", "Source digest, compiler and flags of the sender"),
    text("receiver_build", "The same of the receiver"),
)  # fmt: skip

COLUMNS: tuple[Column, ...] = (
    *_KEY_COLUMNS,
    *_DERIVED_COLUMNS,
    *OUTCOME,
    *_STREAM,
    *_CPU_COLUMNS,
    *grouped("Counters", *_event_columns()),
    *_COST_COLUMNS,
    *status_columns(),
    *cost_columns(),
    *machine_columns(),
    *_CALL_COLUMNS,
    *_REFERENCE_COLUMNS,
    *_ZERO_COPY_COLUMNS,
    *_DATAGRAM_COLUMNS,
    *_PATH_COLUMNS,
    *_WHEN_COLUMNS,
)

CELLS = Definition("table of cells", COLUMNS)
