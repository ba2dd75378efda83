"""Records of the study `round_trips` become two checked tables."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from copycost.errors import DataError
from copycost.records.collect import check_one_host
from copycost.records.column import KEY
from copycost.records.columns import SIDES
from copycost.records.derive import Row, derive_row, ratio, total, window_ns
from copycost.records.machines import machines_of
from copycost.records.parties import costs_of, use_of
from copycost.records.reading import read_all
from copycost.records.record import Record, cell_of
from copycost.records.table import make_table, read_table, write_table
from copycost.studies.round_trips.columns import CURVES, ROUND_TRIPS

_RISING = ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
_PERCENTILES = ("samples", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")


def collect_round_trips(
    paths: Sequence[Path], table_csv: Path, curves_csv: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the records of the study and write the table of repetitions and that of percentiles.

    Parameters
    ----------
    paths
        One record per repetition of the grid; each path says which repetition it has to be. None
        at all gives tables without rows.

    Returns
    -------
    tuple of pandas.DataFrame
        The tables written. The first has one row per path; the second one per repetition that was
        measured and percentile of it.

    Raises
    ------
    DataError
        If a record cannot be read, is of another cell or host, or contradicts another.
    """
    found = read_all(paths, lambda record: (derive_round_trips(record), curve_of(record)))
    table = make_table((row for row, _ in found), ROUND_TRIPS)
    check_one_host(table)
    curves = make_table((point for _, points in found for point in points), CURVES)
    write_table(table, table_csv, None, ROUND_TRIPS)
    write_table(curves, curves_csv, None, CURVES)
    return table, curves


def derive_round_trips(record: Record) -> Row:
    """Return the row of a record; everything in it follows from that record alone.

    Raises
    ------
    DataError
        If the repetition was measured and yet its sender tells no round trips, or percentiles of
        which a higher one is shorter.
    """
    row = derive_row(record) | {"interval_ns": record["settings"]["interval_ns"]}
    if record["status"] != "measured" or record["driver"] is None:
        return row
    use = use_of(record)
    row |= use
    sender = record["driver"]["sender"]
    told = sender["round_trip"]
    if told is None:
        raise DataError(
            "the sender tells no round trips; expected them in this study, so delete the record to "
            "measure the repetition again"
        )
    _require_order(told)
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
    return row


def _require_order(told: Mapping[str, Any]) -> None:
    named = [(name, told[name]) for name in _RISING]
    curve = [(f"percentile {100 * share:.4g}", ns) for share, ns in told["percentiles"]]
    longest = [("mean_ns", told["mean_ns"]), ("max_ns", told["max_ns"])]
    for points in (named, curve, longest):
        known = [(name, ns) for name, ns in points if ns is not None]
        for (low, shorter), (high, longer) in pairwise(known):
            if shorter > longer:
                raise DataError(
                    f"of its round trips, {low} is {shorter:g} and {high} is {longer:g}; expected "
                    "times that do not fall, so delete the record to measure the repetition again"
                )


def curve_of(record: Record) -> list[Row]:
    """Return a row per percentile that the sender of a measured repetition tells."""
    if record["driver"] is None or record["driver"]["sender"]["round_trip"] is None:
        return []
    cell = cell_of(record)
    key = {name: getattr(cell, name) for name in KEY}
    points = record["driver"]["sender"]["round_trip"]["percentiles"]
    return [key | {"quantile": quantile, "ns": ns} for quantile, ns in points]


def read_curves(path: Path) -> pd.DataFrame:
    """Read the table of percentiles and check it; see `copycost.records.table.read_table`."""
    return read_table(path, CURVES)
