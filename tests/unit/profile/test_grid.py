"""Which cells are profiled."""

from unit.profile.made import section

from copycost.grid import RAW_ROOT
from copycost.profile.estimate import changes, negated
from copycost.profile.grid import cell_keys, profile_cells


def test_the_grid_is_the_product_of_the_lists() -> None:
    grid = section(n_threads=(1, 2), repetitions=2)
    cells = profile_cells(grid)
    assert len(cells) == 2 * 2 * 2
    assert len(cell_keys(grid)) == 2 * 2
    assert all(cell.path.startswith(f"{RAW_ROOT}/profile/testbed=veth/") for cell in cells)


def test_cells_that_cannot_exist_are_left_out() -> None:
    grid = section(
        implementations=("splice", "two_copy", "iperf3", "iperf3_udp"),
        testbeds=("veth", "veth_udp", "sink"),
        working_sets=("hot", "cold"),
        repetitions=1,
    )
    found = {(c.implementation, c.testbed, c.working_set) for c in profile_cells(grid)}
    assert ("splice", "veth_udp", "hot") not in found
    assert {place for place in found if place[0].startswith("iperf3")} == {
        ("iperf3", "veth", "hot"),
        ("iperf3_udp", "veth_udp", "hot"),
    }


def test_a_target_measures_what_is_not_enabled() -> None:
    assert profile_cells(section(enabled=False)) == profile_cells(section(enabled=True))


def test_differences_need_more_than_luck_to_be_sure() -> None:
    steady, restless, once = changes([[10.0, 10.1, 9.9], [10.0, -9.0, 3.0], [5.0]], 0.95)
    assert (steady["direction"], steady["sure"]) == ("grew", True)
    assert (restless["direction"], restless["sure"]) == ("no change seen", False)
    assert (once["direction"], once["low"], once["sure"]) == ("observed once", None, False)
    assert negated(steady)["direction"] == "shrank"
    assert negated(steady)["high"] == -(steady["low"] or 0)
    assert negated(once)["mean"] == -5.0
