"""How the cells that passes choose are kept, and which records a configuration asks for."""

from dataclasses import replace
from pathlib import Path

import pytest
from configured import configured

from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.passes import (
    PASS_PATTERN,
    all_records,
    known_paths,
    read_pass,
    records_before,
    write_pass,
)

ADDED = [Cell("streams", "sink", name, 5888, 1) for name in ("one_copy", "two_copy")]
AGAIN = [replace(cell, rep=2) for cell in ADDED]


def config(**measure: object) -> Config:
    grid = {"implementations": ["two_copy", "one_copy"], "n_threads": [1], "msg_bytes": [4096]}
    return configured(
        streams=grid,
        udp={**grid, "working_sets": ["hot"]},
        round_trips={"implementations": ["two_copy"], "msg_bytes": [64]},
        measure={"repetitions": 3, **measure},
    )


@pytest.fixture
def passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two passes have chosen something, a third nothing, and one of a former run be left."""
    monkeypatch.chdir(tmp_path)
    Path(PASS_PATTERN).parent.mkdir(parents=True)
    for number, cells in enumerate([ADDED, AGAIN, [], ADDED], start=1):
        write_pass(cells, Path(chosen(number)))


def chosen(number: int) -> str:
    return PASS_PATTERN.format(number=number)


@pytest.mark.usefixtures("passes")
def test_a_pass_looks_at_the_grid_and_at_what_those_before_it_chose() -> None:
    grid = Grid.of(config())
    assert read_pass(Path(chosen(1))) == ADDED
    Path(chosen(5)).write_text("[" * 5000)  # what is damaged chose nothing
    assert read_pass(Path(chosen(5))) == []
    assert records_before(grid, 1, chosen) == grid.paths()
    assert records_before(grid, 2, chosen) == [*grid.paths(), *(cell.path for cell in ADDED)]
    assert len(records_before(grid, 4, chosen)) == len(grid.cells) + 4


@pytest.mark.usefixtures("passes")
def test_a_rule_has_the_records_of_all_passes_up_to_one_that_chose_nothing() -> None:
    asked = config()
    grid = Grid.of(asked)
    assert all_records(grid, asked, "streams", chosen)(None) == [
        *grid.paths("streams"),
        *(cell.path for cell in (*ADDED, *AGAIN)),
    ]
    assert sorted(all_records(grid, asked, None, chosen)(None)) == sorted(known_paths(asked))
    assert all_records(grid, asked, "round_trips", chosen)(None) == grid.paths("round_trips")
