"""Where threads ran, and what placement does to the same cells."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from synthetic import Run, make_cells
from synthetic.round_trips import RoundTrips, make_round_trips

from copycost.analysis.placement import placement_facts
from copycost.analysis.stats.settings import StatisticsSettings

SETTINGS = StatisticsSettings(0.95, 500, 1)
CELLS: dict[str, Any] = {
    "implementations": ("two_copy", "one_copy"),
    "msg_bytes": (1024, 65536),
    "n_threads": (1, 4),
    "repetitions": 5,
    "noise": 0.01,
}
FACTORS = {"apart": 1.0, "same": 1.5, "free": 1.0}


def faster_on_one_cpu(row: pd.Series) -> float:
    return float(row["throughput_bits_per_s"] * FACTORS[row["placement"]])


def in_all_placements(changed: Callable[[pd.Series], float] = faster_on_one_cpu) -> pd.DataFrame:
    return make_cells(
        Run(**CELLS, placements=tuple(FACTORS), changes={"throughput_bits_per_s": changed})
    )


def test_each_cell_is_compared_with_itself_where_both_ends_are_apart() -> None:
    facts = placement_facts(in_all_placements(), None, SETTINGS)
    assert facts is not None
    told = [(group["placement"], group["n"]) for group in facts["groups"]]
    assert told == [("same", 8), ("free", 8)]
    same, free = facts["groups"]
    assert same["n_sure"] == 8
    assert 1.4 < same["lowest"] <= same["highest"] < 1.6
    assert 0.95 < free["lowest"] <= free["highest"] < 1.05


def test_a_reference_counts_in_the_repetitions_of_others_too() -> None:
    cells = in_all_placements()
    key = ["placement", "msg_bytes", "n_threads", "rep"]
    own = cells[cells["implementation"] == "two_copy"].set_index(key)["throughput_bits_per_s"]
    beside = own.reindex(pd.MultiIndex.from_frame(cells[key])).to_numpy()
    cells = cells.assign(reference="two_copy", reference_throughput_bits_per_s=beside)
    facts = placement_facts(
        cells[(cells["implementation"] != "two_copy") | (cells["rep"] == 1)], None, SETTINGS
    )
    assert facts is not None
    assert [group["n"] for group in facts["groups"]] == [8, 8]
    assert facts["groups"][0]["n_sure"] == 8


def test_where_one_placement_was_measured_there_is_nothing_to_say() -> None:
    cells = in_all_placements()
    for name in FACTORS:
        assert placement_facts(cells[cells["placement"] == name], None, SETTINGS) is None
    failed = cells.assign(status="failed", throughput_bits_per_s=np.nan)
    assert placement_facts(failed, None, SETTINGS) is None


def test_round_trips_are_told_apart_from_streams() -> None:
    trips = make_round_trips(RoundTrips())
    columns = ["p50_ns", "p90_ns", "mean_ns"]
    on_one_cpu = trips.assign(placement="same", condition="veth_same")
    on_one_cpu[columns] /= 10.0
    cells = make_cells(Run(**CELLS))
    facts = placement_facts(cells, pd.concat([trips, on_one_cpu], ignore_index=True), SETTINGS)
    assert facts is not None
    (group,) = facts["groups"]
    assert (group["study"], group["placement"]) == ("round_trips", "same")
    assert (group["lowest"], group["highest"]) == pytest.approx((0.1, 0.1))
