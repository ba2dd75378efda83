"""Records of the study `round_trips` become rows of its two tables."""

from copycost.errors import DataError
from copycost.records.column import KEY
from copycost.records.columns import SIDES
from copycost.records.derive import Row, derive_row, ratio, total
from copycost.records.machines import machines_of
from copycost.records.parties import costs_of, use_of
from copycost.records.record import Record, cell_of
from copycost.records.windows import window_ns
from copycost.studies.round_trips.columns import ROUND_TRIPS

_PERCENTILES = ("samples", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")


def row_of_grid(record: Record) -> Row:
    """Return the row of a record of either study of the grid, as the table of that study has it."""
    return (derive_row if record["study"] == "streams" else derive_round_trips)(record)


def derive_round_trips(record: Record) -> Row:
    """Return the row of a record; everything in it follows from that record alone.

    Raises
    ------
    DataError
        If the repetition was measured and yet its sender tells no round trips.
    """
    row = derive_row(record) | {"interval_ns": record["settings"]["interval_ns"]}
    if record["status"] != "measured" or record["driver"] is None:
        return row
    use = use_of(record)
    row |= use
    sender = record["driver"]["sender"]
    told = sender["round_trip"]
    if told is None:
        raise DataError("the sender tells no round trips; expected them in this study")
    samples = told["samples"]
    row |= {name: told[name] for name in _PERCENTILES}
    row["window_s"] = window_ns(sender) / 1e9  # of the side that counts; the other's may be later
    per_s = ratio(samples, row["window_s"])
    row["round_trips_per_s"] = per_s
    row |= costs_of(use, per_s, "round_trip")
    row |= machines_of(record, per_s, "round_trip")
    cpu_ns = {side: row.get(f"{side}_cpu_ns") for side in SIDES}
    cpu_ns["both"] = total(*cpu_ns.values())
    row |= {f"{side}_cpu_ns_per_round_trip": ratio(ns, samples) for side, ns in cpu_ns.items()}
    switches = total(*(row.get(f"{side}_context_switches") for side in SIDES))
    row["context_switches_per_round_trip"] = ratio(switches, samples)
    row["sender_syscalls_per_round_trip"] = ratio(row["sender_syscalls"], samples)
    return ROUND_TRIPS.checked(row)


def curve_of(record: Record) -> list[Row]:
    """Return a row per percentile that the sender of a measured repetition tells."""
    if record["driver"] is None or record["driver"]["sender"]["round_trip"] is None:
        return []
    cell = cell_of(record)
    key = {name: getattr(cell, name) for name in KEY}
    points = record["driver"]["sender"]["round_trip"]["percentiles"]
    return [key | {"quantile": quantile, "ns": ns} for quantile, ns in points]
