"""The tables of one host, made as those of a run are, and kept until records or code change."""

import hashlib
import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.analysis.crossovers import by_size
from copycost.analysis.json_values import Facts, plain
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.analysis.tables import compare, compared_pairs
from copycost.audit.dataset import dataset_of_cells
from copycost.audit.facts import finding_facts
from copycost.audit.mapping import FileMapping
from copycost.audit.plausibility import check_plausibility
from copycost.audit.plausibility.bounds import check_round_trips
from copycost.checkout import ROOT
from copycost.compare.hosts.host_facts import Told, told_by
from copycost.compare.hosts.host_results import HostSet
from copycost.config.testbeds import receives_on
from copycost.errors import CopycostError, DataError
from copycost.records.column import KEY
from copycost.records.cpu_attribution import EMULATED
from copycost.records.derive import Row, derive_row
from copycost.records.files import read_json, write_json
from copycost.records.table import make_table
from copycost.stats.crossover import find_crossover
from copycost.stats.settings import StatisticsSettings
from copycost.studies.round_trips.table import ROUND_TRIPS, derive_round_trips

SETTINGS = StatisticsSettings()
"""As in config.yaml, for all hosts alike."""

COST, COST_OF_SENDER = "both_cpu_ns_per_byte", "sender_cpu_ns_per_byte"
"""CPU time, which every host tells; of the sender where nobody receives."""

CROSSOVER_COLUMNS = (
    "condition", "implementation", "baseline", "metric", "n_threads", "outcome", "below_bytes",
    "above_bytes",
)  # fmt: skip
_MADE = "made.json"


@dataclass(frozen=True)
class HostTables:
    """What is made of the records of one state of a host.

    In `cells` rounds are numbered from 1 without gaps. `ratios` are as ``ratios.csv`` of a run has
    them, and the same of round trips, by their `ROUND_TRIP_TIMES`; `crossovers` have a row per
    condition, pair, metric and number of threads; `findings` are what an audit finds against the
    numbers. Repetitions of emulated guests are in no ratio and no crossover, but counted. `told`
    are the facts of the host.
    """

    cells: pd.DataFrame
    ratios: pd.DataFrame
    crossovers: pd.DataFrame
    findings: Sequence[Facts]
    n_emulated: int
    told: Told

    @cached_property
    def disturbed(self) -> float:
        """Share of measured repetitions with a warning about the machine (0 to 1)."""
        warnings_of = self.cells["warnings"][self.cells["status"] == "measured"]
        return float(warnings_of.notna().mean()) if len(warnings_of) else 0.0


def all_tables(sets: Sequence[HostSet]) -> tuple[dict[str, HostTables], dict[str, str]]:
    """Return the tables of hosts by their names, and of hosts without any, why.

    Those that are not of these records and this code are made, as many at a time as there are CPUs.
    """
    stamps = [f"{one.content} {_code()}" for one in sets]
    n_workers = len(os.sched_getaffinity(0))
    with warnings.catch_warnings(), ProcessPoolExecutor(n_workers, get_context("fork")) as pool:
        # forked: nothing here has threads that hold locks, and nothing is imported anew
        warnings.simplefilter("ignore", DeprecationWarning)
        problems = list(pool.map(_make_tables, sets, stamps))
    unmade = {one.name: why for one, why in zip(sets, problems, strict=True) if why is not None}
    return {one.name: _read_tables(one) for one in sets if one.name not in unmade}, unmade


def _make_tables(one: HostSet, stamp: str) -> str | None:
    """Make the tables of a host and audit them, beside its records; return why not, if so."""
    path = one.folder / "tables" / _MADE
    try:
        if not path.is_file() or read_json(path)["stamp"] != stamp:
            path.unlink(missing_ok=True)  # it comes last: without it the tables are made anew
            write_json(plain(_write_tables(one) | {"stamp": stamp}), path)
    except (CopycostError, OSError) as error:
        return str(error)
    return None


