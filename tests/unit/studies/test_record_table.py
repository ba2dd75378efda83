"""Which records of a study make a table."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from copycost.config.cpu_budget import BudgetCell
from copycost.config.driven import DrivenSettings
from copycost.drivers.iperf3.record import conclude, start_record
from copycost.errors import DataError
from copycost.studies.cpu_budget.table import collect
from copycost.studies.driven.record import write

CELL = BudgetCell(
    testbed="loopback", driver="iperf3", limiter="cgroup", n_streams=1, limit_percent=20, rep=1
)
CELLS = [CELL, replace(CELL, rep=2)]
SETTINGS = DrivenSettings(warmup_s=0.1, duration_s=0.5, sender_cpus=(0,), receiver_cpus=(1,))


def save(
    folder: Path,
    cell: BudgetCell,
    of: BudgetCell | None = None,
    length_ns: int = 10**6,
    **host: str,
) -> Path:
    """Write a skipped record of a cell, or `of` another one, to where the cell's belongs."""
    record = start_record(CELL.study, asdict(of or cell), SETTINGS.as_params(), host)
    conclude(record, "skipped", "iperf3 was not found", "install the package iperf3")
    record["start_ns"] += 10**9 * cell.rep
    record["end_ns"] = record["start_ns"] + length_ns
    path = folder / cell.path
    path.parent.mkdir(parents=True, exist_ok=True)
    write(record, path)
    return path


def test_every_record_has_a_row(tmp_path: Path) -> None:
    table = collect(save(tmp_path, cell) for cell in CELLS)
    assert table["rep"].tolist() == [1, 2]
    assert set(table["status"]) == {"skipped"}


def test_a_record_of_another_repetition_is_named(tmp_path: Path) -> None:
    paths = [save(tmp_path, CELLS[0]), save(tmp_path, CELLS[1], of=CELLS[0])]
    with pytest.raises(DataError, match=r"rep=2\.json: holds the record of another .*\(rep=1\)"):
        collect(paths)


def test_records_of_two_hosts_are_not_compared(tmp_path: Path) -> None:
    paths = [save(tmp_path, CELLS[0]), save(tmp_path, CELLS[1], kernel="another")]
    with pytest.raises(DataError, match=r"2 different hosts .*rep=\d\.json"):
        collect(paths)


def test_records_that_overlap_in_time_are_refused(tmp_path: Path) -> None:
    paths = [save(tmp_path, CELLS[0], length_ns=3 * 10**9), save(tmp_path, CELLS[1])]
    with pytest.raises(DataError, match=r"1 measurements overlap .*rep=1\.json and .*rep=2\.json"):
        collect(paths)
