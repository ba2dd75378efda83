from pathlib import Path

from copycost.records.record import read_record
from copycost.records.table import collect_tables, read_table
from tools.synthetic import write_synthetic_records

CAPTURED = Path(__file__).parents[1] / "data" / "records"


def test_synthetic_records_pass_every_check(tmp_path: Path) -> None:
    like = read_record(CAPTURED / "measured_veth_zero_copy.json")
    paths = write_synthetic_records(tmp_path, 250, like)
    assert len(set(paths)) == 250
    collect_tables(paths, tmp_path / "cells.csv", tmp_path / "cells.parquet")
    assert len(read_table(tmp_path / "cells.parquet")) == 250
