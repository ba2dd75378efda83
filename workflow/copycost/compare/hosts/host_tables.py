"""The tables of one host, made as those of a run are, and what tells it from others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import ROUND_TRIP_TIMES, THROUGHPUT
from copycost.analysis.stats.crossover import find_crossover
from copycost.analysis.stats.ratios import Direction, Ratio
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import compare
from copycost.compare.audit.dataset import dataset_of_cells
from copycost.compare.audit.facts import finding_facts
from copycost.compare.audit.mapping import FileMapping
from copycost.compare.audit.plausibility import check_plausibility
from copycost.compare.audit.plausibility.rows import check_round_trips
from copycost.compare.hosts.host_results import HostSet
from copycost.config.conditions import Condition
from copycost.records.column import KEY
from copycost.records.cpu_attribution import EMULATED
from copycost.records.derive import Row, derive_row
from copycost.records.table import make_table
from copycost.studies.round_trips.table import ROUND_TRIPS, derive_round_trips

SETTINGS = StatisticsSettings()
"""As in config.yaml, for all hosts alike."""

PAIR = ["condition", "implementation", "baseline"]
ENDS = ["below_bytes", "above_bytes"]
CROSSOVER_COLUMNS = (*PAIR, "metric", "n_threads", "outcome", *ENDS)

_COST, _COST_OF_SENDER = "both_cpu_ns_per_byte", "sender_cpu_ns_per_byte"
"""CPU time, which every host tells; of the sender where nobody receives."""

_OF_STREAMS = (THROUGHPUT, _COST, _COST_OF_SENDER)
METRICS = (*_OF_STREAMS, *ROUND_TRIP_TIMES)
"""What hosts are compared by, in the order of the report."""

Told = dict[str, str | float | None]

_TOLD = {
    "kernel": "kernel.release", "processor": "cpu.model", "vendor": "cpu.vendor",
    "virtualisation": "cpu.virtualisation", "preemption": "kernel.preempt",
    "governor": "cpu.governor", "CPUs": "cpu.cpus_online", "L1d cache": "cpu.caches.l1d_bytes",
    "L2 cache": "cpu.caches.l2_bytes", "last-level cache": "cpu.caches.llc_bytes",
    "memory": "memory.total_bytes", "timer frequency": "kernel.hz",
}  # fmt: skip
"""What tables say of a host, each by where its facts have it; sizes in bytes, a frequency in Hz."""

_LONGEST = 60

_BETTER = {
    "faster": Direction.ABOVE, "cheaper": Direction.ABOVE,
    "slower": Direction.BELOW, "more expensive": Direction.BELOW,
}  # fmt: skip


@dataclass(frozen=True)
class HostTables:
    """What is made of the records of `one` state of a host.

    In `cells` rounds are numbered from 1 without gaps. `ratios` are as ``ratios.csv`` of a run has
    them, of throughput, of the CPU time that a condition has, and of round trips by their
    `ROUND_TRIP_TIMES`; `crossovers` have a row per condition, pair, metric and number of threads;
    `findings` are what an audit finds against the numbers. Repetitions of emulated guests are in no
    ratio and no crossover, but counted. `told` are the facts of the host.
    """

    one: HostSet
    cells: pd.DataFrame
    ratios: pd.DataFrame
    crossovers: pd.DataFrame
    findings: Sequence[Facts]
    n_emulated: int
    told: Told

    @cached_property
    def measured(self) -> pd.DataFrame:
        """Return the cells of repetitions that were measured; at least one."""
        return self.cells[self.cells["status"] == "measured"]


def tables_of(one: HostSet) -> HostTables:
    """Make the tables of a host from its records, and audit them."""
    records = one.read_records()
    streams = [derive_row(record) for record in records if record["study"] == "streams"]
    trips = [derive_round_trips(record) for record in records if record["study"] == "round_trips"]
    cells = make_table(_renumbered(streams))
    round_trips = make_table(_renumbered(trips), ROUND_TRIPS)
    # every selection copies all columns
    about = (*KEY, "condition", "status", "accelerator", "reference")
    narrow = cells[[*about, *_OF_STREAMS, *(f"reference_{name}" for name in _OF_STREAMS)]]
    narrow = narrow[~_is_emulated(narrow)]
    ratios = compare(narrow, SETTINGS, _OF_STREAMS)
    alone = ratios["condition"].map(lambda slug: Condition.from_slug(slug).sender_only)
    ratios = ratios[ratios["metric"] != np.where(alone, _COST, _COST_OF_SENDER)]
    crossovers = crossovers_of(ratios, narrow)
    if trips:
        of_trips = compare(round_trips[~_is_emulated(round_trips)], SETTINGS, ROUND_TRIP_TIMES)
        ratios = pd.concat([ratios, of_trips], ignore_index=True)
    dataset = dataset_of_cells(cells, Path(one.name), "", FileMapping())
    found = [*check_round_trips(round_trips, one.name), *check_plausibility(dataset)]
    n_conditions = cells["condition"].nunique()
    return HostTables(
        one=one,
        cells=cells,
        ratios=ratios,
        crossovers=crossovers,
        findings=[finding_facts(each, n_conditions) for each in found],
        n_emulated=sum(int(_is_emulated(table).sum()) for table in (cells, round_trips)),
        told=told_of(one.facts()),
    )


def told_of(host: Mapping[str, Any]) -> Told:
    """Return the facts of a host by name: texts, numbers, None for what it does not tell."""
    told: Told = {}
    for name, path in _TOLD.items():
        value: Any = host
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str):
            told[name] = " ".join(value.split())[:_LONGEST] or None
        else:
            told[name] = value if type(value) in (int, float) and 0 < value < 1e18 else None
    return told | {"virtualisation": told["virtualisation"] or "none"}


def _is_emulated(rows: pd.DataFrame) -> pd.Series:
    """Return which repetitions are of emulated guests; only those that were measured tell.

    Their rates are an emulator's, and a host whose guests have hardware virtualisation measures the
    same conditions.
    """
    return rows["accelerator"] == EMULATED


def crossovers_of(ratios: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return from which size on one way beats another: `CROSSOVER_COLUMNS`.

    The grid is what both of a pair were to measure, as the cells tell.
    """
    sizes = cells.groupby(["condition", "implementation", "n_threads"])["msg_bytes"].agg(set)
    rows: list[tuple[object, ...]] = []
    for (*pair, metric), of_pair in ratios.groupby([*PAIR, "metric"]):
        condition, *ways = pair
        if not (of_pair["n_pairs"] > 0).any():
            continue
        for n_threads, compared in of_pair.groupby("n_threads"):
            grid = set.intersection(
                *(sizes.get((condition, way, n_threads), set()) for way in ways)
            )
            if grid:
                found = find_crossover(_gains(compared), sorted(grid))
                outcome, ends = found.outcome.value, (np.nan, np.nan)
                if outcome in ("from", "up_to"):
                    ends = (found.changes[0].below_bytes, found.changes[0].above_bytes)
                rows.append((*pair, metric, n_threads, outcome, *ends))
    table = pd.DataFrame(rows, columns=list(CROSSOVER_COLUMNS))
    return table.astype(dict.fromkeys(ENDS, float))


def _gains(ratios: pd.DataFrame) -> dict[int, Ratio]:
    """Return by size how much better a way is: above 1 where it is faster or cheaper."""
    gains = {}
    for row in ratios.to_dict("records"):
        gain = row["ratio"] if row["metric"] == THROUGHPUT else 1.0 / row["ratio"]
        direction = _BETTER.get(row["verdict"]) or Direction(row["verdict"])
        gains[row["msg_bytes"]] = Ratio(row["n_pairs"], gain, np.nan, np.nan, np.nan, direction)
    return gains


def _renumbered(rows: Sequence[Row]) -> list[Row]:
    """Return rows whose rounds count from 1 without gaps."""
    reps = sorted({int(str(row["rep"])) for row in rows})
    number = {rep: place for place, rep in enumerate(reps, 1)}
    return [row | {"rep": number[int(str(row["rep"]))]} for row in rows]
