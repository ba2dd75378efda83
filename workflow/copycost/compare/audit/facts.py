"""Everything that an audit finds, as plain data, and the facts that a run of our own has."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.json_values import Facts, plain
from copycost.analysis.tables import compare, summarise
from copycost.compare.audit.claims.rulings import Verdict
from copycost.compare.audit.claims.verdicts import JudgedClaim
from copycost.compare.audit.dataset import CELL, KEYS, STATISTICS, Dataset, quantity
from copycost.compare.audit.mapping import Meaning
from copycost.compare.audit.plausibility import Finding
from copycost.compare.audit.quantities import BY_NAME, TOTALS, base_of, words_of
from copycost.compare.audit.wording import quantities
from copycost.config.conditions import HOT, RECV
from copycost.config.testbeds import APART
from copycost.figures.markers import in_order
from copycost.observers.perf.events import PERF_EVENTS
from copycost.records.columns import COLUMNS, SIDES
from copycost.records.table import make_table
from copycost.studies.streams.facts import Inputs, compute_facts
from copycost.wording.filters import sentence

_NS_PER_S = 1e9
SCHEMA_VERSION = 4


def audit_facts(
    dataset: Dataset,
    findings: Sequence[Finding],
    judged: Sequence[JudgedClaim],
    command: Sequence[str],
) -> Facts:
    """Return the audit for `audit.json` and the templates; `command` reads the file again."""
    table, n_datasets = dataset.table, len(dataset.datasets)
    notes = list(dataset.notes)
    if unused := _unused_totals(dataset):
        notes.append(
            f"The columns of {quantities(unused)} are totals, and the file gives neither the bytes "
            "moved nor the duration of the run: no cost per byte or message follows from them."
        )
    counts = Counter(claim.verdict for claim in judged)
    facts: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "file": dataset.path.name,
            "digest": dataset.digest,
            "command": shlex.join(command),
            "source": dict(dataset.mapping.source),
            "n_rows": len(table),
            "n_cells": len(table.drop_duplicates(list(CELL))),
            "n_datasets": n_datasets,
            "repetitions": int(table["rep"].max()),
            "implementations": sorted(set(table["implementation"])),
            "columns": [_column(dataset, meaning) for meaning in dataset.meanings],
            "notes": notes,
            "findings": [finding_facts(finding, n_datasets) for finding in findings],
            "claims": list(judged),
            "verdicts": {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]},
        }
    )
    return facts


def _unused_totals(dataset: Dataset) -> list[str]:
    """Return the quantities of which no cost follows, for lack of the bytes that they go with."""
    if dataset.copycost_cells is not None:
        return []
    moved = quantity(dataset.table, "bytes")
    return [
        name
        for name in sorted(TOTALS, key="context_switches".__eq__)  # what has no cost per byte last
        if dataset.is_counted(name) and not (dataset.table[name].notna() & (moved > 0)).any()
    ]


def _column(dataset: Dataset, meaning: Meaning) -> Facts:
    """Return what a column was taken for, and how many rows have a value of it."""
    name, n_rows = meaning.quantity, len(dataset.table)
    if name is None:
        return {"column": meaning.column, "meaning": "left out", "unit": "", "filled": ""}
    known = int(dataset.table[name].notna().sum())
    filled = "all" if known == n_rows else f"{known} of {n_rows}"
    if name not in (*KEYS, "duration") and dataset.has(name) and not dataset.is_counted(name):
        filled = "0 throughout, not counted"
    unit = meaning.unit or base_of(name).unit
    return {"column": meaning.column, "meaning": words_of(name), "unit": unit, "filled": filled}


def finding_facts(finding: Finding, n_datasets: int) -> Facts:
    """Return a finding for the templates; its dataset is named where there are several."""
    columns = quantities(finding.quantities) or "all columns"
    subject = sentence(f"{finding.dataset}: {columns}" if n_datasets > 1 else columns)
    facts: Facts = plain(finding)
    return facts | {"subject": subject, "refutes": finding.refutes}


def analyse_dataset(dataset: Dataset) -> tuple[Inputs, Facts]:
    """Return tables, as of a run of our own, and facts; each dataset of the file is a testbed."""
    cells = dataset.copycost_cells if dataset.copycost_cells is not None else _cells(dataset)
    summary, ratios = summarise(cells, STATISTICS), compare(cells, STATISTICS)
    inputs = Inputs(cells, summary, ratios, _host(dataset), _config(dataset, cells))
    facts = compute_facts(inputs)
    misses = ("l1d_misses", "llc_misses", "cache_misses")
    facts["audited"] = {"misses": any(dataset.is_counted(name) for name in misses)}
    return inputs, facts


def _cells(dataset: Dataset) -> pd.DataFrame:
    """Return a foreign dataset as a table of cells of the project.

    Counters become costs per byte where the bytes that they go with are known; sides are not
    told apart, so only the columns of both sides have values.
    """
    table = dataset.table
    switches = "context_switches_per_message"
    columns = {switches: quantity(table, switches)}
    for name, own in ((name, one.own) for name, one in BY_NAME.items() if one.own):
        if name in TOTALS and name != "context_switches":
            columns[f"both_{own}_per_byte"] = quantity(table, f"{name}_per_byte")
        elif name in ("bytes", "messages"):
            columns[own] = quantity(table, name)
        elif name in table and name not in TOTALS:
            columns[own] = table[name]
    columns = {own: told * (_NS_PER_S if "_ns" in own else 1.0) for own, told in columns.items()}
    values = pd.DataFrame(columns).replace([np.inf, -np.inf], np.nan)
    # What cannot be, such as a time below 0, is a finding; the analysis goes without it.
    bounds = {column.name: (column.lowest, column.highest) for column in COLUMNS}
    values = values.apply(lambda told: told.where(told == told.clip(*bounds[str(told.name)])))
    keys = table[list(KEYS[1:])].assign(
        condition=table["dataset"], testbed=table["dataset"], strategy=table["implementation"],
        start_ns=range(len(table)), end_ns=range(len(table)),
    )  # fmt: skip
    rows = keys.join(values).to_dict("records")
    # What every row must have, and a foreign one does not tell.
    untold: dict[str, object] = {
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
    return make_table(
        untold | {str(name): value for name, value in row.items() if pd.notna(value)}
        for row in rows
    )


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
