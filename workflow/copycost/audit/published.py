"""Own measurements beside published runs: what the chapter and its figures are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.metrics import THROUGHPUT
from copycost.audit.dataset_analysis import DatasetAnalysis, analyse_dataset
from copycost.audit.mapping import FileMapping
from copycost.audit.mapping_file import load_yaml
from copycost.audit.reader import read_dataset
from copycost.errors import DataError

SCHEMA_VERSION = 1
_CELL = ["implementation", "msg_bytes", "n_threads"]
_PAIRS = ("one_copy_vs_two_copy", "zero_copy_vs_two_copy")
PUBLISHED_COST = "both_cycles_per_byte"


@dataclass(frozen=True)
class Published:
    """A published run, analysed as a run of our own.

    Attributes
    ----------
    source
        Its part of sources.yaml.
    analysed
        Its tables and facts.
    """

    source: Mapping[str, Any]
    analysed: DatasetAnalysis

    @property
    def name(self) -> str:
        """Return the run's name."""
        return str(self.source["name"])

    def medians(self, metric: str) -> pd.DataFrame:
        """Return the cells that have a value of a metric."""
        return known_medians(self.analysed.summary, metric)


def known_medians(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the rows of a summary that have a value of a metric."""
    return summary[(summary["metric"] == metric) & (summary["n"] > 0)]


def read_published(folder: Path) -> list[Published]:
    """Read the published runs that have the cells of a table.

    Raises
    ------
    DataError
        If a run is described but not there.
    """
    runs = []
    for source in load_yaml(folder / "sources.yaml")["runs"]:
        path = folder / f"{source['name']}.csv"
        if not path.is_file():
            raise DataError(f"{path}: not found, though sources.yaml describes it; restore it")
        runs.append(Published(source, analyse_dataset(read_dataset(path, FileMapping()))))
    return runs


def comparison_facts(facts: Facts, summary: pd.DataFrame, runs: Sequence[Published]) -> Facts:
    """Return what the chapter says, as plain data.

    Keys
    ----
    measured
        Whether this host has any measurement to show.
    cost
        What a byte's cost is on this host.
    grid
        Sizes of this host's grid.
    runs
        Per published run: name, title, system, method, differences; testbed (of this host, the
        condition that resembles its path most) and same_path; ratios of this host's throughput to
        its, per implementation; crossovers of both, per thread count; has_cost and same_cost_unit.
    """
    measured = list(facts["measured_conditions"])
    result: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "measured": bool(measured),
            "cost": facts["cost"],
            "grid": facts["grid"],
            "repetitions": facts["run"]["rounds_max"],
            "duration_s": facts["method"]["duration_s"],
            "runs": [_run_facts(facts, summary, run) for run in runs] if measured else [],
        }
    )
    return result


def matching_condition(facts: Facts, run: Published) -> str:
    """Return the condition of this host to show beside a run: its own kind, else the first."""
    measured: list[str] = facts["measured_conditions"]
    wanted = str(run.source["testbed"])
    return wanted if wanted in measured else measured[0]


def _run_facts(facts: Facts, summary: pd.DataFrame, run: Published) -> Facts:
    condition = matching_condition(facts, run)
    mine = summary[summary["condition"] == condition]
    theirs = run.analysed.facts["conditions"][run.name]
    ours = facts["conditions"][condition]
    return {
        **{key: run.source[key] for key in ("name", "title", "system", "method", "differences")},
        "testbed": condition,
        "same_path": condition == run.source["testbed"],
        "ratios": _ratios(mine, run),
        "sizes": run.analysed.facts["grid"]["msg_bytes"],
        "crossovers": [
            {
                "implementation": theirs["crossovers"][pair]["implementation"],
                "baseline": theirs["crossovers"][pair]["baseline"],
                "rows": _crossover_rows(ours["crossovers"][pair], theirs["crossovers"][pair]),
            }
            for pair in _PAIRS
        ],
        "has_cost": not run.medians(PUBLISHED_COST).empty,
        "same_cost_unit": facts["cost"]["column"] == PUBLISHED_COST,
        "costs": _costs(mine, run, ours["cost_column"]),
    }


def _ratios(mine: pd.DataFrame, run: Published) -> list[Facts]:
    """Return this host's throughput over the run's, in the cells that both have."""
    both = known_medians(mine, THROUGHPUT).merge(
        run.medians(THROUGHPUT), on=_CELL, suffixes=("", "_theirs")
    )
    both["ratio"] = both["median"] / both["median_theirs"]
    return [
        {
            "implementation": name,
            "n_cells": len(part),
            "low": float(part["ratio"].min()),
            "median": float(part["ratio"].median()),
            "high": float(part["ratio"].max()),
        }
        for name, part in both.groupby("implementation", sort=True)
    ]


def _crossover_rows(ours: Facts, theirs: Facts) -> list[Facts]:
    """Return what both say along the sizes, for the thread counts that both have."""
    mine = {row["n_threads"]: row for row in ours["by_threads"]}
    return [
        {"n_threads": row["n_threads"], "ours": mine[row["n_threads"]], "theirs": row}
        for row in theirs["by_threads"]
        if row["n_threads"] in mine and row["outcome"] != "not_measured"
    ]


def _costs(mine: pd.DataFrame, run: Published, column: str) -> list[Facts]:
    """Return what a byte costs here and there, in the cells that both have."""
    both = run.medians(PUBLISHED_COST).merge(
        known_medians(mine, column), on=_CELL, suffixes=("_theirs", ""), how="left"
    )
    both = both.sort_values(["msg_bytes", "n_threads", "implementation"])
    rows = []
    for row in both.to_dict("records"):
        ours = float(row["median"])
        rows.append(
            {key: row[key] for key in _CELL}
            | {"theirs": row["median_theirs"], "ours": None if np.isnan(ours) else ours}
        )
    return rows
