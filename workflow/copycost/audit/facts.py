"""Everything that an audit says, as plain data: `audit.json`, and what its report shows."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from copycost.analysis.json_values import Facts, plain
from copycost.audit.claims.verdicts import JudgedClaim
from copycost.audit.dataset import CELL, Dataset
from copycost.audit.dataset_analysis import unused_totals
from copycost.audit.plausibility import Finding
from copycost.audit.quantities import base_of, is_quantity, words_of
from copycost.wording.filters import join_and, n_threads, size

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Audit:
    """A dataset with what was found.

    Attributes
    ----------
    dataset
        What was read.
    findings
        What speaks against its numbers.
    judged
        The claims with their verdicts.
    command
        The arguments of the command that makes the audit again.
    """

    dataset: Dataset
    findings: Sequence[Finding]
    judged: Sequence[JudgedClaim]
    command: Sequence[str]


def audit_facts(audit: Audit) -> Facts:
    """Return the audit for `audit.json` and the templates.

    Keys
    ----
    file, digest, command, source
        What was read, and how to read it again.
    n_rows, n_cells, n_datasets, repetitions, implementations
        How much it holds.
    columns, notes
        What the columns were taken for, and what had to be decided.
    findings, claims
        What speaks against the numbers, and the verdicts on the claims.
    """
    dataset = audit.dataset
    table = dataset.table
    facts: Facts = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "file": dataset.path.name,
            "digest": dataset.digest,
            "command": shlex.join(audit.command),
            "source": dict(dataset.mapping.source),
            "n_rows": len(table),
            "n_cells": len(table.drop_duplicates(list(CELL))),
            "n_datasets": len(dataset.datasets),
            "repetitions": int(table["rep"].max()),
            "implementations": sorted(set(table["implementation"])),
            "columns": _columns(dataset),
            "notes": [*dataset.notes, *unused_totals(dataset)],
            "findings": [_finding(finding, len(dataset.datasets)) for finding in audit.findings],
            "claims": [_judged(judged) for judged in audit.judged],
        }
    )
    return facts


def _columns(dataset: Dataset) -> list[Facts]:
    rows = []
    for meaning in dataset.meanings:
        name = meaning.quantity
        if name is None:
            rows.append({"column": meaning.column, "meaning": "left out", "unit": "", "filled": ""})
            continue
        known = int(dataset.table[name].notna().sum()) if name in dataset.table else 0
        nothing = dataset.has(name) and not dataset.is_counted(name) if is_measured(name) else False
        rows.append(
            {
                "column": meaning.column,
                "meaning": words_of(name),
                "unit": meaning.unit or (base_of(name).unit if base_of(name).unit != "" else ""),
                "filled": "0 throughout, not counted"
                if nothing
                else "all"
                if known == len(dataset.table)
                else f"{known} of {len(dataset.table)}",
            }
        )
    return rows


def is_measured(name: str) -> bool:
    """Tell whether a quantity is a measured one rather than a label or a setting."""
    return is_quantity(name) and name not in ("dataset", "implementation", "msg_bytes",
                                              "n_threads", "rep", "duration")  # fmt: skip


def _finding(finding: Finding, n_datasets: int) -> Facts:
    subject = join_and(words_of(name) for name in finding.quantities) or "all columns"
    if n_datasets > 1:
        subject = f"{finding.dataset}: {subject}"
    return {
        "check": finding.check,
        "subject": f"{subject[:1].upper()}{subject[1:]}",
        "kind": finding.kind.value,
        "sureness": finding.sureness.value,
        "refutes": finding.refutes,
        "dataset": finding.dataset,
        "quantities": list(finding.quantities),
        "found": finding.found,
        "why": finding.why,
        "cells": list(finding.cells),
    }


def _judged(judged: JudgedClaim) -> Facts:
    claim = judged.claim
    scope = []
    if claim.sizes:
        scope.append(f"at {join_and(size(value) for value in claim.sizes)}")
    if claim.threads:
        scope.append(f"with {n_threads(claim.threads)}")
    return {
        "text": claim.text,
        "question": claim.question,
        "scope": " ".join(scope),
        "verdict": judged.verdict.value,
        "because": judged.because,
        "evidence": list(judged.evidence),
        "observed_once": judged.observed_once,
        "caution": judged.caution,
    }
