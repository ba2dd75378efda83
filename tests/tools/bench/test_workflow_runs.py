import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from sample_records import sample_record

from copycost.errors import HostError
from copycost.records.record import Record
from tools.bench.analysis_run import config_of
from tools.bench.table_run import table_rows
from tools.bench.timing import Timed, timed
from tools.bench.workflow_runs import (
    overhead_row,
    part_rows,
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


def test_the_parts_of_the_overhead_add_up_to_it() -> None:
    times = {"wall_s": 0.5, "status": "measured"}
    records = [
        record(start_ns=9_000_000_000, end_ns=9_500_000_000, lock_wait_s=1.0, **times),
        record(start_ns=7_000_000_000, end_ns=7_500_000_000, lock_wait_s=0.5, **times),
    ]
    run = Timed(begin_s=4.0, wall_s=12.0, cpu_s=3.0, peak_bytes=0)
    before, within, between, after = part_rows(run, records)
    assert [row.value for row in (before, between, after)] == pytest.approx([2.5, 0.5, 6.5])
    assert within.value == pytest.approx(0.5 - 0.12)
    assert within.n == 2
    whole_s = (overhead_row(run, records).value or 0.0) * 2
    assert whole_s == pytest.approx(2.5 + 2 * (0.5 - 0.12) + 0.5 + 6.5)


def test_copy_of_the_project_has_its_code_and_no_results() -> None:
    with project_copy() as project:
        assert (project / "Snakefile").exists()
        assert (project / "workflow/copycost/stats/ratios.py").exists()
        assert not (project / ".venv").exists()
        assert not (project / "results").exists()
        path = write_config(project, "x", {"measure": {"repetitions": 2}})
        assert yaml.safe_load((project / path).read_text()) == {"measure": {"repetitions": 2}}
    assert not project.exists()


def test_failing_command_shows_the_end_of_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="ended with 3:\nno luck"):
        timed(tmp_path, [sys.executable, "-c", "print('no luck'); raise SystemExit(3)"])


def test_configuration_takes_its_grid_from_the_cells() -> None:
    cells = pd.DataFrame(
        {"implementation": ["b", "a"], "testbed": "veth", "msg_bytes": [2, 1], "n_threads": 1,
         "working_set": "hot", "receiver": "recv", "placement": "apart", "rep": [1, 7]}
    )  # fmt: skip
    other = {"implementations": ["c"]}
    sections = {"streams": {"x": 1}, "udp": other, "round_trips": other}
    config = config_of(cells, sections | {"measure": {"duration_s": 1}})
    assert config["streams"]["implementations"] == ["a", "b"]
    assert config["streams"]["msg_bytes"] == [1, 2]
    assert config["streams"]["x"] == 1
    assert config["udp"]["implementations"] == config["round_trips"]["implementations"] == []
    assert config["measure"] == {"duration_s": 1, "repetitions": 7}


@pytest.mark.slow
def test_tables_of_copies_are_made_and_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.bench.table_run._N_RECORDS", 50)
    time_row, memory_row = table_rows(tmp_path, [record()])
    assert (time_row.unit, memory_row.unit) == ("s", "MB")
    assert (tmp_path / "cells.parquet").exists()
