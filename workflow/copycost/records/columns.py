"""The columns of the tidy table: one definition for writing, reading, checking and documenting."""

from dataclasses import dataclass
from typing import Literal

from copycost.hostinfo.perf_events import PERF_EVENTS

# int64 and bool columns have a value in every row; boolean, float64 and str may lack it.
DType = Literal["str", "int64", "float64", "boolean"]

KEY = ("study", "testbed", "implementation", "msg_bytes", "n_threads", "rep")
SIDES = ("sender", "receiver")
# Costs per byte are given for these, and for CPU time.
COST_EVENTS = (
    "ref_cycles",
    "cycles",
    "instructions",
    "l1d_load_misses",
    "llc_load_misses",
    "cache_misses",
)
STATUSES = ("measured", "skipped", "failed")
COUNTED_STATUSES = ("counted", "multiplexed")
EVENT_STATUSES = {
    "counted": "counted during the whole window",
    "multiplexed": "counted during a part of the window and scaled up by perf",
    "not_supported": "this host has no such counter",
    "not_counted": "perf did not count it, or may count user mode only, where it never happens",
    "implausible": "the counter runs, but so slowly that it must be wrong (virtual machines)",
    "forbidden": "perf may not count here",
    "missing": "there is no perf",
    "failed": "perf ended without a result",
    "not_measured": "the repetition was skipped or failed",
}
WARNINGS_SEPARATOR = ";"

