"""What guests make of round trips, against the same cells without them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from synthetic.round_trips import RoundTrips, make_round_trips, round_trips_config

from copycost.analysis.json_values import Facts
from copycost.analysis.virtual import round_trips_in_guests

TRIPS = RoundTrips(implementations=("two_copy",), msg_bytes=(64, 65536), noise=0.01)
SECTION = round_trips_config(TRIPS) | {"testbeds": ["veth", "vm_pair"]}


def table(receiver: str = "counted", **changed: Any) -> pd.DataFrame:  # noqa: ANN401
    """Return round trips on veth, and five times as long between guests, of the same rounds."""
    veth = make_round_trips(TRIPS).assign(accelerator=None)
    pair = veth.assign(testbed="vm_pair", condition="vm_pair", accelerator="tcg")
    times = [name for name in veth if str(name).endswith("_ns")]
    pair[times] *= 5.0
    pair["both_cpu_ns_per_round_trip"] *= 2.0
    rows = pd.concat([veth, pair.assign(**changed)], ignore_index=True)
    cost = rows["both_cpu_ns_per_round_trip"]
    inside = rows["testbed"] == "vm_pair"
    for side, status in (("sender", "counted"), ("receiver", receiver)):
        rows[f"{side}_guest_status"] = np.where(inside, status, "no_guest")
        rows[f"{side}_cpu_ns_per_round_trip"] = cost / 2.0
        watched = inside & (status == "counted")
        rows[f"{side}_hypervisor_cpu_ns_per_round_trip"] = (cost * 1.5).where(watched)
    return rows


def compared(rows: pd.DataFrame) -> Facts:
    (found,) = round_trips_in_guests(rows, SECTION, 0.95)
    return found


def test_round_trips_in_guests_are_compared_with_those_without() -> None:
    found = compared(table())
    assert (found["slug"], found["without"], found["emulated"]) == ("vm_pair", "veth", True)
    assert [cell["msg_bytes"] for cell in found["cells"]] == [64, 65536]
    for cell in found["cells"]:
        assert cell["p50"]["value"] == pytest.approx(5.0)
        assert cell["p99"]["value"] == pytest.approx(5.0)
        assert cell["inside"]["value"] == pytest.approx(2.0)
        assert cell["outside"]["value"] == pytest.approx(2.0 * 3.0)
        assert cell["p50"]["n"] == 5
    assert not found["apart"]


def test_a_process_in_no_guest_pays_outside() -> None:
    found = compared(table(receiver="no_guest"))
    assert found["apart"]
    assert found["cells"][0]["outside"]["value"] == pytest.approx(2.0 * (1.5 + 0.5))


def test_what_was_not_measured_is_none() -> None:
    (cell, _) = compared(table(receiver="not_measured", p99_ns=np.nan))["cells"]
    assert cell["p99"] is None
    assert cell["p50"]["value"] == pytest.approx(5.0)
    uncounted = table()
    uncounted["sender_guest_status"] = uncounted["receiver_guest_status"] = "not_measured"
    assert compared(uncounted)["cells"][0]["outside"] is None


def test_rounds_that_one_lacks_are_left_out() -> None:
    rows = table()
    gone = (rows["testbed"] == "veth") & (rows["rep"] == 2)
    assert compared(rows[~gone])["cells"][0]["p50"]["n"] == 4
    rows.loc[rows["testbed"] == "veth", "status"] = "skipped"
    assert round_trips_in_guests(rows, SECTION, 0.95) == []
    assert round_trips_in_guests(None, SECTION, 0.95) == []
