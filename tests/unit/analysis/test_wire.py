"""Between two machines: what the link allows, and what a byte takes of both."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from analysed import inputs_of
from synthetic import Run, make_cells
from wires import WIRES, other_machine, over_wire

from copycost.analysis.json_values import Facts
from copycost.analysis.wire import MACHINES, with_machines
from copycost.studies.streams.facts import compute_facts

pytestmark = pytest.mark.slow

RUN = Run(
    testbeds=WIRES,
    msg_bytes=(1024, 65536),
    n_threads=(1,),
    repetitions=5,
    noise=0.01,
    changes={"mss_bytes": 1448.0},
    copied_share=lambda size: 0.0,
)
# what a link of 1 bit/s carries of segments of 1448 bytes in frames of 1500 and 38
CARRIED = 1448 / 1538


def facts_of(
    run: Run = RUN, cells: pd.DataFrame | None = None, *, one_kernel: bool = False
) -> Facts:
    rows = over_wire(make_cells(run)) if cells is None else cells
    peers = {"lab2": other_machine()}
    peers["lab2"]["wire"]["one_kernel"] = one_kernel
    return compute_facts(replace(inputs_of(run, rows), peers=peers))


def wire(run: Run = RUN, cells: pd.DataFrame | None = None) -> Facts:
    found: Facts = facts_of(run, cells)["wire"]
    return found


def at_rate(rate: float) -> pd.DataFrame:
    """Return cells that all have one throughput, but for noise."""
    cells = over_wire(make_cells(RUN))
    return cells.assign(throughput_bits_per_s=rate * (1 + 1e-4 * cells["rep"]))


def test_link_sets_the_throughput_where_the_receiver_gets_nearly_all_it_carries() -> None:
    for share, limited in ((0.951, 2), (0.94, 0)):
        link = wire(cells=at_rate(share * CARRIED * 1e11))["conditions"][0]["link"]
        assert link["capacity_bits_per_s"] == pytest.approx(CARRIED * 1e11)
        assert (link["n_points"], link["n_full"], link["n_part"]) == (2, limited, 0)
        assert link["believed"]
        assert link["sizes"] == ([1024, 65536] if limited else [])
        assert link["highest"] == pytest.approx(share, rel=1e-3)


def test_speed_that_a_cell_exceeds_is_not_believed() -> None:
    cells = at_rate(0.5e11)
    fast = cells["throughput_bits_per_s"] * np.where(cells["testbed"] == "wire_in-lab2", 2.2, 1.0)
    found = wire(cells=cells.assign(throughput_bits_per_s=fast))["conditions"]
    # of both directions, which share the link
    assert [one["link"]["believed"] for one in found] == [False, False]
    assert found[0]["link"]["highest"] < 1.0 < found[0]["link"]["exceeded"]


@pytest.mark.parametrize("lost", [0, 1])
def test_cheapest_way_is_that_of_both_machines_where_they_were_counted(lost: int) -> None:
    cells = over_wire(make_cells(RUN))
    # zero-copy saves the process time that interrupts take again
    zero = cells["implementation"] == "zero_copy"
    names = [f"{side}_cpu_ns_per_byte" for side in ("sender", "receiver", "both")]
    cells = cells.assign(**{name: cells[name] * np.where(zero, 0.1, 1.0) for name in names})
    name = "sender_machine_cpu_ns_per_byte"
    more = cells[name] * np.where(zero, 20.0, 1.0)
    facts = facts_of(cells=cells.assign(**{name: more.mask(cells.index < lost)}))["conditions"]
    told = {slug: found["decisions"]["cpu_of"] for slug, found in facts.items()}
    assert told == {"wire-lab2": "processes" if lost else "machines", "wire_in-lab2": "machines"}
    rows = facts["wire-lab2"]["decisions"]["rows"]
    assert all(row["cheapest"]["subject"] == "zero_copy" for row in rows) == bool(lost)
    row = facts["wire_in-lab2"]["decisions"]["rows"][0]
    assert row["cheapest"]["subject"] != "zero_copy"
    best = cells[(cells["testbed"] == "wire_in-lab2") & (cells["msg_bytes"] == row["msg_bytes"])]
    machines = with_machines(best)[MACHINES].groupby([best["implementation"], best["n_threads"]])
    assert row["price"]["low"] == pytest.approx(1.25 * machines.median().min(), rel=0.05)


def test_time_of_one_kernel_is_not_counted_twice() -> None:
    facts = facts_of(one_kernel=True)
    assert facts["conditions"]["wire-lab2"]["decisions"]["cpu_of"] == "processes"


def test_completions_say_whether_zero_copy_is_real() -> None:
    for share in (0.0, 1.0):
        found = wire(replace(RUN, copied_share=lambda size, share=share: share))["conditions"][0]
        (way,) = found["zero_copy"]
        assert (way["copied_share"], way["real"]) == (share, share == 0.0)
    unread = over_wire(make_cells(RUN), zc_completed=np.nan, zc_copied=np.nan)
    found = wire(cells=unread)["conditions"][0]
    assert (found["zero_copy"], found["untold"]) == ([], ["zero_copy"])
