"""Analyses a foreign dataset as a run of our own: cells, summary, comparisons, facts."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts
from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import compare, summarise
from copycost.compare.audit.dataset import (
    KEYS,
    OWN_COLUMNS,
    OWN_COUNTERS,
    Dataset,
    quantity,
)
from copycost.compare.audit.quantities import TOTALS
from copycost.config.conditions import HOT, RECV
from copycost.config.placements import APART
from copycost.figures.markers import in_order
from copycost.observers.perf.events import PERF_EVENTS
from copycost.records.columns import COLUMNS, SIDES
from copycost.records.table import make_table
from copycost.studies.streams.facts import Inputs, compute_facts

STATISTICS = StatisticsSettings()
"""As in config.yaml: 95 % intervals."""

_NS_PER_S = 1e9


def analyse_dataset(dataset: Dataset) -> tuple[Inputs, Facts]:
    """Return tables, as of a run of our own, and facts; each dataset of the file is a testbed."""
    cells = dataset.copycost_cells if dataset.copycost_cells is not None else _cells(dataset)
    summary, ratios = summarise(cells, STATISTICS), compare(cells, STATISTICS)
    inputs = Inputs(cells, summary, ratios, _host(dataset), _config(dataset, cells))
    facts = compute_facts(inputs)
    misses = ("l1d_misses", "llc_misses", "cache_misses")
    facts["audited"] = {"misses": any(dataset.is_counted(name) for name in misses)}
    return inputs, facts


def unused_totals(dataset: Dataset) -> list[str]:
    """Return the quantities of which no cost follows, for lack of the bytes that they go with."""
    if dataset.copycost_cells is not None:
        return []
    moved = quantity(dataset.table, "bytes")
    return [
        name
        for name in sorted(TOTALS, key="context_switches".__eq__)  # what has no cost per byte last
        if dataset.is_counted(name) and not (dataset.table[name].notna() & (moved > 0)).any()
    ]


def _cells(dataset: Dataset) -> pd.DataFrame:
    """Return a foreign dataset as a table of cells of the project.

    Counters become costs per byte where the bytes that they go with are known; sides are not
    told apart, so only the columns of both sides have values.
    """
    table = dataset.table
    columns = {own: table[name] for name, own in OWN_COLUMNS.items() if name in table}
    for name, own in OWN_COUNTERS.items():
        if name != "context_switches":
            columns[f"both_{own}_per_byte"] = quantity(table, f"{name}_per_byte")
    columns = {own: told * (_NS_PER_S if "_ns" in own else 1.0) for own, told in columns.items()}
    switches = "context_switches_per_message"
    for own, name in ((switches,) * 2, ("received_bytes", "bytes"), ("messages",) * 2):
        columns[own] = quantity(table, name)
    values = pd.DataFrame(columns).replace([np.inf, -np.inf], np.nan)
    # What cannot be, such as a time below 0, is a finding; the analysis goes without it.
    bounds = {column.name: (column.lowest, column.highest) for column in COLUMNS}
    values = values.apply(lambda told: told.where(told == told.clip(*bounds[str(told.name)])))
    keys = table[list(KEYS[1:])].assign(
        condition=table["dataset"], testbed=table["dataset"], strategy=table["implementation"],
        start_ns=range(len(table)), end_ns=range(len(table)),
    )  # fmt: skip
    rows = keys.join(values).to_dict("records")
    frame = _frame()
    return make_table(
        frame | {str(name): value for name, value in row.items() if pd.notna(value)} for row in rows
    )


def _frame() -> dict[str, object]:
    """Return what every row of cells must have and a foreign one does not tell."""
    return {
        **{
            column.name: "" if column.dtype == "str" else 0
            for column in COLUMNS
            if not column.nullable and column.dtype in ("str", "int64", "float64")
        },
        **{f"{side}_{event}_status": "not_counted" for side in SIDES for event in PERF_EVENTS},
        **{f"{side}_guest_status": "no_guest" for side in SIDES},
        **{"study": "streams", "status": "measured", "transport": "stream", "batch": 1},
        **{"working_set": HOT, "receiver": RECV, "placement": APART},
        **{"sender_cpus": "any", "receiver_cpus": "any"},
    }


def _config(dataset: Dataset, cells: pd.DataFrame) -> dict[str, Any]:
    windows = cells["window_s"].dropna().unique()
    return {
        "streams": {
            "implementations": list(in_order(cells["implementation"])),
            "testbeds": list(dict.fromkeys(cells["testbed"])),
            **{axis: sorted(cells[axis].unique().tolist()) for axis in ("msg_bytes", "n_threads")},
        },
        "measure": {
            "repetitions": int(cells["rep"].max()),
            "warmup_s": None,
            "duration_s": float(windows[0]) if len(windows) == 1 else None,
        },
        "statistics": asdict(STATISTICS),
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
