"""The columns of the tables of round trips: one row per repetition, and one per percentile."""

from dataclasses import replace

from copycost.records.column import KEY, Definition, fact, grouped, number
from copycost.records.columns import CELLS, SIDES
from copycost.records.cpu_attribution import cost_columns, status_columns, use_columns
from copycost.records.machine_windows import machine_columns

_TIME_COLUMNS = grouped(
    "Round trips",
    fact("interval_ns", "int64", "ns",
         "Interval between requests; 0 if each follows the previous reply"),
    number("window_s", "s",
           "Length of the window at the sender, which counts round trips; if measured in turns, of "
           "all turns"),
    number("samples", "count", "Round trips that began in the window; every one is measured"),
    number("round_trips_per_s", "1/s", "samples / window_s"),
    number("mean_ns", "ns",
           "Mean time from a request (with an interval: from when it was due) to the end of its "
           "reply"),
    number("p50_ns", "ns", "Median of the same"),
    number("p90_ns", "ns", "90th percentile of the same"),
    number("p99_ns", "ns", "99th percentile; only if ten samples are slower"),
    number("p999_ns", "ns", "99.9th percentile; only if ten samples are slower"),
    number("max_ns", "ns", "Maximum of the same"),
)  # fmt: skip

_COST_COLUMNS = grouped(
    "Cost per round trip",
    *(
        number(f"{side}_cpu_ns_per_round_trip", "ns", f"{side}_cpu_ns / samples") for side in SIDES
    ),
    number("both_cpu_ns_per_round_trip", "ns", "(sender_cpu_ns + receiver_cpu_ns) / samples"),
    number("context_switches_per_round_trip", "1",
           "Context switches of both sides / samples, if both were counted"),
    number("sender_syscalls_per_round_trip", "1", "sender_syscalls / samples"),
)  # fmt: skip

PERCENTILES = ("p50_ns", "p90_ns", "p99_ns", "p999_ns")
"""Quantiles of a repetition's round trips; one that its samples do not carry has no value."""

PAIRED = ("round_trips_per_s", "mean_ns", *PERCENTILES, *(column.name for column in _COST_COLUMNS))
"""Columns that have a ``reference_`` one, as `copycost.records.columns.PAIRED`."""

_BY_NAME = {column.name: column for column in (*CELLS.columns, *_TIME_COLUMNS, *_COST_COLUMNS)}
_REFERENCE_COLUMNS = (
    _BY_NAME["reference"],
    *(
        replace(_BY_NAME[name], name=f"reference_{name}", group=_BY_NAME["reference"].group,
                description=f"The reference's {name}")
        for name in PAIRED
    ),
)  # fmt: skip

# Columns that mean the same here as in the table of cells, in this order.
_BEFORE = (
    *KEY, "condition", "peer", "strategy", "transport", "fresh", "status", "reason", "remedy",
)  # fmt: skip
_AFTER = (
    "sender_cpu_ns", "receiver_cpu_ns", "cpu_source", "sender_syscalls", "receiver_syscalls",
    "zc_sent", "zc_completed", "zc_copied", "zc_copied_unknown", "zc_notifications",
    "zc_copied_share", "tcp_retransmits", "congestion_control", "sender_cpus", "receiver_cpus",
    "mss_bytes",
    "send_buffer_bytes", "receive_buffer_bytes", "receive_lowat_bytes", "offload_tso",
    "offload_gso", "offload_gro", "mtu_bytes", "isolation", "warnings", "started_at", "boot_id",
    "start_ns", "end_ns", "lock_wait_s", "wall_s", "host_digest", "commit", "sender_build",
    "receiver_build",
)  # fmt: skip

ROUND_TRIPS = Definition(
    "table of round trips",
    (
        *(_BY_NAME[name] for name in _BEFORE),
        *_TIME_COLUMNS,
        *_COST_COLUMNS,
        *_REFERENCE_COLUMNS,
        *status_columns(),
        *use_columns(),
        *cost_columns("round_trip"),
        *machine_columns("round_trip"),
        *(_BY_NAME[name] for name in _AFTER),
    ),
)

CURVES = Definition(
    "table of round-trip percentiles",
    (
        *(_BY_NAME[name] for name in KEY),
        *grouped(
            "Distribution",
            number("quantile", "1", "Share of the round trips that took no longer than ns",
                   nullable=False, always=True, highest=1),
            number("ns", "ns", "Time of a round trip", nullable=False, always=True),
        ),
    ),
    key=(*KEY, "quantile"),
)  # fmt: skip
