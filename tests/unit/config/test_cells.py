from dataclasses import replace
from typing import Any

import pytest
from configured import NOTHING, configured

from copycost.config.cells import Cell, cell_priority
from copycost.config.conditions import Condition
from copycost.config.config import Config
from copycost.config.grid import Grid, reference_of, repetitions_in
from copycost.config.testbeds import away_on, path_of, peer_of
from copycost.errors import DataError

CELL = Cell("streams", "veth", "one_copy", 65536, 4, "hot", "recv", "apart", 1)
PATH = (
    "results/raw/streams/testbed=veth/implementation=one_copy/msg_bytes=65536/n_threads=4"
    "/working_set=hot/receiver=recv/placement=apart/rep=1.json"
)

STREAMS = {"implementations": ["two_copy", "one_copy"], "msg_bytes": [1024, 65536]}
CHOSEN = {"msg_bytes": [64], "n_threads": [1], **NOTHING}
NO_PLACEMENT = {"streams": CHOSEN, "round_trips": CHOSEN}


def config(
    streams: dict[str, Any] = NOTHING,
    round_trips: dict[str, Any] = NOTHING,
    placement: dict[str, Any] = NO_PLACEMENT,
) -> Config:
    """Return the default configuration with these values of the grids, which are else empty."""
    return configured(
        streams={**STREAMS, "n_threads": [1, 4], **streams},
        udp={"msg_bytes": [65507], **NOTHING},
        round_trips={"msg_bytes": [64], **round_trips},
        placement=placement,
        measure={"repetitions": 3},
    )


def streams(**values: object) -> Grid:
    return Grid.of(config(STREAMS | values))


def test_a_cell_and_its_path_say_the_same() -> None:
    assert CELL.path == PATH
    assert Cell.from_path(PATH) == Cell.from_path(f"/somewhere/else/{PATH}") == CELL


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        (PATH, "notes.json"),
        ("rep=1", "rep=0"),
        (".json", ".js"),
        (".json", ".json.new"),
        ("working_set=hot", "working_set=warm"),
        ("/receiver=recv", ""),
        ("placement=apart", "placement=alone"),
        ("streams", "memory"),
        ("streams", "datagrams"),
    ],
)
def test_what_is_no_record_is_refused(part: str, wrong: str) -> None:
    with pytest.raises(DataError, match="not the path of a record"):
        Cell.from_path(PATH.replace(part, wrong))


def test_a_job_measures_all_repetitions_that_have_the_reference_with_them() -> None:
    asked = config(STREAMS | {"testbeds": ["veth", "vm_pair"]})
    grid = Grid.of(asked)
    counts = {
        (cell.testbed, cell.implementation): repetitions_in(asked, cell, grid.rounds)
        for cell in grid.cells
    }
    assert counts == {
        ("veth", "two_copy"): 2,  # the control
        ("veth", "one_copy"): 3,
        ("vm_pair", "two_copy"): 1,
        ("vm_pair", "one_copy"): 1,
    }
    assert {cell.rep for cell in grid.cells if cell.testbed == "veth"} == {1}
    assert {cell.rep for cell in grid.cells if cell.testbed == "vm_pair"} == {1, 2, 3}
    assert grid.n_repetitions(asked) == 4 * 2 + 4 * 3 + 8 * 3


def test_cells_of_the_grids_are_measured_in_several_placements() -> None:
    more = {"working_sets": ["hot", "cold"], "testbeds": ["veth", "loopback"]}
    trips = {"implementations": ["one_copy", "two_copy"], "n_threads": [1]}
    plain, grid = (
        Grid.of(config(more, round_trips=trips, placement=placement))
        for placement in (NO_PLACEMENT, {})
    )
    added = sorted(set(grid.cells) - set(plain.cells))
    assert len(grid.cells) == len(plain.cells) + len(added)
    assert {cell.condition for cell in added} == {"veth_same", "veth_free"}
    assert {(cell.study, cell.implementation, cell.msg_bytes, cell.rep) for cell in added} == {
        ("streams", "two_copy", 65536, 1),
        ("streams", "one_copy", 65536, 1),
        ("round_trips", "two_copy", 64, 1),
    }
    assert grid.conditions == plain.conditions


def test_a_condition_and_its_name_say_the_same_and_what_is_none_is_refused() -> None:
    named = "veth sink_cold veth_16777216_mmap veth_cold_mmap_same wire-lab-2_cold_trunc"
    for slug in named.split():
        assert Condition.from_slug(slug).slug == slug
    for slug in ("veth_hot", "sink_recv", "cold", "veth_mmap_cold", "veth_0", "veth_apart"):
        with pytest.raises(DataError, match=f"{slug}: not a condition, which is a testbed"):
            Condition.from_slug(slug)


def test_another_machine_is_another_testbed() -> None:
    cell = replace(CELL, testbed="wire-lab2")
    assert "/testbed=wire-lab2/" in cell.path
    assert Cell.from_path(cell.path) == cell
    assert peer_of("wire-lab2") == "lab2"
    assert (peer_of("wire"), peer_of("veth"), peer_of("measured-elsewhere")) == (None, None, None)
    assert away_on("wire_in-lab2") == ("sender",)
    assert "to lab2, to which" in str(path_of("wire-lab2"))
    assert path_of("measured-elsewhere") is None


def in_order(grid: Grid) -> list[Cell]:
    return sorted(grid.cells, key=lambda cell: -cell_priority(cell, order_seed=1))


def test_rounds_are_shuffled_each_in_its_own_way_which_more_cells_leave_as_it_is() -> None:
    small = streams(testbeds=["vm_pair"])
    cells = in_order(streams(testbeds=["vm_pair"], msg_bytes=[256, 1024, 65536]))
    size = len(cells) // 3
    first, second = cells[:size], [replace(cell, rep=1) for cell in cells[size : 2 * size]]
    assert sorted(first) == sorted(second)
    assert first != sorted(first)
    assert first != second
    assert [cell for cell in cells if cell in small.cells] == in_order(small)


@pytest.mark.parametrize(
    ("study", "testbed", "ways", "interval_us", "reference"),
    [
        ("round_trips", "veth", ("one_copy", "two_copy"), 0, "two_copy"),
        ("round_trips", "loopback", ("zero_copy", "one_copy"), 0, "zero_copy"),
        ("round_trips", "vm_loopback", ("one_copy", "two_copy"), 0, None),
        ("round_trips", "wire-lab2", ("one_copy", "two_copy"), 0, None),
        ("round_trips", "veth", ("one_copy", "two_copy"), 100, None),
        ("profile", "veth", ("iperf3", "one_copy"), 100, "one_copy"),
        ("profile", "veth", ("iperf3",), 0, None),
        ("profile", "vm_loopback", ("two_copy",), 0, None),
        ("datagrams", "veth_udp", ("two_copy",), 0, None),
    ],
)
def test_cells_take_turns_unless_another_machine_or_the_clock_sets_the_pace(
    study: str, testbed: str, ways: tuple[str, ...], interval_us: int, reference: str | None
) -> None:
    asked = config()
    asked = replace(
        asked,
        measure=replace(asked.measure, interval_us=interval_us),
        round_trips=replace(asked.round_trips, implementations=ways),
        profile=replace(asked.profile, implementations=ways),
    )
    cell = Cell(study, testbed, "one_copy", 64, 1)
    assert reference_of(asked, cell) == reference
    assert reference_of(asked, replace(cell, implementation="iperf3")) is None
