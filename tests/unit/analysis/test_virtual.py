"""What virtual machines cost, inside and outside, and against the same cells without them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from analysed import facts_of
from matplotlib.text import Text
from synthetic import Run, make_cells
from synthetic.round_trips import RoundTrips, make_round_trips, round_trips_config

from copycost.analysis.json_values import Facts
from copycost.analysis.virtual import PARTS, part_column, round_trips_in_guests, with_outside
from copycost.figures.virtual_machines import draw

pytestmark = pytest.mark.slow

RUN = Run(
    implementations=("two_copy", "one_copy"),
    testbeds=("veth", "vm_pair"),
    msg_bytes=(1024, 65536),
    n_threads=(1, 2),
    repetitions=5,
    noise=0.01,
)
# of a byte's cost to the processes: what the guest, its hypervisor's threads use
USE = {"guest": 1.5, "vcpu": 1.6, "io": 0.9, "vhost": 0.0, "worker": 0.1, "hypervisor": 2.6,
       "overhead": 1.1}  # fmt: skip


def in_guests(cells: pd.DataFrame, accelerator: str = "tcg", **statuses: str) -> pd.DataFrame:
    """Return cells with half the throughput in guests, whose hypervisors use `USE`."""
    inside = cells["testbed"] == "vm_pair"
    added: dict[str, Any] = {
        "accelerator": pd.Series(accelerator, cells.index).where(inside),
        "throughput_bits_per_s": cells["throughput_bits_per_s"] * np.where(inside, 0.5, 1.0),
    }
    for side in ("sender", "receiver"):
        status = statuses.get(side, "counted")
        added[f"{side}_guest_status"] = np.where(inside, status, "no_guest")
        for party, factor in USE.items():
            added[f"{side}_{party}_cpu_ns_per_byte"] = (
                cells[f"{side}_cpu_ns_per_byte"] * factor
            ).where(inside & (status == "counted"))
    added["host_cpu_ns_per_byte"] = cells["both_cpu_ns_per_byte"].where(inside) * 3.0
    return cells.assign(**added)


def virtual(**statuses: str) -> Facts:
    found: Facts = facts_of(RUN, in_guests(make_cells(RUN), **statuses))["virtual"]
    return found


def test_the_parts_of_what_a_byte_costs_outside_add_up_to_it() -> None:
    rows = with_outside(in_guests(make_cells(RUN)))
    guests = rows[rows["testbed"] == "vm_pair"]
    parts = sum(guests[part_column(name)] for name in PARTS)
    np.testing.assert_allclose(parts, guests["outside_cpu_ns_per_byte"])
    np.testing.assert_allclose(parts, 2.6 * guests["both_cpu_ns_per_byte"])
    assert rows.loc[rows["testbed"] == "veth", "outside_cpu_ns_per_byte"].isna().all()


def test_shares_of_the_parts_add_up_to_one_largest_first() -> None:
    cells = in_guests(make_cells(RUN))
    (found,) = facts_of(RUN, cells)["virtual"]["conditions"]
    parts = {part["name"]: part["value"] for part in found["parts"]}
    assert sum(parts.values()) == pytest.approx(1.0)
    assert list(parts) == ["vcpu", "io", "worker"]
    assert parts["io"] == pytest.approx(0.9 / 2.6)
    assert found["within"]["value"] == pytest.approx(1.0 / 1.5)
    assert found["stalled"] is None
    columns = [f"{side}_guest_cpu_ns_per_byte" for side in ("sender", "receiver")]
    (found,) = facts_of(RUN, cells.assign(**{name: cells[name] * 2.0 for name in columns}))[
        "virtual"
    ]["conditions"]
    # 3.0 of the processes' time, of which the virtual CPUs ran for 1.6
    assert found["stalled"]["value"] == pytest.approx(1.4 / 3.0)


def test_what_a_guest_did_not_count_leaves_what_was_counted_outside() -> None:
    cells = in_guests(make_cells(RUN))
    lost = (cells["rep"] == 1) & (cells["testbed"] == "vm_pair")
    cells.loc[lost, ["sender_cpu_ns_per_byte", "both_cpu_ns_per_byte"]] = np.nan
    facts = facts_of(RUN, cells)["virtual"]
    (found,) = facts["conditions"]
    assert found["parts"][0]["n"] == 5
    assert found["within"]["n"] == 4
    assert facts["compared"][0]["outside"]["n"] == 5
    assert facts["compared"][0]["inside"]["n"] == 4


def test_guests_are_compared_with_the_same_rounds_without_them() -> None:
    (found,) = virtual()["compared"]
    assert (found["slug"], found["without"], found["emulated"]) == ("vm_pair", "veth", True)
    assert found["throughput"]["value"] == pytest.approx(0.5, rel=0.02)
    assert found["inside"]["value"] == pytest.approx(1.0, rel=0.02)
    assert found["outside"]["value"] == pytest.approx(2.6, rel=0.02)
    assert [found[key]["n_cells"] for key in ("throughput", "inside", "outside")] == [8, 8, 8]
    assert all(cell["rate_sure"] and cell["price_sure"] for cell in found["cells"])
    cell = found["cells"][0]
    assert cell["outside"]["median"] == pytest.approx(2.6 * cell["inside"]["median"], rel=0.01)
    cells = in_guests(make_cells(RUN))
    gone = (cells["testbed"] == "veth") & (cells["rep"] == 2)
    (found,) = facts_of(RUN, cells[~gone])["virtual"]["compared"]
    assert {cell["rate"]["n"] for cell in found["cells"]} == {4}


def test_a_side_outside_of_guests_pays_outside() -> None:
    rows = with_outside(in_guests(make_cells(RUN), receiver="no_guest"))
    guests = rows[rows["testbed"] == "vm_pair"]
    np.testing.assert_allclose(
        guests["outside_cpu_ns_per_byte"],
        2.6 * guests["sender_cpu_ns_per_byte"] + guests["receiver_cpu_ns_per_byte"],
    )
    np.testing.assert_allclose(guests[part_column("apart")], guests["receiver_cpu_ns_per_byte"])


def test_each_guest_has_what_was_used_inside_and_outside() -> None:
    (both,) = virtual(receiver="same_guest")["conditions"]
    (use,) = both["uses"]
    assert use["sides"] == ["sender", "receiver"]
    assert use["process"]["low"] > use["guest"]["low"] / 1.6
    (found,) = virtual()["conditions"]
    assert [use["sides"] for use in found["uses"]] == [["sender"], ["receiver"]]
    for use in found["uses"]:
        for end in ("low", "high"):
            assert use["hypervisor"][end] == pytest.approx(2.6 * use["process"][end], rel=0.02)


def test_hypervisors_that_nobody_counted_leave_the_rates() -> None:
    cells = in_guests(make_cells(RUN))
    uncounted = [name for name in cells if "hypervisor" in name or "_vcpu_" in name]
    facts = facts_of(RUN, cells.assign(**dict.fromkeys(uncounted, np.nan)))["virtual"]
    (found,) = facts["compared"]
    assert found["outside"] is None
    assert found["throughput"]["value"] == pytest.approx(0.5, rel=0.02)
    assert all(cell["price"] is None for cell in found["cells"])
    assert facts["conditions"][0]["parts"] is None


def test_packets_of_another_size_are_told() -> None:
    cells = in_guests(make_cells(RUN))
    inside = cells["testbed"] == "vm_pair"
    (found,) = facts_of(RUN, cells.assign(mtu_bytes=1500))["virtual"]["compared"]
    assert found["mtu"] is None
    cells["mtu_bytes"] = np.where(inside, 1500, 65535)
    (found,) = facts_of(RUN, cells)["virtual"]["compared"]
    assert found["mtu"] == {"here": 1500, "there": 65535}


def test_without_the_other_testbed_there_is_nothing_to_compare_with() -> None:
    run = replace(RUN, testbeds=("vm_pair",))
    facts = facts_of(run, in_guests(make_cells(run)))["virtual"]
    assert (facts["compared"], facts["alone"]) == ([], ["vm_pair"])
    assert facts_of(replace(RUN, testbeds=("veth",)))["virtual"] is None


def test_guests_say_nothing_of_a_network_card() -> None:
    run = replace(RUN, implementations=("two_copy", "zero_copy"), copied_share=lambda size: 0.0)
    facts = facts_of(run, in_guests(make_cells(run)))
    assert facts["network_card"]["measured"] == ["veth"]


@pytest.mark.parametrize(
    ("accelerator", "label", "n_caches"), [("tcg", "vm_pair, emulated", 0), ("kvm", "vm_pair", 3)]
)
def test_emulated_is_said_and_then_the_machines_caches_are_not_the_guests(
    accelerator: str, label: str, n_caches: int
) -> None:
    facts = facts_of(RUN, in_guests(make_cells(RUN), accelerator))
    found = facts["conditions"]["vm_pair"]
    assert found["label"] == label
    assert facts["virtual"]["emulated"] == (accelerator == "tcg")
    caches = found["questions"]["q2"]["caches"]
    assert sum(size is not None for size in caches.values()) == n_caches


def test_the_figure_stacks_the_parts_as_multiples_of_the_cost_without_guests() -> None:
    facts = facts_of(RUN, in_guests(make_cells(RUN)))
    drawn = draw(facts)
    data = drawn.data[drawn.data["msg_bytes"] == 65536]
    assert set(data["implementation"]) == {"two_copy"}
    assert data["multiple"].sum() == pytest.approx(2.6, rel=0.02)
    words = " ".join(text.get_text() for text in drawn.figure.findobj(Text))
    assert "vm_pair, emulated\n(1 is veth)" in words
    assert "Emulated guests" in words
    assert draw(facts_of(replace(RUN, testbeds=("veth",)))).data.empty


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
        values = {name: cell[name]["value"] for name in ("p50", "p99", "inside", "outside")}
        assert values == pytest.approx({"p50": 5.0, "p99": 5.0, "inside": 2.0, "outside": 6.0})
        assert cell["p50"]["n"] == 5
    assert not found["apart"]
    outdoors = compared(table(receiver="no_guest"))
    assert outdoors["apart"]
    assert outdoors["cells"][0]["outside"]["value"] == pytest.approx(2.0 * (1.5 + 0.5))


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
