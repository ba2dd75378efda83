"""Everything that an audit finds, as plain data: `audit.json`, of which the templates speak."""

import shlex
from collections import Counter
from collections.abc import Sequence

from copycost.analysis.json_values import Facts, plain
from copycost.compare.audit.claims.rulings import Verdict
from copycost.compare.audit.claims.verdicts import JudgedClaim
from copycost.compare.audit.dataset import CELL, KEYS, Dataset
from copycost.compare.audit.dataset_analysis import unused_totals
from copycost.compare.audit.mapping import Meaning
from copycost.compare.audit.plausibility import Finding
from copycost.compare.audit.quantities import base_of, words_of
from copycost.compare.audit.wording import quantities
from copycost.wording.filters import sentence

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
    if unused := unused_totals(dataset):
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
