"""Round trips that no connection can have had are found, and real ones are not."""

from typing import Any, cast

import pandas as pd
import pytest
from sample_records import sample_record, with_round_trips

from copycost.compare.audit.plausibility.bounds import check_round_trips
from copycost.records.record import Record
from copycost.records.table import make_table
from copycost.studies.round_trips.table import ROUND_TRIPS, derive_round_trips


def round_trips(n_threads: int = 1, **values: object) -> pd.DataFrame:
    """Return a table of two rounds, of which the second has other values."""
    records = [
        with_round_trips(sample_record(rep=rep, start_ns=rep * 10**10, n_threads=n_threads))
        for rep in (1, 2)
    ]
    table = make_table((derive_round_trips(cast("Record", one)) for one in records), ROUND_TRIPS)
    for name, value in values.items():
        table.loc[1, name] = value
    return table


def codes(table: pd.DataFrame) -> list[str]:
    found = list(check_round_trips(table, "lab"))
    assert all(one.refutes for one in found)
    return [one.code for one in found]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({}, []),
        ({"mean_ns": 50_000.0}, []),  # 20,000 of them in 1 s
        ({"mean_ns": 52_000.0}, ["more_round_trips_than_time"]),
        ({"mean_ns": 52_000.0, "interval_ns": 40_000}, []),  # counted from when they were due
        ({"mean_ns": 52_000.0, "max_ns": 1e9}, []),  # one began long before the window
        # every connection has the whole window
        ({"n_threads": 4, "mean_ns": 190_000.0}, []),
        ({"n_threads": 4, "mean_ns": 210_000.0}, ["more_round_trips_than_time"]),
        ({"p50_ns": 121.0}, []),
        ({"p50_ns": 0.03}, ["short_round_trips"]),
        ({"samples": float("nan"), "mean_ns": float("nan"), "p50_ns": float("nan")}, []),
    ],
)
def test_only_what_cannot_be_is_refuted(values: dict[str, Any], found: list[str]) -> None:
    assert codes(round_trips(**values)) == found
    assert codes(round_trips().iloc[:0]) == []


def test_a_receiver_whose_window_began_late_takes_nothing_from_the_sender() -> None:
    late = with_round_trips(sample_record())
    window = late["driver"]["receiver"]["window"]
    window["start_ns"] = window["half_ns"] = window["end_ns"] - 900_000_000
    row = derive_round_trips(cast("Record", late))
    assert (row["window_s"], row["round_trips_per_s"]) == (1.0, 20_000)
    assert codes(make_table([row | {"mean_ns": 50_000.0}], ROUND_TRIPS)) == []