def _write_tables(one: HostSet) -> Facts:
    """Write the tables of a host; return what else `HostTables` has."""
    records = one.unchanged_records()
    streams = [derive_row(record) for record in records if record["study"] == "streams"]
    trips = [derive_round_trips(record) for record in records if record["study"] == "round_trips"]
    cells, trips_table = (
        make_table(_renumbered(streams)),
        make_table(_renumbered(trips), ROUND_TRIPS),
    )
    if cells.empty or not (cells["status"] == "measured").any():
        raise DataError(f"{one.folder}: no stream was measured; remove the folder")
    metrics = (THROUGHPUT, COST, COST_OF_SENDER)
    # every selection copies all columns
    about = (*KEY, "condition", "status", "accelerator", "reference")
    narrow = cells[[*about, *metrics, *(f"reference_{name}" for name in metrics)]]
    narrow = narrow[~_is_emulated(narrow)]
    ratios = [compare(narrow, SETTINGS, metrics)]
    if trips:
        compared = trips_table[~_is_emulated(trips_table)]
        ratios.append(compare(compared, SETTINGS, ROUND_TRIP_TIMES))
    tables = {
        "cells": cells, "ratios": pd.concat(ratios, ignore_index=True),
        "crossovers": crossovers_of(narrow),
    }  # fmt: skip
    folder = one.folder / "tables"
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        table.to_parquet(folder / f"{name}.parquet", index=False)
    dataset = dataset_of_cells(cells, Path(one.name), "", FileMapping())
    found = [*check_round_trips(trips_table, one.name), *check_plausibility(dataset)]
    n_conditions = cells["condition"].nunique()
    return {
        "findings": [finding_facts(each, n_conditions) for each in found],
        "n_emulated": sum(int(_is_emulated(table).sum()) for table in (cells, trips_table)),
        "told": told_by(one),
    }


def _read_tables(one: HostSet) -> HostTables:
    folder = one.folder / "tables"
    cells, ratios, crossovers = (
        pd.read_parquet(folder / f"{name}.parquet") for name in ("cells", "ratios", "crossovers")
    )
    made = read_json(folder / _MADE)
    del made["stamp"]
    return HostTables(cells, ratios, crossovers, **made)


def _is_emulated(rows: pd.DataFrame) -> pd.Series:
    """Return which repetitions are of emulated guests; only those that were measured tell.

    Their rates are an emulator's, and a host whose guests have hardware virtualisation measures the
    same conditions.
    """
    return rows["accelerator"] == EMULATED


def crossovers_of(cells: pd.DataFrame) -> pd.DataFrame:
    """Return from which size on one way beats another, by condition, pair, metric and threads."""
    measured = cells[cells["status"] == "measured"]
    rows: list[tuple[object, ...]] = []
    for (condition, testbed), part in measured.groupby(["condition", "testbed"], sort=True):
        cube = LogCube(part)
        cost = COST if receives_on(str(testbed)) else COST_OF_SENDER
        grid = cells[cells["condition"] == condition].groupby(["implementation", "n_threads"])
        sizes = {(str(name), int(str(n))): set(of) for (name, n), of in grid["msg_bytes"]}
        for implementation, baseline in compared_pairs(part["implementation"]):
            common = {
                n: sorted(of & sizes.get((baseline, n), set()))
                for (name, n), of in sorted(sizes.items())
                if name == implementation
            }
            for metric, sign in ((THROUGHPUT, 1.0), (cost, -1.0)):
                logs = sign * cube.pair(metric, implementation, baseline)
                for n_threads, grid_sizes in common.items():
                    if grid_sizes:
                        compared = by_size(logs, SETTINGS.confidence, n_threads)
                        found = find_crossover(compared, grid_sizes)
                        outcome, ends = found.outcome.value, (np.nan, np.nan)
                        if outcome in ("from", "up_to"):
                            ends = (found.changes[0].below_bytes, found.changes[0].above_bytes)
                        rows.append(
                            (condition, implementation, baseline, metric, n_threads, outcome, *ends)
                        )
    table = pd.DataFrame(rows, columns=list(CROSSOVER_COLUMNS))
    return table.astype({"below_bytes": "float64", "above_bytes": "float64"})


def _renumbered(rows: Sequence[Row]) -> list[Row]:
    """Return rows whose rounds count from 1 without gaps."""
    reps = sorted({int(str(row["rep"])) for row in rows})
    number = {rep: place for place, rep in enumerate(reps, 1)}
    return [row | {"rep": number[int(str(row["rep"]))]} for row in rows]


@cache
def _code() -> str:
    """Return with which code and words tables are made."""
    digest = hashlib.sha256((ROOT / "report" / "audit_findings.csv").read_bytes())
    for path in sorted((ROOT / "workflow" / "copycost").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
