"""What virtual machines cost where something was not counted; golden texts have the usual."""

from dataclasses import replace

import numpy as np
import pytest
from analysed import facts_of
from synthetic import Run, make_cells
from synthetic.guests import in_guests

pytestmark = pytest.mark.slow

RUN = Run(
    implementations=("two_copy", "one_copy"),
    testbeds=("veth", "vm_pair"),
    msg_bytes=(1024, 65536),
    n_threads=(1,),
    repetitions=5,
    noise=0.01,
)


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
    cells = in_guests(make_cells(RUN))
    gone = (cells["testbed"] == "veth") & (cells["rep"] == 2)
    cells["mtu_bytes"] = np.where(cells["testbed"] == "vm_pair", 1500, 65535)
    (found,) = facts_of(RUN, cells[~gone])["virtual"]["compared"]
    assert {cell["rate"]["n"] for cell in found["cells"]} == {4}
    assert found["mtu"] == {"here": 1500, "there": 65535}


def test_guests_alone_are_compared_with_nothing_and_say_nothing_of_a_card() -> None:
    run = replace(RUN, testbeds=("vm_pair",))
    facts = facts_of(run, in_guests(make_cells(run)))["virtual"]
    assert (facts["compared"], facts["alone"]) == ([], ["vm_pair"])
    assert facts_of(replace(RUN, testbeds=("veth",)))["virtual"] is None
    run = replace(RUN, implementations=("two_copy", "zero_copy"), copied_share=lambda size: 0.0)
    assert facts_of(run, in_guests(make_cells(run)))["network_card"]["measured"] == ["veth"]
