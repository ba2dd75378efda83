"""What runs have left in folders, as far as they are compared by it: by quantity, run and cell."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from reprlib import repr as shown
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.log_ratios import logarithms
from copycost.analysis.stats.settings import FloatArray
from copycost.config.testbeds import receives_on
from copycost.config.yaml_loader import parse_yaml
from copycost.errors import ConfigError, DataError
from copycost.records.column import KEY
from copycost.records.columns import CELLS
from copycost.records.json_schema import several
from copycost.records.record import SCHEMA_VERSION
from copycost.records.table import read_columns
from copycost.studies.round_trips.table import ROUND_TRIPS

_WHEN = (
    "status", "reason", "warnings", "started_at", "boot_id", "start_ns", "end_ns", "commit",
)  # fmt: skip
SETTINGS = (
    "congestion_control", "sender_cpus", "receiver_cpus", "mss_bytes", "receive_lowat_bytes",
    "offload_tso", "offload_gso", "offload_gro", "mtu_bytes", "isolation", "cpu_source", "fresh",
    "accelerator",
)  # fmt: skip
"""Columns that say how a repetition was measured, in both tables; not buffers, which the kernel
tunes while it runs."""

BUILDS = ("sender_build", "receiver_build")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity that runs are compared by, and words for a lower and a higher one.

    Of two columns the second is that of cells where nobody receives. `asked` is what ``--fail-if``
    calls a change for the worse; `sections` of the configuration measure it.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    words: tuple[str, str]
    asked: str
    sections: str = "streams or udp"

    @property
    def more_is_better(self) -> bool:
        """Tell whether a lower one is the worse."""
        return self.asked == self.words[0]


QUANTITIES = (
    Quantity("throughput", "throughput", ("throughput_bits_per_s",), ("slower", "faster"),
             "slower"),
    Quantity("cpu_time", "CPU time per byte", ("both_cpu_ns_per_byte", "sender_cpu_ns_per_byte"),
             ("cheaper", "more expensive"), "costlier"),
    Quantity("round_trip", "median round trip", ("p50_ns",), ("shorter", "longer"), "longer",
             "round_trips"),
)  # fmt: skip
"""Throughput of streams, CPU time of both sides per byte, and the median round trip."""

_VALUES = [column for quantity in QUANTITIES for column in quantity.columns]
_COLUMNS = {*KEY, "condition", *_WHEN, *SETTINGS, *BUILDS, *_VALUES}
_TABLES = {"cells": CELLS, "round_trips": ROUND_TRIPS}

CELL = ["study", "condition", "implementation", "msg_bytes", "n_threads"]
"""Columns that name a cell."""

Cell = tuple[str, str, str, int, int]


@dataclass(frozen=True)
class Results:
    """What a run has left in a folder: host.json, config.yaml, and guest.json if it had guests.

    `repetitions` has a row per measured repetition of streams and round trips: the columns of the
    tables that runs are compared by; those of the other study are missing values.
    """

    folder: Path
    host: Mapping[str, Any]
    config: Mapping[str, Any]
    guest: Mapping[str, Any]
    repetitions: pd.DataFrame


def read_results(folder: Path) -> Results:
    """Read the results of a run: the folder `results`, or the one that it lies in."""
    path = folder / "results" if (folder / "results" / "tables").is_dir() else folder
    if not (path / "tables" / "cells.csv").is_file():
        raise DataError(
            f"{folder}: has no tables/cells.csv; name a folder that a run has written, such as "
            "results, or make the tables there with ./run tables"
        )
    for record in islice((path / "raw").rglob("*.json"), 1):  # all are of one release
        first = several(_mapping(record))[0]
        version = first.get("schema_version") if isinstance(first, dict) else None
        if version != SCHEMA_VERSION:
            raise DataError(
                f"{folder}: its records have schema version {shown(version)}, and this copycost "
                f"reads {SCHEMA_VERSION}; compare with the release that measured it, or measure "
                "again"
            )
    tables = [
        read_columns(file, definition, _COLUMNS)
        for name, definition in _TABLES.items()
        if (file := path / "tables" / f"{name}.csv").is_file()
    ]
    rows = pd.concat([table[table["status"] == "measured"] for table in tables], ignore_index=True)
    if rows.empty:
        raise DataError(f"{folder}: no repetition was measured; its report says why")
    rows = rows.assign(**{name: np.nan for name in _VALUES if name not in rows})
    host, config = _mapping(path / "host.json"), _mapping(path / "config.yaml")
    guest = _mapping(path / "guest.json") if (path / "guest.json").is_file() else {}
    return Results(folder, host, config, guest, rows)


def _mapping(path: Path) -> dict[str, Any]:
    """Return what a file holds; JSON is YAML too, but is read faster."""
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else parse_yaml(text, path.name)
        if not isinstance(content, dict):
            raise ValueError("it holds something else")
        return content
    except (OSError, ValueError, RecursionError, ConfigError) as error:
        said = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: cannot be read as names and values ({said}); run again there"
        ) from error


def section_of(facts: object, name: str) -> Mapping[str, Any]:
    """Return a section of the facts of a host or a guest; empty where they have none."""
    found = facts.get(name) if isinstance(facts, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def rows_of(runs: Sequence[Results]) -> pd.DataFrame:
    """Return the repetitions of all runs of a side."""
    return pd.concat([run.repetitions for run in runs])


def cells_of(rows: pd.DataFrame) -> set[Cell]:
    """Return the cells that repetitions are of."""
    return set(rows[CELL].itertuples(index=False, name=None))


def shared_cells(a: pd.DataFrame, b: pd.DataFrame) -> set[Cell]:
    """Return the cells of which the repetitions of both sides have the very same.

    A run that goes on from another one's records measures only what changed; to compare the rest
    of it would be to compare records with themselves.
    """
    when = [*CELL, "boot_id", "start_ns"]
    return cells_of(a[when].merge(b[when], on=when))


@dataclass(frozen=True)
class Sides:
    """One quantity of all runs of both sides, in the `cells` that every run has.

    A run is an array of natural logarithms of shape (n_rounds, n_cells), NaN where a round lacks a
    cell.
    """

    cells: Sequence[Cell]
    a: tuple[FloatArray, ...]
    b: tuple[FloatArray, ...]


def sides_of(
    a: Sequence[Results], b: Sequence[Results], quantity: Quantity, left_out: Collection[Cell] = ()
) -> Sides:
    """Return both sides in the cells that all their runs have, but for those that are left out."""
    sides = [[_measured(run, quantity) for run in runs] for runs in (a, b)]
    common = set.intersection(*(cells_of(rows) for side in sides for rows in side))
    cells = sorted(common.difference(left_out))
    if not cells:
        return Sides((), (), ())
    one, other = (tuple(_logs_of(rows, cells) for rows in side) for side in sides)
    return Sides(cells, one, other)


def _measured(results: Results, quantity: Quantity) -> pd.DataFrame:
    """Return the repetitions that tell a quantity, with its logarithm in the column `log`."""
    rows = results.repetitions
    values, *of_sender = (rows[name] for name in quantity.columns)
    if of_sender:
        values = values.where(rows["testbed"].map(receives_on), *of_sender)
    rows = rows.assign(log=logarithms(values.to_numpy(dtype=np.float64, na_value=np.nan)))
    return rows[rows["log"].notna()]


def _logs_of(rows: pd.DataFrame, cells: Sequence[Cell]) -> FloatArray:
    by_rep = rows.pivot(index="rep", columns=CELL, values="log")
    by_rep = by_rep.reindex(columns=pd.MultiIndex.from_tuples(cells, names=CELL))
    return by_rep.dropna(how="all").to_numpy(np.float64)


def round_means(run: FloatArray, columns: Sequence[int]) -> FloatArray:
    """Return the mean over some cells of a run in each round; shape (n,) without NaN.

    The cells of a round share what the machine did meanwhile, so that not they but their rounds are
    independent. A round that some of the cells lack is that of the others, each around its own
    mean; one that most lack is left out.
    """
    logs = run[:, columns]
    means = np.nanmean(logs, axis=0)
    most = 2 * np.isfinite(logs).sum(axis=1) > len(columns)
    residuals = np.nanmean((logs - means)[most], axis=1)
    found: FloatArray = means.mean() + residuals - residuals.mean()
    return found


def run_mean(run: FloatArray, columns: Sequence[int]) -> float:
    """Return the mean over some cells of a run, each of which counts alike."""
    return float(np.nanmean(run[:, columns], axis=0).mean())
