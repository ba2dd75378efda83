"""Reads the folder of a run's results, as far as runs are compared by it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from copycost.errors import DataError
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
THROUGHPUT = "throughput_bits_per_s"
COSTS = ("both_cpu_ns_per_byte", "sender_cpu_ns_per_byte")
ROUND_TRIP = "p50_ns"
_COMMON = {*KEY, "condition", *_WHEN, *SETTINGS, *BUILDS}
_TABLES = {
    "cells": (CELLS, _COMMON | {THROUGHPUT, *COSTS}),
    "round_trips": (ROUND_TRIPS, _COMMON | {ROUND_TRIP}),
}


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
    _require_version(path, folder)
    tables = [
        read_columns(file, definition, names)
        for name, (definition, names) in _TABLES.items()
        if (file := path / "tables" / f"{name}.csv").is_file()
    ]
    rows = pd.concat([table[table["status"] == "measured"] for table in tables], ignore_index=True)
    if rows.empty:
        raise DataError(f"{folder}: no repetition was measured; its report says why")
    host, config = _mapping(path / "host.json"), _mapping(path / "config.yaml")
    guest = _mapping(path / "guest.json") if (path / "guest.json").is_file() else {}
    return Results(folder, host, config, guest, rows)


def _require_version(path: Path, folder: Path) -> None:
    """Refuse results whose records have another schema; what has tables alone has none to ask."""
    for record in islice((path / "raw").rglob("*.json"), 1):
        version = several(_mapping(record))[0].get("schema_version")
        if version != SCHEMA_VERSION:
            raise DataError(
                f"{folder}: its records have schema version {version}, and this copycost reads "
                f"{SCHEMA_VERSION}; compare with the release that measured it, or measure again"
            )


def _mapping(path: Path) -> dict[str, Any]:
    """Return what a file holds; JSON is YAML too, but is read faster."""
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
        if not isinstance(content, dict):
            raise ValueError("it holds something else")
        return content
    except (OSError, ValueError, yaml.YAMLError) as error:
        said = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: cannot be read as names and values ({said}); run again there"
        ) from error
