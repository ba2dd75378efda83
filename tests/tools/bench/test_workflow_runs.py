import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from sample_records import on_sink, sample_record, with_round_trips

from copycost.config.sources import usual_tree
from copycost.errors import HostError
from copycost.records.record import Record
from tools.bench.analysis_run import config_of
from tools.bench.audit_run import audit_rows
from tools.bench.table_run import measured_one, table_rows
from tools.bench.timing import Timed, timed
from tools.bench.workflow_runs import (
    PROJECT,
    overhead_row,
    part_rows,
    project_copy,
    read_records,
    short_config,
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


@pytest.mark.parametrize("quick", [False, True])
def test_a_short_run_has_only_what_the_grid_measures(quick: bool) -> None:
    usual = usual_tree()
    short = short_config(PROJECT, quick=quick)
    studies = [name for name, section in usual.items() if "enabled" in section]
    assert "profile" in studies
    assert not any((usual[name] | short.get(name, {}))["enabled"] for name in studies)


def test_run_without_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="no record"):
        read_records(tmp_path)


def test_only_a_measured_stream_is_copied() -> None:
    skipped = record(status="skipped", reason="no namespaces")
    others = [with_round_trips(sample_record()), on_sink(sample_record())]
    assert measured_one([skipped, *others, record()]) == record()
    with pytest.raises(HostError, match="no namespaces"):
        measured_one([*others, skipped])


def test_command_is_timed_from_outside(tmp_path: Path) -> None:
    run = timed(tmp_path, [sys.executable, "-c", "bytearray(50_000_000)"])
    assert run.wall_s > 0
    assert run.cpu_s > 0
    assert run.peak_bytes > 50_000_000


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
def test_audit_of_a_published_run_is_timed(tmp_path: Path) -> None:
    (row,) = audit_rows(PROJECT, tmp_path / "audited")
    assert row.name == "audit of 48 rows to HTML"
    assert (tmp_path / "audited/report.html").exists()


@pytest.mark.slow
def test_tables_of_copies_are_made_and_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.bench.table_run._N_RECORDS", 50)
    time_row, memory_row = table_rows(tmp_path, [record()])
    assert (time_row.unit, memory_row.unit) == ("s", "MB")
    assert (tmp_path / "cells.parquet").exists()
