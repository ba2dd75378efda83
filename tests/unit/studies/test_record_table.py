"""Which records of a study make a table."""

from dataclasses import replace
from pathlib import Path

import pytest
from skipped_records import save, skipped_record

from copycost.errors import DataError
from copycost.grid.cells import Cell
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


def test_a_record_of_another_repetition_is_named(tmp_path: Path) -> None:
    paths = [save(tmp_path, CELLS[0]), save(tmp_path, CELLS[1], skipped_record(CELLS[0]))]
    with pytest.raises(DataError, match=r"rep=2\.json: holds the record of another .*\(rep=1\)"):
        collect(paths)


def test_records_of_two_hosts_are_not_compared(tmp_path: Path) -> None:
    other = skipped_record(CELLS[1], host_digest="b" * 64)
    paths = [save(tmp_path, CELLS[0]), save(tmp_path, CELLS[1], other)]
    with pytest.raises(DataError, match=r"2 different hosts .*rep=\d\.json"):
        collect(paths)


def test_records_that_overlap_in_time_are_refused(tmp_path: Path) -> None:
    long = skipped_record(CELLS[0], length_ns=3 * 10**9)
    paths = [save(tmp_path, CELLS[0], long), save(tmp_path, CELLS[1])]
    with pytest.raises(DataError, match=r"1 measurements overlap .*rep=1\.json and .*rep=2\.json"):
        collect(paths)
