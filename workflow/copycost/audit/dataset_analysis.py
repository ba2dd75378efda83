"""Analyses a foreign dataset as a run of our own: cells, summary, comparisons, facts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.tables import compare, summarise
from copycost.audit.dataset import Dataset, messages_of, moved_bytes, quantity
from copycost.audit.quantities import (
    DATASET,
    IMPLEMENTATION,
    REP,
    SIZE,
    THREADS,
)
from copycost.config.conditions import HOT, RECV
from copycost.config.placements import APART
from copycost.figures.markers import in_order
from copycost.perf.events import PERF_EVENTS
from copycost.records.column import KEY
from copycost.records.columns import COLUMNS, SIDES
from copycost.records.table import make_table
from copycost.stats.settings import StatisticsSettings
from copycost.studies.streams.facts import Inputs, compute_facts

STATISTICS = StatisticsSettings()
"""As in config.yaml: 95 % intervals."""

_PER_BYTE = {
    "cycles": "both_cycles_per_byte",
    "instructions": "both_instructions_per_byte",
    "l1d_misses": "both_l1d_load_misses_per_byte",
    "llc_misses": "both_llc_load_misses_per_byte",
    "cache_misses": "both_cache_misses_per_byte",
    "cpu_time": "both_cpu_ns_per_byte",
}
_PLAIN = {
    "throughput": ("throughput_bits_per_s", 1.0),
    "latency": ("service_mean_ns", 1e9),
    "latency_p99": ("service_p99_ns", 1e9),
    "duration": ("window_s", 1.0),
    "copied_share": ("zc_copied_share", 1.0),
}
_NS_PER_S = 1e9


@dataclass(frozen=True)
class DatasetAnalysis:
    """The analysis of a dataset.

    `cells`, `summary`, `ratios`: the tables, as of a run of our own; each dataset of the file is a
    testbed.
    """

    cells: pd.DataFrame
    summary: pd.DataFrame
    ratios: pd.DataFrame
    facts: Facts


def analyse_dataset(dataset: Dataset, settings: StatisticsSettings = STATISTICS) -> DatasetAnalysis:
    """Return tables and facts of a foreign dataset."""
    cells = dataset.copycost_cells if dataset.copycost_cells is not None else make_cells(dataset)
    summary = summarise(cells, settings)
    ratios = compare(cells, settings)
    config = _config(dataset, cells, settings)
    facts = compute_facts(Inputs(cells, summary, ratios, _host(dataset), config))
    misses = ("l1d_misses", "llc_misses", "cache_misses")
    facts["audited"] = {"misses": any(dataset.is_counted(name) for name in misses)}
    return DatasetAnalysis(cells, summary, ratios, facts)


def unused_totals(dataset: Dataset) -> list[str]:
    """Return the quantities of which no cost follows, for lack of the bytes that they go with."""
    if dataset.copycost_cells is not None:
        return []
    moved = moved_bytes(dataset.table)
    return [
        name
        for name in (*_PER_BYTE, "context_switches")
        if dataset.is_counted(name) and not (dataset.table[name].notna() & (moved > 0)).any()
    ]


def make_cells(dataset: Dataset) -> pd.DataFrame:
    """Return a foreign dataset as a table of cells of the project.

    Counters become costs per byte where the bytes that they go with are known; sides are not
    told apart, so only the columns of both sides have values.
    """
    table = dataset.table
    moved = moved_bytes(table)
    messages = messages_of(table)
    columns: dict[str, pd.Series] = {
        target: table[name] * factor for name, (target, factor) in _PLAIN.items() if name in table
    }
    for name, target in _PER_BYTE.items():
        factor = _NS_PER_S if name == "cpu_time" else 1.0
        columns[target] = quantity(table, f"{name}_per_byte") * factor
    switches = "context_switches_per_message"
    columns[switches] = quantity(table, switches)
    columns["received_bytes"] = moved
    columns["messages"] = messages
    values = pd.DataFrame(columns).replace([np.inf, -np.inf], np.nan)
    rows = []
    for key, row in zip(table.itertuples(), values.to_dict("records"), strict=True):
        known = {str(name): value for name, value in row.items() if not np.isnan(value)}
        rows.append(_frame() | _key(key) | known)
    return make_table(rows)


def _key(row: Any) -> dict[str, object]:  # noqa: ANN401 - a named tuple of the table's columns
    return {
        "condition": getattr(row, DATASET),
        "testbed": getattr(row, DATASET),
        "working_set": HOT,
        "receiver": RECV,
        "placement": APART,
        "implementation": getattr(row, IMPLEMENTATION),
        "strategy": getattr(row, IMPLEMENTATION),
        "batch": 1,
        "msg_bytes": int(getattr(row, SIZE)),
        "n_threads": int(getattr(row, THREADS)),
        "rep": int(getattr(row, REP)),
        "start_ns": row.Index,
        "end_ns": row.Index,
    }


def _frame() -> dict[str, object]:
    """Return what every row of cells must have and a foreign one does not tell."""
    texts = {
        column.name: ""
        for column in COLUMNS
        if not column.nullable and column.dtype == "str" and column.name not in KEY
    }
    numbers: dict[str, object] = {
        column.name: 0
        for column in COLUMNS
        if not column.nullable and column.dtype in ("int64", "float64")
    }
    statuses: dict[str, object] = {
        **{f"{side}_{event}_status": "not_counted" for side in SIDES for event in PERF_EVENTS},
        **{f"{side}_guest_status": "no_guest" for side in SIDES},
    }
    return (
        texts | numbers | statuses
        | {"study": "streams", "status": "measured", "transport": "stream"}
        | {"sender_cpus": "any", "receiver_cpus": "any"}
    )  # fmt: skip


def _config(dataset: Dataset, cells: pd.DataFrame, settings: StatisticsSettings) -> dict[str, Any]:
    windows = cells["window_s"].dropna().unique()
    return {
        "streams": {
            "implementations": list(in_order(cells["implementation"])),
            "testbeds": list(dict.fromkeys(cells["testbed"])),
            "msg_bytes": sorted(int(size) for size in cells["msg_bytes"].unique()),
            "n_threads": sorted(int(count) for count in cells["n_threads"].unique()),
        },
        "measure": {
            "repetitions": int(cells["rep"].max()),
            "warmup_s": None,
            "duration_s": float(windows[0]) if len(windows) == 1 else None,
        },
        "statistics": {
            "confidence": settings.confidence,
            "resamples": settings.resamples,
            "seed": settings.seed,
        },
        "report": {"title": dataset.name, "formats": ["html", "pdf"]},
    }


def _host(dataset: Dataset) -> dict[str, Any]:
    """Return what a mapping tells of the host; nothing is taken from this machine."""
    said = dataset.mapping.host
    caches = {f"{level}_bytes": said.get(f"{level}_bytes") for level in ("l1d", "l2", "llc")}
    events = {event: {"perf_name": None, "status": None, "reason": None} for event in PERF_EVENTS}
    return {
        "schema_version": 1,
        "cpu": {"model": said.get("cpu"), "caches": caches, "cpus_online": said.get("cpus")},
        "kernel": {"release": said.get("kernel")},
        "perf": {"events": events},
    }
