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


def in_all_placements() -> pd.DataFrame:
    """Return cells in which a thread is faster with both ends on one CPU."""
    cells = make_cells(Run(**CELLS, placements=tuple(FACTORS)))
    factor = cells["placement"].map(FACTORS)
    return cells.assign(throughput_bits_per_s=cells["throughput_bits_per_s"] * factor)


def beside_a_reference(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the same where two_copy was measured beside the others, and once alone."""
    key = ["placement", "msg_bytes", "n_threads", "rep"]
    own = cells[cells["implementation"] == "two_copy"].set_index(key)["throughput_bits_per_s"]
    beside = own.reindex(pd.MultiIndex.from_frame(cells[key])).to_numpy()
    cells = cells.assign(reference="two_copy", reference_throughput_bits_per_s=beside)
    return cells[(cells["implementation"] != "two_copy") | (cells["rep"] == 1)]


@pytest.mark.parametrize("made", [lambda cells: cells, beside_a_reference])
def test_each_cell_is_compared_with_itself_where_both_ends_are_apart(
    made: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    facts = placement_facts(made(in_all_placements()), None, SETTINGS)
    assert facts is not None
    told = [(group["placement"], group["n"]) for group in facts["groups"]]
    assert told == [("same", 8), ("free", 8)]
    same, free = facts["groups"]
    assert same["n_sure"] == 8
    assert 1.4 < same["lowest"] <= same["highest"] < 1.6
    assert 0.95 < free["lowest"] <= free["highest"] < 1.05


def test_where_one_placement_was_measured_there_is_nothing_to_say() -> None:
    cells = in_all_placements()
    failed = cells.assign(status="failed", throughput_bits_per_s=np.nan)
    for some in (failed, *(cells[cells["placement"] == name] for name in FACTORS)):
        assert placement_facts(some, None, SETTINGS) is None


def test_round_trips_are_told_apart_from_streams() -> None:
    trips = make_round_trips(RoundTrips())
    on_one_cpu = trips.assign(placement="same", condition="veth_same", p50_ns=trips["p50_ns"] / 10)
    cells = make_cells(Run(**CELLS))
    facts = placement_facts(cells, pd.concat([trips, on_one_cpu], ignore_index=True), SETTINGS)
    assert facts is not None
    (group,) = facts["groups"]
    assert (group["study"], group["placement"]) == ("round_trips", "same")
    assert (group["lowest"], group["highest"]) == pytest.approx((0.1, 0.1))
