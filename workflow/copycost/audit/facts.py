"""Everything that an audit finds, as plain data: `audit.json`, of which the templates speak."""

import shlex
from collections import Counter
from collections.abc import Sequence

from copycost.analysis.json_values import Facts, plain
from copycost.audit.claims.verdicts import JudgedClaim, Verdict
from copycost.audit.dataset import CELL, KEYS, Dataset
from copycost.audit.dataset_analysis import unused_totals
from copycost.audit.mapping import Meaning
from copycost.audit.plausibility import Finding
from copycost.audit.quantities import DURATION, base_of, words_of
from copycost.audit.templates import found_by, reason_against, text_of
from copycost.audit.wording import Message, scope, subject
from copycost.wording.words import plural

SCHEMA_VERSION = 4


def audit_facts(
    dataset: Dataset,
    findings: Sequence[Finding],
    judged: Sequence[JudgedClaim],
    command: Sequence[str],
) -> Facts:
    """Return the audit for `audit.json` and the templates; `command` reads the file again."""
    table, n_datasets = dataset.table, len(dataset.datasets)
    unused = unused_totals(dataset)
    notes = [
        *dataset.notes,
        *([Message("totals_unused", {"quantities": unused})] if unused else []),
    ]
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
            "notes": list(map(text_of, notes)),
            "findings": [finding_facts(finding, n_datasets) for finding in findings],
            "claims": [_judged(claim) for claim in judged],
            "verdicts": {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]},
        }
    )
    return facts


def _column(dataset: Dataset, meaning: Meaning) -> Facts:
    """Return what a column was taken for, and how many rows have a value of it."""
    name = meaning.quantity
    if name is None:
        return {"column": meaning.column, "meaning": "left out", "unit": "", "filled": ""}
    values = dataset.times.get(name, dataset.table.get(name))
    n_rows = len(dataset.table)
    known = 0 if values is None else int(values.notna().sum())
    filled = "all" if known == n_rows else f"{known} of {n_rows}"
    if name not in (*KEYS, DURATION) and dataset.has(name) and not dataset.is_counted(name):
        filled = "0 throughout, not counted"
    unit = meaning.unit or base_of(name).unit
    return {"column": meaning.column, "meaning": words_of(name), "unit": unit, "filled": filled}


def finding_facts(finding: Finding, n_datasets: int) -> Facts:
    """Return a finding for the templates; its dataset is named where there are several."""
    return {
        "check": finding.check,
        "code": finding.code,
        "subject": subject(finding.quantities, finding.dataset if n_datasets > 1 else None),
        "kind": finding.kind.value,
        "sureness": finding.sureness.value,
        "refutes": finding.refutes,
        "found": found_by(finding),
        "why": reason_against(finding),
        "dataset": finding.dataset,
        "quantities": list(finding.quantities),
        "numbers": dict(finding.numbers),
        "cells": list(finding.cells),
    }


def _judged(judged: JudgedClaim) -> Facts:
    """Return a claim with its verdict, why it has it, and what is doubtful about that."""
    claim = judged.claim
    where = scope(claim.sizes, claim.threads)
    because = [text_of(one) for one in (judged.because, judged.totals) if one is not None]
    if judged.caution is not None:
        about = subject(judged.caution.quantities, None)
        because.append(f"What it rests on is doubtful. {about}: {found_by(judged.caution)}.")
    label = judged.verdict.value
    if judged.n_missing:
        label += f": {plural(judged.n_missing, 'cell')} missing"
    elif judged.observed_once and label not in (Verdict.UNDECIDED, Verdict.NOT_MEASURED):
        label += ", observed once"
    return {
        "text": claim.text,
        "question": claim.question,
        "title": f"{claim.text} ({where})" if where else claim.text,
        "verdict": judged.verdict.value,
        "because": " ".join(because),
        "evidence": list(judged.evidence),
        "observed_once": judged.observed_once,
        "label": label,
    }
