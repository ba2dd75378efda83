"""Which records of a study make a table."""

from dataclasses import replace
from pathlib import Path

import pytest
from skipped_records import save, skipped_record

from copycost.config.cells import Cell
from copycost.records.record import Record
from copycost.studies.cpu_budget.table import collect

CELL = Cell(
    "cpu_budget", "loopback", "iperf3", 131072, 2, rep=1, limiter="cgroup", limit_percent=20
)
CELLS = [CELL, replace(CELL, rep=2)]


def test_every_record_has_a_row(tmp_path: Path) -> None:
    table = collect(save(tmp_path, cell) for cell in CELLS)
    assert table["rep"].tolist() == [1, 2]
    assert set(table["status"]) == {"skipped"}
    assert set(table["offered_percent"]) == {40.0}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (skipped_record(CELLS[0]), "it is of another repetition (rep=1)"),
        (skipped_record(CELLS[1], host_digest="b" * 64), "it is of another host"),
    ],
)
def test_a_record_that_is_not_of_the_table_costs_itself_alone(
    tmp_path: Path, other: Record, why: str
) -> None:
    paths = [save(tmp_path, CELLS[0]), save(tmp_path, CELLS[1], other)]
    table = collect(paths)
    assert table["status"].tolist() == ["skipped", "failed"]
    assert why in table["reason"][1]
