"""Reads the folder of a run's results, as far as runs are compared by it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
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
_MOST_OF_A_PATH = 24
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
    inner = folder / "results"
    path = inner if (inner / "tables").is_dir() else folder
    if not (path / "tables" / "cells.csv").is_file():
        what = "no tables yet" if (path / "raw").is_dir() else "no results of copycost"
        raise DataError(
            f"{folder}: has {what} (tables/cells.csv is missing); name a folder that a run has "
            "written, such as results, or make the tables there with ./run tables"
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
    host, config = (_content(path / name, folder) for name in ("host.json", "config.yaml"))
    in_guests = (path / "guest.json").is_file()
    guest = _content(path / "guest.json", folder) if in_guests else {}
    return Results(folder, host, config, guest, rows)


def _require_version(path: Path, folder: Path) -> None:
    """Refuse results whose records have another schema; what has tables alone has none to ask."""
    record = next((path / "raw").rglob("*.json"), None)
    if record is None:
        return
    try:
        version = several(json.loads(record.read_text(encoding="utf-8")))[0].get("schema_version")
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(
            f"{record}: cannot be read as a record ({error}); run again there"
        ) from error
    if version != SCHEMA_VERSION:
        raise DataError(
            f"{folder}: its records have schema version {version}, and this copycost reads "
            f"{SCHEMA_VERSION}; compare with the release that measured it, or measure again"
        )


def _content(path: Path, folder: Path) -> dict[str, Any]:
    """Return what a file holds; JSON is YAML too, but is read faster."""
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        said = str(error).splitlines()[0]
        raise DataError(
            f"{folder}: {path.name} cannot be read ({said}); a run writes it, so name the whole "
            "folder of its results"
        ) from error
    if not isinstance(content, dict):
        raise DataError(f"{folder}: {path.name} is no mapping of names to values; run again there")
    return content


def end_of(folder: str) -> str:
    """Return as much of the end of a path as a column has room for; `facts.json` has the whole.

    No word of a table is broken, so a long path would leave the other columns too narrow.
    """
    parts = folder.split("/")
    while len(parts) > 1 and len("/".join(parts)) > _MOST_OF_A_PATH:
        parts = parts[1:]
    end = "/".join(parts)
    return end if end == folder else f".../{end}"
