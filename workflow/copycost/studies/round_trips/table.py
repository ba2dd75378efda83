"""The tables of round trips: their columns, and what a record says in them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.errors import DataError
from copycost.records.column import KEY, Definition, fact, grouped, number
from copycost.records.columns import CELLS, SIDES
from copycost.records.cpu_attribution import (
    cost_columns,
    costs_of,
    machine_columns,
    machines_of,
    status_columns,
    use_columns,
    use_of,
)
from copycost.records.derive import (
    Row,
    Turns,
    derive_row,
    ratio,
    total,
    traffic_of,
    turns_of,
    window_ns,
)
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.records.table import make_table, write_table

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
    number("sender_cpu_ns_per_round_trip", "ns", "sender_cpu_ns / samples"),
    number("receiver_cpu_ns_per_round_trip", "ns", "receiver_cpu_ns / samples"),
    number("both_cpu_ns_per_round_trip", "ns", "(sender_cpu_ns + receiver_cpu_ns) / samples"),
    number("context_switches_per_round_trip", "1",
           "Context switches of both sides / samples, if both were counted"),
    number("sender_syscalls_per_round_trip", "1", "sender_syscalls / samples"),
)  # fmt: skip

PERCENTILES = ("p50_ns", "p90_ns", "p99_ns", "p999_ns")
"""Quantiles of a repetition's round trips; one that its samples do not carry has no value."""

_TIMES = ("samples", "mean_ns", *PERCENTILES, "max_ns")

PAIRED = ("round_trips_per_s", *_TIMES[1:], *(column.name for column in _COST_COLUMNS))
"""Columns that have a ``reference_`` one, as `copycost.records.columns.PAIRED`."""

_BY_NAME = {column.name: column for column in (*CELLS.columns, *_TIME_COLUMNS, *_COST_COLUMNS)}
_REFERENCE_COLUMNS = grouped(
    _BY_NAME["reference"].group,
    _BY_NAME["reference"],
    *(
        replace(_BY_NAME[name], name=f"reference_{name}", description=f"The reference's {name}")
        for name in PAIRED
    ),
)

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


def row_of_grid(record: Record) -> Row:
    """Return the row of a record of either study of the grid, as the table of that study has it."""
    return (derive_row if record["study"] == "streams" else derive_round_trips)(record)


def derive_round_trips(record: Record) -> Row:
    """Return the row of a record; everything in it follows from that record alone."""
    row = derive_row(record) | {"interval_ns": record["settings"]["interval_ns"]}
    driver = record["driver"]
    if record["status"] != "measured" or driver is None:
        return row
    use, turns = use_of(record), turns_of(driver)
    row |= use | _round_trips(driver["sender"], turns[0], row)
    per_s = ratio(row["samples"], row["window_s"])
    row |= costs_of(use, per_s, "round_trip") | machines_of(record, per_s, "round_trip")
    if (reference := driver.get("reference")) is not None:
        its = traffic_of(reference, reference["perf_stat"], turns[1], cell_of(record))
        its |= _round_trips(reference["sender"], turns[1], its)
        row |= {f"reference_{name}": its[name] for name in PAIRED}
    return ROUND_TRIPS.checked(row)


def _round_trips(sender: Mapping[str, Any], turns: Turns | None, traffic: Row) -> Row:
    """Return what the round trips of one way took, and what each cost."""
    told = sender["round_trip"]
    if told is None:
        raise DataError("the sender tells no round trips; expected them in this study")
    samples = told["samples"]
    # of the side that counts; the other's may be later
    window_s = (window_ns(sender) if turns is None else turns.length_ns) / 1e9
    cpu_ns = {side: traffic.get(f"{side}_cpu_ns") for side in SIDES}
    cpu_ns["both"] = total(*cpu_ns.values())
    switches = total(*(traffic.get(f"{side}_context_switches") for side in SIDES))
    return {
        **{name: told[name] for name in _TIMES},
        "window_s": window_s,
        "round_trips_per_s": ratio(samples, window_s),
        **{f"{side}_cpu_ns_per_round_trip": ratio(ns, samples) for side, ns in cpu_ns.items()},
        "context_switches_per_round_trip": ratio(switches, samples),
        "sender_syscalls_per_round_trip": ratio(traffic["sender_syscalls"], samples),
    }


def _curve_of(record: Record) -> list[Row]:
    """Return a row per percentile that the sender of a measured repetition tells."""
    told = record["driver"] and record["driver"]["sender"]["round_trip"]
    key = {name: getattr(cell_of(record), name) for name in KEY}
    points = told["percentiles"] if told else []
    return [key | {"quantile": quantile, "ns": ns} for quantile, ns in points]


def collect_round_trips(
    paths: Sequence[Path], table_csv: Path, curves_csv: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the records of the study and write the table of repetitions and that of percentiles.

    The first has one row per path, which says what repetition the record has to be; the second one
    per repetition that was measured and percentile of it. What becomes of a lost record: see
    `read_all`.
    """
    found = read_all(paths, lambda record: (derive_round_trips(record), _curve_of(record)))
    table = make_table((row for row, _ in found), ROUND_TRIPS)
    curves = make_table((point for _, points in found for point in points), CURVES)
    write_table(table, table_csv, None, ROUND_TRIPS)
    write_table(curves, curves_csv, None, CURVES)
    return table, curves