_EVENT_WORDS = {
    "cycles": ("cycles", "CPU cycles"),
    "instructions": ("instructions", "Instructions"),
    "l1d_loads": ("loads", "Loads from the L1 data cache"),
    "l1d_load_misses": ("misses", "Loads that missed the L1 data cache"),
    "llc_loads": ("loads", "Loads that reached the last-level cache"),
    "llc_load_misses": ("misses", "Loads that missed the last-level cache"),
    "cache_misses": ("misses", "Cache misses as the processor's maker defines them"),
    "context_switches": ("count", "Context switches"),
    "cpu_migrations": ("count", "Moves to another CPU"),
    "page_faults": ("count", "Page faults"),
    "task_clock_ns": ("ns", "CPU time"),
    "ref_cycles": ("reference cycles", "Ticks of the time-stamp counter while running"),
}
_SIDE_WORDS = {"sender": "the sender", "receiver": "the receiver", "both": "both sides together"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the cells table.

    Attributes
    ----------
    name, dtype
        As in the table; dtype is pandas'.
    unit
        Empty for names and texts.
    description
        One sentence without a full stop.
    group
        Under which heading the documentation shows it.
    nullable
        Whether a value may be missing; in rows that were not measured every nullable one is.
    always
        Whether a value may be there although the repetition was not measured.
    allowed
        The only texts that may occur, or None for any.
    lowest, highest
        Bounds of a number, None for no bound.
    """

    name: str
    dtype: DType
    unit: str
    description: str
    group: str
    nullable: bool = True
    always: bool = False
    allowed: tuple[str, ...] | None = None
    lowest: float | None = 0
    highest: float | None = None


def _fact(name: str, dtype: DType, unit: str, description: str, group: str) -> Column:
    """Return a column that has a value in every row, measured or not."""
    return Column(name, dtype, unit, description, group, nullable=False, always=True)


_KEY_COLUMNS = (
    _fact("study", "str", "", "Section of the configuration that asked for the cell", "Key"),
    _fact("testbed", "str", "", "Path of the bytes: veth, veth_no_offload or loopback", "Key"),
    _fact(
        "implementation", "str", "", "Strategy of the sender, as its source file is named", "Key"
    ),
    _fact("msg_bytes", "int64", "byte", "Size of a message", "Key"),
    _fact("n_threads", "int64", "count", "Connections, each with one thread on either side", "Key"),
    _fact("rep", "int64", "", "Number of the repetition, from 1", "Key"),
)

_OUTCOME = (
    Column("status", "str", "", "Whether there is a measurement", "Outcome",
           nullable=False, always=True, allowed=STATUSES),
    Column("reason", "str", "", "Why it was skipped or failed", "Outcome", always=True),
    Column("remedy", "str", "", "What can be done about that", "Outcome", always=True),
)  # fmt: skip

_RATE = "Throughput and service time"
_STREAM = (
    Column("window_s", "float64", "s", "Length of the window at the receiver", _RATE),
    Column("received_bytes", "float64", "byte", "Bytes received in the window", _RATE),
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
    Column("service_samples", "float64", "count", "Messages whose duration was taken", _RATE),
    Column("first_half_share", "float64", "1",
           "Share of received_bytes that came in the first half of the window; "
           "0.5 for a steady stream", _RATE, highest=1),
)  # fmt: skip

_CPU = "CPU time"
_CPU_COLUMNS = (
    *(
        Column(f"{side}_cpu_ns", "float64", "ns",
               f"CPU time of {_SIDE_WORDS[side]} in the window", _CPU)
        for side in SIDES
    ),
    Column("cpu_source", "str", "",
           "Where that comes from: perf's task-clock where it was counted on both sides, "
           "else the programs' own process clocks", _CPU, allowed=("task_clock", "process_clock")),
)  # fmt: skip


def _event_columns() -> tuple[Column, ...]:
    columns = []
    group = "Counters"
    for side in SIDES:
        for event in PERF_EVENTS:
            unit, words = _EVENT_WORDS[event]
            name = f"{side}_{event}"
            columns.append(Column(name, "float64", unit, f"{words} of {_SIDE_WORDS[side]}", group))
            columns.append(
                Column(f"{name}_status", "str", "", f"How {name} came about (see below)", group,
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
            f"{'ns' if cost == 'cpu_ns' else _EVENT_WORDS[cost][0]}/byte",
            f"{side}_{cost} / received_bytes"
            if side != "both"
            else f"(sender_{cost} + receiver_{cost}) / received_bytes, "
            "where both sides were counted",
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
           "Context switches of both sides / messages, where both were counted", _CALLS),
)  # fmt: skip

_ZERO_COPY = "Zero-copy sends"
_ZERO_COPY_COLUMNS = (
    Column("zc_sent", "float64", "count",
           "Sends with MSG_ZEROCOPY, from the first byte to the last", _ZERO_COPY),
    Column("zc_completed", "float64", "count",
           "Sends that the kernel reported as completed (equals zc_sent)", _ZERO_COPY),
    Column("zc_copied", "float64", "count",
           "Completed sends whose bytes the kernel copied after all", _ZERO_COPY),
    Column("zc_notifications", "float64", "count",
           "Messages from the error queue; one may complete many sends", _ZERO_COPY),
    Column("zc_copied_share", "float64", "1", "zc_copied / zc_completed", _ZERO_COPY, highest=1),
    Column("short_writes", "float64", "count",
           "Sends in the window of which the kernel took but a part", _ZERO_COPY),
    Column("enobufs_count", "float64", "count",
           "Sends in the window refused with ENOBUFS, and repeated", _ZERO_COPY),
    Column("errqueue_calls", "float64", "count",
           "Reads of the error queue in the window", _ZERO_COPY),
)  # fmt: skip

_PATH = "Path and settings in effect"
_PATH_COLUMNS = (
    Column("tcp_retransmits", "float64", "count",
           "Segments that the sender sent again in the window", _PATH),
    Column("softnet_dropped", "float64", "count",
           "Packets that the host's receive queues dropped in the window", _PATH, lowest=None),
    Column("congestion_control", "str", "", "TCP congestion control of the sender", _PATH),
    Column("sender_cpus", "str", "",
           "CPUs of the sending threads, thread i on entry i modulo their number; "
           "any: left to the scheduler", _PATH, nullable=False, always=True),
    Column("receiver_cpus", "str", "", "The same for the receiving threads", _PATH,
           nullable=False, always=True),
    Column("mss_bytes", "float64", "byte", "Largest TCP segment of the sender", _PATH),
    Column("send_buffer_bytes", "float64", "byte", "SO_SNDBUF of the sender", _PATH),
    Column("receive_buffer_bytes", "float64", "byte", "SO_RCVBUF of the receiver", _PATH),
    Column("receive_lowat_bytes", "float64", "byte",
           "SO_RCVLOWAT of the receiver, which sleeps until so much has come", _PATH),
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
    _fact("started_at", "str", "", "Start by the wall clock, ISO 8601, UTC", _WHEN),
    _fact("boot_id", "str", "", "The kernel's identifier of this boot", _WHEN),
    _fact("start_ns", "int64", "ns", "Start by CLOCK_MONOTONIC, once the lock was held", _WHEN),
    _fact("end_ns", "int64", "ns", "End by the same clock, all taken down", _WHEN),
    _fact("lock_wait_s", "float64", "s", "Wait for other measurements on this host", _WHEN),
    _fact("wall_s", "float64", "s", "end_ns - start_ns", _WHEN),
    _fact("host_digest", "str", "", "SHA-256 of the host's description", _WHEN),
    Column("commit", "str", "", "Git commit of copycost", _WHEN, always=True),
    Column("sender_build", "str", "", "Source digest, compiler and flags of the sender", _WHEN),
    Column("receiver_build", "str", "", "The same of the receiver", _WHEN),
)  # fmt: skip

COLUMNS: tuple[Column, ...] = (
    *_KEY_COLUMNS,
    *_OUTCOME,
    *_STREAM,
    *_CPU_COLUMNS,
    *_event_columns(),
    *_cost_columns(),
    *_CALL_COLUMNS,
    *_ZERO_COPY_COLUMNS,
    *_PATH_COLUMNS,
    *_WHEN_COLUMNS,
)
