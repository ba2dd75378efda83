"""Tables from many records, in a process of its own so that its memory can be told.

``python -m tools.bench.table_run FOLDER`` makes the tables of all records below
FOLDER/results/raw.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from copycost.errors import HostError
from copycost.records.record import Record
from copycost.records.table import collect_tables
from tools.bench.rows import Limit, Row
from tools.bench.timing import timed
from tools.synthetic import write_synthetic_records

_N_RECORDS = 10_000
_TIME_LIMIT_S = Limit("at_most", 15)
_MEMORY_LIMIT_MB = Limit("at_most", 500)


def table_rows(folder: Path, records: list[Record]) -> Iterator[Row]:
    """Yield time and memory of the tables of many records, copies of a measured one.

    Raises
    ------
    HostError
        If none was measured.
    """
    write_synthetic_records(folder, _N_RECORDS, like=measured_one(records))
    run = timed(folder, [sys.executable, "-m", "tools.bench.table_run", str(folder)])
    name = f"tables from {_N_RECORDS} records"
    note = f"{run.cpu_s:.1f} s of CPU time"
    yield Row("workflow", name, run.wall_s, "s", limit=_TIME_LIMIT_S, note=note)
    yield Row("workflow", f"{name}, memory", run.peak_bytes / 1e6, "MB", limit=_MEMORY_LIMIT_MB)


def measured_one(records: list[Record]) -> Record:
    """Return the first record of a stream that was measured, on both sides."""
    for record in records:
        if record["study"] == "streams" and (record["driver"] or {}).get("receiver"):
            return record
    reasons = [record["reason"] for record in records if record["reason"]]
    why = reasons[0] if reasons else "there are none"
    raise HostError(f"bench: no stream was measured, so none can be copied ({why})")


def main(folder: Path) -> None:
    """Make the tables of all records below a folder."""
    records = sorted(folder.glob("results/raw/**/*.json"))
    collect_tables(records, folder / "cells.csv", folder / "cells.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
