"""Everything that an audit finds, as plain data: `audit.json`, of which the templates speak."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

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

_LABELS = (*KEYS, DURATION)


def audit_facts(
    dataset: Dataset,
    findings: Sequence[Finding],
    judged: Sequence[JudgedClaim],
    command: Sequence[str],
) -> Facts:
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
        What speaks against the numbers, and the verdicts on the claims, each with its words.
    verdicts
        How many claims have which verdict.
    """
    table, n_datasets = dataset.table, len(dataset.datasets)
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
            "columns": _columns(dataset),
            "notes": [text_of(note) for note in _notes(dataset)],
            "findings": [finding_facts(finding, n_datasets) for finding in findings],
            "claims": [_judged(claim) for claim in judged],
            "verdicts": _verdicts(judged),
        }
    )
    return facts


def _notes(dataset: Dataset) -> list[Message]:
    unused = unused_totals(dataset)
    return [*dataset.notes, *([Message("totals_unused", {"quantities": unused})] if unused else [])]


def _verdicts(judged: Sequence[JudgedClaim]) -> dict[str, int]:
    counts = Counter(claim.verdict for claim in judged)
    return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}


def _columns(dataset: Dataset) -> list[Facts]:
    return [
        {
            "column": meaning.column,
            "meaning": "left out" if meaning.quantity is None else words_of(meaning.quantity),
            "unit": "" if meaning.quantity is None else _unit(meaning),
            "filled": "" if meaning.quantity is None else _filled(dataset, meaning.quantity),
        }
        for meaning in dataset.meanings
    ]


def _unit(meaning: Meaning) -> str:
    return meaning.unit or base_of(str(meaning.quantity)).unit


def _filled(dataset: Dataset, name: str) -> str:
    """Return how many rows have a value of a quantity."""
    if name not in _LABELS and dataset.has(name) and not dataset.is_counted(name):
        return "0 throughout, not counted"
    table = dataset.table
    values = dataset.times.get(name, table.get(name))
    known = 0 if values is None else int(values.notna().sum())
    return "all" if known == len(table) else f"{known} of {len(table)}"


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
    claim = judged.claim
    where = scope(claim.sizes, claim.threads)
    return {
        "text": claim.text,
        "question": claim.question,
        "title": f"{claim.text} ({where})" if where else claim.text,
        "verdict": judged.verdict.value,
        "because": " ".join(_because(judged)),
        "evidence": list(judged.evidence),
        "observed_once": judged.observed_once,
        "label": _label(judged),
    }


def _because(judged: JudgedClaim) -> Iterator[str]:
    """Yield why a claim has its verdict, and what is doubtful about that."""
    yield text_of(judged.because)
    if judged.totals is not None:
        yield text_of(judged.totals)
    if judged.caution is not None:
        about = subject(judged.caution.quantities, None)
        yield f"What it rests on is doubtful. {about}: {found_by(judged.caution)}."


def _label(judged: JudgedClaim) -> str:
    """Return the verdict, what it lacks, and whether it rests on single repetitions."""
    if judged.n_missing:
        return f"{judged.verdict.value}: {plural(judged.n_missing, 'cell')} missing"
    decided = judged.verdict not in (Verdict.UNDECIDED, Verdict.NOT_MEASURED)
    once = decided and judged.observed_once
    return f"{judged.verdict.value}, observed once" if once else judged.verdict.value
