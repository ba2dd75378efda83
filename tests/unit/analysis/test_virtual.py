"""What virtual machines cost, inside and outside, and against the same cells without them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from analysed import facts_of
from synthetic import Run, make_cells
from synthetic.guests import in_guests

from copycost.analysis.json_values import Facts
from copycost.analysis.virtual import PARTS, with_outside

pytestmark = pytest.mark.slow

RUN = Run(
    implementations=("two_copy", "one_copy"),
    testbeds=("veth", "vm_pair"),
    msg_bytes=(1024, 65536),
    n_threads=(1,),
    repetitions=5,
    noise=0.01,
)


@cache
def usual() -> Facts:
    found: Facts = facts_of(RUN, in_guests(make_cells(RUN)))["virtual"]
    return found


def test_the_parts_of_what_a_byte_costs_outside_add_up_to_it() -> None:
    rows = with_outside(in_guests(make_cells(RUN)))
    guests = rows[rows["testbed"] == "vm_pair"]
    parts = sum(guests[name] for name in PARTS)
    np.testing.assert_allclose(parts, guests["outside"])
    np.testing.assert_allclose(parts, 2.6 * guests["both_cpu_ns_per_byte"])
    assert rows.loc[rows["testbed"] == "veth", "outside"].isna().all()
    (found,) = usual()["conditions"]
    shares = {part["name"]: part["value"] for part in found["parts"]}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert list(shares) == ["vcpu", "io", "worker"], "the largest first"
    assert shares["io"] == pytest.approx(0.9 / 2.6)
    assert found["within"]["value"] == pytest.approx(1.0 / 1.5)
    assert found["stalled"] is None


def test_what_a_guest_counts_beyond_its_virtual_cpus_was_waited_for_and_what_not_is_a_gap() -> None:
    cells = in_guests(make_cells(RUN))
    columns = [f"{side}_guest_cpu_ns_per_byte" for side in ("sender", "receiver")]
    cells[columns] *= 2.0
    lost = (cells["rep"] == 1) & (cells["testbed"] == "vm_pair")
    cells.loc[lost, ["sender_cpu_ns_per_byte", "both_cpu_ns_per_byte"]] = np.nan
    facts = facts_of(RUN, cells)["virtual"]
    (found,) = facts["conditions"]
    # 3.0 of the processes' time, of which the virtual CPUs ran for 1.6
    assert found["stalled"]["value"] == pytest.approx(1.4 / 3.0)
    assert (found["parts"][0]["n"], found["within"]["n"]) == (5, 4)
    (compared,) = facts["compared"]
    assert (compared["outside"]["n"], compared["inside"]["n"]) == (5, 4)


def test_guests_are_compared_with_the_same_rounds_without_them() -> None:
    (found,) = usual()["compared"]
    assert (found["slug"], found["without"], found["emulated"]) == ("vm_pair", "veth", True)
    for key, ratio in (("throughput", 0.5), ("inside", 1.0), ("outside", 2.6)):
        assert found[key]["value"] == pytest.approx(ratio, rel=0.02)
        assert found[key]["n_cells"] == 4
    cells = in_guests(make_cells(RUN))
    gone = (cells["testbed"] == "veth") & (cells["rep"] == 2)
    cells["mtu_bytes"] = np.where(cells["testbed"] == "vm_pair", 1500, 65535)
    (changed,) = facts_of(RUN, cells[~gone])["virtual"]["compared"]
    assert {cell["rate"]["n"] for cell in changed["cells"]} == {4}
    assert (found["mtu"], changed["mtu"]) == (None, {"here": 1500, "there": 65535})


def test_guests_alone_are_compared_with_nothing_and_say_nothing_of_a_card() -> None:
    run = replace(RUN, testbeds=("vm_pair",))
    facts = facts_of(run, in_guests(make_cells(run)))["virtual"]
    assert (facts["compared"], facts["alone"]) == ([], ["vm_pair"])
    assert facts_of(replace(RUN, testbeds=("veth",)))["virtual"] is None
    run = replace(RUN, implementations=("two_copy", "zero_copy"), copied_share=lambda size: 0.0)
    assert facts_of(run, in_guests(make_cells(run)))["network_card"]["measured"] == ["veth"]
