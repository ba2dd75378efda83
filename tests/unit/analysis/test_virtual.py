"""What virtual machines cost, where `veth` stands in for two guests and `loopback` for none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from analysed import facts_of
from matplotlib.text import Text
from synthetic import Run, make_cells

from copycost.analysis.json_values import Facts
from copycost.analysis.virtual import PARTS, part_column, with_outside
from copycost.figures.virtual_machines import draw
from copycost.grid import testbeds

RUN = Run(
    implementations=("two_copy", "one_copy"),
    testbeds=("loopback", "veth"),
    msg_bytes=(1024, 65536),
    n_threads=(1, 2),
    repetitions=5,
    noise=0.01,
)
# of a byte's cost to the processes: what the guest, its hypervisor's threads use
USE = {"guest": 1.5, "vcpu": 1.6, "io": 0.9, "vhost": 0.0, "worker": 0.1, "hypervisor": 2.6,
       "overhead": 1.1}  # fmt: skip


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = replace(testbeds.TESTBEDS["veth"], guests=2, without_guests="loopback")
    monkeypatch.setattr(testbeds, "TESTBEDS", {**testbeds.TESTBEDS, "veth": entry})


def in_guests(cells: pd.DataFrame, accelerator: str = "tcg", **statuses: str) -> pd.DataFrame:
    """Return cells with `veth` in guests: half the throughput, and hypervisors that use `USE`."""
    inside = cells["testbed"] == "veth"
    added: dict[str, Any] = {
        "accelerator": np.where(inside, accelerator, ""),
        "throughput_bits_per_s": cells["throughput_bits_per_s"] * np.where(inside, 0.5, 1.0),
    }
    for side in ("sender", "receiver"):
        status = statuses.get(side, "counted")
        added[f"{side}_guest_status"] = np.where(inside, status, "no_guest")
        for party, factor in USE.items():
            added[f"{side}_{party}_cpu_ns_per_byte"] = (
                cells[f"{side}_cpu_ns_per_byte"] * factor
            ).where(inside & (status == "counted"))
    return cells.assign(**added)


def virtual(**statuses: str) -> Facts:
    found: Facts = facts_of(RUN, in_guests(make_cells(RUN), **statuses))["virtual"]
    return found


def test_the_parts_of_what_a_byte_costs_outside_add_up_to_it() -> None:
    rows = with_outside(in_guests(make_cells(RUN)))
    guests = rows[rows["testbed"] == "veth"]
    parts = sum(guests[part_column(name)] for name in PARTS)
    np.testing.assert_allclose(parts, guests["outside_cpu_ns_per_byte"])
    np.testing.assert_allclose(parts, 2.6 * guests["both_cpu_ns_per_byte"])
    assert rows.loc[rows["testbed"] == "loopback", "outside_cpu_ns_per_byte"].isna().all()


def test_shares_of_the_parts_add_up_to_one_largest_first() -> None:
    (found,) = virtual()["conditions"]
    parts = {part["name"]: part["value"] for part in found["parts"]}
    assert sum(parts.values()) == pytest.approx(1.0)
    assert list(parts) == ["processes", "io", "guests", "vcpu", "worker"]
    assert parts["io"] == pytest.approx(0.9 / 2.6)


def test_guests_are_compared_with_the_same_rounds_without_them() -> None:
    (found,) = virtual()["compared"]
    assert (found["slug"], found["without"], found["emulated"]) == ("veth", "loopback", True)
    assert found["throughput"]["value"] == pytest.approx(0.5, rel=0.02)
    assert found["inside"]["value"] == pytest.approx(1.0, rel=0.02)
    assert found["outside"]["value"] == pytest.approx(2.6, rel=0.02)
    assert [found[key]["n_cells"] for key in ("throughput", "inside", "outside")] == [8, 8, 8]
    assert all(cell["rate_sure"] and cell["price_sure"] for cell in found["cells"])
    cell = found["cells"][0]
    assert cell["outside"]["median"] == pytest.approx(2.6 * cell["inside"]["median"], rel=0.01)


def test_a_round_that_one_of_both_lacks_is_left_out() -> None:
    cells = in_guests(make_cells(RUN))
    gone = (cells["testbed"] == "loopback") & (cells["rep"] == 2)
    (found,) = facts_of(RUN, cells[~gone])["virtual"]["compared"]
    assert {cell["rate"]["n"] for cell in found["cells"]} == {4}


def test_a_side_outside_of_guests_pays_outside() -> None:
    rows = with_outside(in_guests(make_cells(RUN), receiver="no_guest"))
    guests = rows[rows["testbed"] == "veth"]
    np.testing.assert_allclose(
        guests["outside_cpu_ns_per_byte"],
        2.6 * guests["sender_cpu_ns_per_byte"] + guests["receiver_cpu_ns_per_byte"],
    )
    np.testing.assert_allclose(guests[part_column("apart")], guests["receiver_cpu_ns_per_byte"])


def test_two_sides_in_one_guest_are_told_together() -> None:
    (found,) = virtual(receiver="same_guest")["conditions"]
    (use,) = found["uses"]
    assert use["sides"] == ["sender", "receiver"]
    assert use["process"]["low"] > use["guest"]["low"] / 1.6


def test_each_guest_has_what_was_used_inside_and_outside() -> None:
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


def test_without_the_other_testbed_there_is_nothing_to_compare_with() -> None:
    run = replace(RUN, testbeds=("veth",))
    facts = facts_of(run, in_guests(make_cells(run)))["virtual"]
    assert (facts["compared"], facts["alone"]) == ([], ["veth"])


def test_a_run_without_guests_says_nothing_of_them() -> None:
    run = replace(RUN, testbeds=("loopback",))
    facts = facts_of(run, in_guests(make_cells(run)))
    assert facts["virtual"] is None
    assert not facts["conditions"]["loopback"]["emulated"]


def test_guests_say_nothing_of_a_network_card() -> None:
    run = replace(RUN, implementations=("two_copy", "zero_copy"), copied_share=lambda size: 0.0)
    facts = facts_of(run, in_guests(make_cells(run)))
    assert facts["network_card"]["measured"] == ["loopback"]


def test_each_of_two_kernels_has_cpus_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(RUN, changes={"sender_cpus": "0", "receiver_cpus": "0"})
    (one,) = {q3["n_cpus"] for q3 in questions(changed)}
    assert one == 1
    apart = replace(testbeds.TESTBEDS["veth"], kernels=2)
    monkeypatch.setattr(testbeds, "TESTBEDS", {**testbeds.TESTBEDS, "veth": apart})
    assert [q3["n_cpus"] for q3 in questions(changed)] == [1, 2]


def questions(run: Run) -> list[Facts]:
    facts = facts_of(run, in_guests(make_cells(run)))
    return [one["questions"]["q3"] for one in facts["conditions"].values()]


def test_caches_of_the_machine_are_not_those_of_an_emulated_guest() -> None:
    fits = {
        accelerator: facts_of(RUN, in_guests(make_cells(RUN), accelerator))["conditions"]
        for accelerator in ("tcg", "kvm")
    }
    assert [len(fits[name]["veth"]["cache_fit"]["unknown"]) for name in fits] == [3, 0]
    assert fits["tcg"]["loopback"]["cache_fit"]["unknown"] == []


@pytest.mark.parametrize(("accelerator", "label"), [("tcg", "veth, emulated"), ("kvm", "veth")])
def test_emulated_is_said_wherever_a_condition_is_named(accelerator: str, label: str) -> None:
    facts = facts_of(RUN, in_guests(make_cells(RUN), accelerator))
    assert facts["conditions"]["veth"]["label"] == label
    assert facts["virtual"]["emulated"] == (accelerator == "tcg")


def test_the_figure_stacks_the_parts_as_multiples_of_the_cost_without_guests() -> None:
    facts = facts_of(RUN, in_guests(make_cells(RUN)))
    drawn = draw(facts)
    data = drawn.data[drawn.data["msg_bytes"] == 65536]
    assert set(data["implementation"]) == {"two_copy"}
    assert data["multiple"].sum() == pytest.approx(2.6, rel=0.02)
    words = " ".join(text.get_text() for text in drawn.figure.findobj(Text))
    assert "veth, emulated (1 is loopback)" in words
    assert "Emulated guests" in words
    alone = facts_of(replace(RUN, testbeds=("loopback",)))
    assert draw(alone).data.empty
