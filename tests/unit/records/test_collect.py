"""From files of records to the table."""

import json
from pathlib import Path
from typing import Any

import pytest
from sample_records import sample_record

from copycost.config.cells import Cell
from copycost.records.collect import collect_tables, foreign_files
from copycost.records.table import read_table

SECOND_NS = 1_000_000_000
CAPTURED = Path(__file__).parents[2] / "data" / "records"


def save(folder: Path, record: dict[str, Any]) -> Path:
    path = folder / Cell(record["study"], **record["cell"]).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


@pytest.fixture
def records(tmp_path: Path) -> list[Path]:
    return [
        save(tmp_path, sample_record(name, rep=rep, start_ns=(10 * rep + i) * 2 * SECOND_NS))
        for i, name in enumerate(("one_copy", "two_copy", "zero_copy"))
        for rep in (1, 2)
    ]


def collect(paths: list[Path], folder: Path) -> None:
    collect_tables(paths, folder / "cells.csv", folder / "cells.parquet")


def test_every_record_of_the_grid_is_a_row_in_both_files(
    tmp_path: Path, records: list[Path]
) -> None:
    collect(records, tmp_path)
    for name in ("cells.csv", "cells.parquet"):
        table = read_table(tmp_path / name)
        assert len(table) == 6
        assert table["rep"].tolist() == [1, 2] * 3


def test_a_failed_repetition_stays_a_row(tmp_path: Path, records: list[Path]) -> None:
    failed = sample_record("one_copy", rep=1, start_ns=500 * SECOND_NS, status="failed")
    save(tmp_path, failed)
    collect(records, tmp_path)
    table = read_table(tmp_path / "cells.csv")
    assert len(table) == 6
    assert table["status"].tolist().count("failed") == 1


def test_foreign_files_are_warned_of_and_old_records_left_out(
    tmp_path: Path, records: list[Path]
) -> None:
    raw = tmp_path / "results/raw"
    (raw / "notes.txt").write_text("mine")
    (records[0].parent / ".rep=1.json.partial").write_text("{")
    save(tmp_path, sample_record(msg_bytes=512))  # a size that the grid no longer has
    names = [Path(sentence.partition(": ")[0]).name for sentence in foreign_files(raw)]
    assert names == ["notes.txt", ".rep=1.json.partial"]
    collect(records, tmp_path)
    assert 512 not in read_table(tmp_path / "cells.csv")["msg_bytes"].tolist()
