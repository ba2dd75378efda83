"""Records of the study `round_trips` become rows of its two tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.errors import DataError
from copycost.records.column import KEY
from copycost.records.columns import SIDES
from copycost.records.cpu_attribution import costs_of, use_of
from copycost.records.derive import Row, derive_row, ratio, total, traffic_of
from copycost.records.machine_windows import machines_of
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.records.table import make_table, write_table
from copycost.records.windows import Turns, turns_of, window_ns
from copycost.studies.round_trips.columns import CURVES, PAIRED, PERCENTILES, ROUND_TRIPS


def row_of_grid(record: Record) -> Row:
    """Return the row of a record of either study of the grid, as the table of that study has it."""
    return (derive_row if record["study"] == "streams" else derive_round_trips)(record)


def derive_round_trips(record: Record) -> Row:
    """Return the row of a record; everything in it follows from that record alone."""
    row = derive_row(record) | {"interval_ns": record["settings"]["interval_ns"]}
    driver = record["driver"]
    if record["status"] != "measured" or driver is None:
        return row
    use = use_of(record)
    turns = turns_of(driver)
    row |= use | _round_trips(driver["sender"], turns[0], row)
    per_s = ratio(row["samples"], row["window_s"])
    row |= costs_of(use, per_s, "round_trip")
    row |= machines_of(record, per_s, "round_trip")
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
        **{name: told[name] for name in ("samples", "mean_ns", *PERCENTILES, "max_ns")},
        "window_s": window_s,
        "round_trips_per_s": ratio(samples, window_s),
        **{f"{side}_cpu_ns_per_round_trip": ratio(ns, samples) for side, ns in cpu_ns.items()},
        "context_switches_per_round_trip": ratio(switches, samples),
        "sender_syscalls_per_round_trip": ratio(traffic["sender_syscalls"], samples),
    }


def curve_of(record: Record) -> list[Row]:
    """Return a row per percentile that the sender of a measured repetition tells."""
    if record["driver"] is None or record["driver"]["sender"]["round_trip"] is None:
        return []
    cell = cell_of(record)
    key = {name: getattr(cell, name) for name in KEY}
    points = record["driver"]["sender"]["round_trip"]["percentiles"]
    return [key | {"quantile": quantile, "ns": ns} for quantile, ns in points]


def collect_round_trips(
    paths: Sequence[Path], table_csv: Path, curves_csv: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the records of the study and write the table of repetitions and that of percentiles.

    The first has one row per path, which says what repetition the record has to be; the second one
    per repetition that was measured and percentile of it. What becomes of a lost record: see
    `read_all`.
    """
    found = read_all(paths, lambda record: (derive_round_trips(record), curve_of(record)))
    table = make_table((row for row, _ in found), ROUND_TRIPS)
    curves = make_table((point for _, points in found for point in points), CURVES)
    write_table(table, table_csv, None, ROUND_TRIPS)
    write_table(curves, curves_csv, None, CURVES)
    return table, curves
