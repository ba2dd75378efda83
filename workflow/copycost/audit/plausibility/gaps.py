"""Columns that count nothing, and cells that were measured once."""

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import base_of


def check_gaps(sample: Sample) -> list[Finding]:
    """Return the columns that read 0 throughout, and whether there is but one repetition."""
    findings = []
    for name in map(str, sample.steps.columns):
        values = sample.table[name].dropna()
        if len(values) and (values == 0.0).all() and base_of(name).kind != "share":
            findings.append(_zeros(sample, name, len(values)))
    n_cells = len(sample.table.drop_duplicates(list(CELL)))
    if len(sample.table) == n_cells:
        findings.append(_once(sample, n_cells))
    return findings


def _zeros(sample: Sample, name: str, n: int) -> Finding:
    return Finding(
        check="zeros",
        code="zeros",
        kind=Kind.NOT_COUNTED,
        sureness=Sureness.CERTAIN if n > 1 else Sureness.VERY_LIKELY,
        dataset=sample.name,
        quantities=(name,),
        numbers={"n_rows": n},
    )


def _once(sample: Sample, n_cells: int) -> Finding:
    return Finding(
        check="one_repetition",
        code="one_repetition",
        kind=Kind.WEAK,
        sureness=Sureness.CERTAIN,
        dataset=sample.name,
        quantities=(),
        numbers={"n_cells": n_cells},
    )
