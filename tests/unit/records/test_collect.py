"""From files of records to the table."""

import json
from pathlib import Path
from typing import Any

from sample_records import sample_record

from copycost.config.cells import Cell
from copycost.records.collect import collect_tables, foreign_files
from copycost.records.table import read_table

SECOND_NS = 1_000_000_000


def save(folder: Path, record: dict[str, Any]) -> Path:
    path = folder / Cell(record["study"], **record["cell"]).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_records_of_the_grid_are_rows_in_both_files_and_foreign_files_are_warned_of(
    tmp_path: Path,
) -> None:
    paths = [
        save(tmp_path, sample_record(name, rep=rep, start_ns=(10 * rep + i) * 2 * SECOND_NS))
        for i, name in enumerate(("one_copy", "two_copy", "zero_copy"))
        for rep in (1, 2)
    ]
    save(tmp_path, sample_record("one_copy", rep=1, status="failed", start_ns=500 * SECOND_NS))
    save(tmp_path, sample_record(msg_bytes=512))  # a size that the grid no longer has
    raw = tmp_path / "results/raw"
    (raw / "notes.txt").write_text("mine")
    (paths[0].parent / ".rep=1.json.partial").write_text("{")
    names = [Path(sentence.partition(": ")[0]).name for sentence in foreign_files(raw)]
    assert names == ["notes.txt", ".rep=1.json.partial"]
    collect_tables(paths, tmp_path / "cells.csv", tmp_path / "cells.parquet")
    for name in ("cells.csv", "cells.parquet"):
        table = read_table(tmp_path / name)
        assert table["rep"].tolist() == [1, 2] * 3
        assert table["status"].tolist().count("failed") == 1
