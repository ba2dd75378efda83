"""Time and memory of steps of the workflow over many records, each in a process of its own."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from copycost.compare.hosts.host_results import read_sets
from copycost.compare.hosts.import_archive import read_parcel
from copycost.config.cells import Cell
from copycost.config.checkout import ROOT
from copycost.errors import HostError
from copycost.records.record import Record
from copycost.records.table import read_table
from tools.bench.rows import Limit, Row
from tools.simulate_fleet import make_fleet, varied_rounds

_N_RECORDS, _REPETITIONS = 10_000, 10
_N_HOSTS, _N_RECORDS_OF_HOST = 200, 400
# a published run, of which the project keeps a copy
_DATASET = "data/published/i5-10500.csv"
_N_LINES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Timed:
    """A command that has ended.

    It began at a time (CLOCK_MONOTONIC); the CPU time is that of all its processes, far less than
    the wall time where the host was busy; the memory is that of the largest process.

    Source: getrusage(2), as wait4(2) gives it for one child and whatever that has waited for.
    """

    begin_s: float
    wall_s: float
    cpu_s: float
    peak_bytes: int

    def rows(self, name: str, most_s: float | None, most_mb: float | None = None) -> Iterator[Row]:
        """Yield the time and, where it has a limit, the memory, each with its limit."""
        limit = None if most_s is None else Limit("at_most", most_s)
        cpu = f"{self.cpu_s:.1f} s of CPU time"
        yield Row("workflow", name, self.wall_s, "s", limit=limit, note=cpu)
        if most_mb is not None:
            megabytes, limit = self.peak_bytes / 1e6, Limit("at_most", most_mb)
            what = "of the largest process"
            yield Row("workflow", f"{name}, memory", megabytes, "MB", limit=limit, note=what)


def timed(folder: Path, command: Sequence[str]) -> Timed:
    """Run a command in a folder, with this package on its path.

    Raises HostError if it fails; the message holds the end of its output.
    """
    path = os.pathsep.join([str(ROOT / "workflow"), str(ROOT)])
    with tempfile.TemporaryFile("w+") as output:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONPATH": path},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            said = "".join(output.readlines()[-_N_LINES_SHOWN:])
            raise HostError(f"bench: {' '.join(command)} ended with {process.returncode}:\n{said}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Timed(start, wall_s, cpu_s, usage.ru_maxrss * 1024)  # Linux counts in KiB


def _timed_step(step: str, folder: Path) -> Timed:
    return timed(folder, [sys.executable, "-m", "tools.bench.steps", step, str(folder)])


def table_rows(folder: Path, records: Sequence[Record], n: int = _N_RECORDS) -> Iterator[Row]:
    """Yield time and memory of the tables of many records, copies of a measured one."""
    like = [_measured_one(records)] * _REPETITIONS
    cells = islice(_cells(), n // _REPETITIONS)
    for cell, record in varied_rounds(dict.fromkeys(cells, like), random.Random(1)):
        path = folder / cell.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1), encoding="utf-8")
    yield from _timed_step("tables", folder).rows(f"tables from {n} records", 15, 500)


def _cells() -> Iterator[Cell]:
    """Yield the cells of a grid: sizes in steps of 64 B, three ways, 1 to 8 threads."""
    ways = ("one_copy", "two_copy", "zero_copy")
    for size, way, n_threads in product(range(64, 1 << 20, 64), ways, (1, 2, 4, 8)):
        yield Cell("streams", "veth", way, size, n_threads)


def _measured_one(records: Sequence[Record]) -> Record:
    """Return the first record of a stream that was measured, on both sides."""
    for record in records:
        if record["study"] == "streams" and (record["driver"] or {}).get("receiver"):
            return record
    why = next((record["reason"] for record in records if record["reason"]), "there are none")
    raise HostError(f"bench: no stream was measured, so none can be copied ({why})")


def analysis_rows(project: Path, folder: Path) -> Iterator[Row]:
    """Yield time and memory of everything between the cells table and the report's text.

    Host and configuration are those of a project with results; `folder` holds ``cells.parquet``.
    """
    cells = read_table(folder / "cells.parquet")
    saved = yaml.safe_load((project / "results/config.yaml").read_text(encoding="utf-8"))
    (folder / "config.yaml").write_text(yaml.safe_dump(_config_of(cells, saved)), encoding="utf-8")
    shutil.copy(project / "results/host.json", folder)
    name = f"analysis, facts and text from {len(cells)} records"
    yield from _timed_step("analysis", folder).rows(name, 30, 1000)


def _config_of(cells: pd.DataFrame, config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration whose grid is that of the cells, all else as in `config`."""
    names = ("implementation", "testbed", "working_set", "receiver", "placement")
    columns = {f"{name}s": name for name in names} | {"msg_bytes": "msg_bytes"}
    columns |= {"n_threads": "n_threads"}
    grid = {name: sorted(cells[column].unique().tolist()) for name, column in columns.items()}
    nothing: dict[str, list[str]] = {"implementations": []}
    return config | {
        "streams": config["streams"] | grid,
        "udp": config["udp"] | nothing,
        "round_trips": config["round_trips"] | nothing,
        "measure": config["measure"] | {"repetitions": int(cells["rep"].max())},
    }


def audit_rows(project: Path, output: Path) -> Iterator[Row]:
    """Yield the time of auditing a published run and its claims, from CSV to HTML."""
    n_rows = len((project / _DATASET).read_text(encoding="utf-8").splitlines()) - 1
    command = [sys.executable, "-m", "copycost", "audit", _DATASET]
    run = timed(project, [*command, "--formats", "html", "--output", str(output)])
    yield from run.rows(f"audit of {n_rows} rows to HTML", 5)


def fleet_rows(project: Path) -> Iterator[Row]:
    """Yield time and memory of the audited tables and the report of a fleet, made of a run."""
    with tempfile.TemporaryDirectory(prefix="copycost-fleet-") as name:
        fleet = Path(name)
        for _ in make_fleet(read_parcel(project), fleet, _N_HOSTS, _N_RECORDS_OF_HOST):
            pass
        sets, _ = read_sets(fleet)
        n_records = sum(len(one.records) for one in sets)
        what = f"of {n_records} records of {len(sets)} simulated hosts"
        yield from _timed_step("fleet_tables", fleet).rows(f"tables {what}", 60, 2000)
        yield from _timed_step("fleet_report", fleet).rows(f"report {what}", None, 2000)
