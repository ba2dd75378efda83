from pathlib import Path

import pytest
import yaml
from sample_records import sample_record

from copycost.records.record import Record
from tools.bench.table_run import table_rows
from tools.bench.timing import Timed
from tools.bench.workflow_runs import (
    overhead_row,
    project_copy,
    write_config,
)


def record(**changes: object) -> Record:
    return sample_record("two_copy", **changes)


def test_overhead_leaves_out_windows_and_waiting_for_others() -> None:
    records = [record(lock_wait_s=0.0, wall_s=0.5), record(lock_wait_s=1.0, wall_s=0.3)]
    row = overhead_row(Timed(begin_s=0.0, wall_s=5.24, cpu_s=3.0, peak_bytes=0), records)
    assert row.value == pytest.approx((5.24 - 2 * 0.12 - 1.0) / 2)
    assert row.n == 2


def test_copy_of_the_project_has_its_code_and_no_results() -> None:
    with project_copy() as project:
        assert (project / "Snakefile").exists()
        assert (project / "workflow/copycost/stats/ratios.py").exists()
        assert not (project / ".venv").exists()
        assert not (project / "results").exists()
        path = write_config(project, "x", {"measure": {"repetitions": 2}})
        assert yaml.safe_load((project / path).read_text()) == {"measure": {"repetitions": 2}}
    assert not project.exists()


@pytest.mark.slow
def test_tables_of_copies_are_made_and_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.bench.table_run._N_RECORDS", 50)
    time_row, memory_row = table_rows(tmp_path, [record()])
    assert (time_row.unit, memory_row.unit) == ("s", "MB")
    assert (tmp_path / "cells.parquet").exists()
