"""Folders of results with a known truth, to be compared with each other."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from synthetic import Run, Udp, make_cells, make_config, make_host
from synthetic.round_trips import RoundTrips, make_round_trips

from copycost.records.column import KEY
from copycost.records.columns import CELLS
from copycost.studies.round_trips.table import ROUND_TRIPS

GRID: dict[str, Any] = {
    "implementations": ["two_copy", "zero_copy"],
    "msg_bytes": [4096, 65536],
    "n_threads": [1, 4],
    "repetitions": 5,
    "noise": 0.01,
}
STEP_NS = 10**9


@dataclass(frozen=True)
class Made:
    """A run: what it measured, when, and by what."""

    seed: int = 1
    start_s: int = 1000
    boot: str = "0" * 32
    changes: dict[str, Any] = field(default_factory=dict)
    udp: Udp | None = field(default_factory=lambda: Udp(msg_bytes=[65507], working_sets=["hot"]))
    trips: RoundTrips | None = field(default_factory=lambda: RoundTrips(repetitions=5))
    factor: Callable[[pd.DataFrame], Any] = lambda rows: 1.0
    round_trip_factor: float = 1.0
    host: dict[str, Any] = field(default_factory=dict)
    measure: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)


def write_results(folder: Path, made: Made = Made()) -> Path:
    """Write what the comparison reads of a run; return the folder."""
    run = Run(**{"seed": made.seed, "udp": made.udp, **GRID, **made.changes})
    (folder / "tables").mkdir(parents=True)
    cells = make_cells(run)
    cells["throughput_bits_per_s"] *= made.factor(cells)
    _write(cells, folder / "tables" / "cells.csv", CELLS.names, made)
    if made.trips is not None:
        trips = make_round_trips(made.trips)
        trips["p50_ns"] *= made.round_trip_factor
        _write(trips, folder / "tables" / "round_trips.csv", ROUND_TRIPS.names, made)
    host = make_host(run)
    host["identity"] |= made.host
    config = make_config(run)
    config["measure"] |= made.measure
    (folder / "host.json").write_text(json.dumps(host), encoding="utf-8")
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


def _write(table: pd.DataFrame, path: Path, names: tuple[str, ...], made: Made) -> None:
    """Write a table with all columns, its rounds one after the other from a start on."""
    build = "source 0123456789abcdef, gcc 12.2.0, flags -O2"
    usual: dict[str, Any] = {
        "status": "measured", "commit": "c" * 40, "congestion_control": "cubic",
        "sender_cpus": "0,1", "receiver_cpus": "1,0", "isolation": "root",
        "cpu_source": "task_clock", "fresh": False,
    }  # fmt: skip
    table = table.assign(**{name: usual[name] for name in usual if name not in table})
    table = table.reindex(columns=list(names))
    rounds = table["rep"].to_numpy()
    number = table.groupby("rep").cumcount().to_numpy()
    length = int(number.max()) + 1
    start = made.start_s * STEP_NS + ((rounds - 1) * length + number) * 2 * STEP_NS
    values: dict[str, Any] = {
        "start_ns": start, "end_ns": start + STEP_NS, "boot_id": made.boot, "lock_wait_s": 0.0,
        "wall_s": 1.0, "host_digest": "d" * 64, "sender_build": build, "receiver_build": build,
        "started_at": [pd.Timestamp(int(at), unit="ns", tz="UTC").isoformat() for at in start],
    }  # fmt: skip
    table = table.assign(**values | made.columns)
    table.sort_values(list(KEY)).to_csv(path, index=False)


def slower_by(share: float) -> Callable[[pd.DataFrame], Any]:
    """Return a factor for all rows."""
    return lambda rows: 1.0 - share
