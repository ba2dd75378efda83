"""Columns that count nothing, and cells that were measured once."""

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Kind, Sample, Sureness, subject
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
        kind=Kind.NOT_COUNTED,
        sureness=Sureness.CERTAIN if n > 1 else Sureness.VERY_LIKELY,
        dataset=sample.name,
        quantities=(name,),
        found=f"{subject(name)} 0 in all {n} cells that have a value.",
        why=(
            "A counter that reads 0 everywhere was not counting (an event that the processor or "
            "the virtual machine does not have); nothing follows from it."
        ),
    )


def _once(sample: Sample, n_cells: int) -> Finding:
    cells = "The one cell was" if n_cells == 1 else f"Each of the {n_cells} cells was"
    return Finding(
        check="one_repetition",
        kind=Kind.WEAK,
        sureness=Sureness.CERTAIN,
        dataset=sample.name,
        quantities=(),
        found=f"{cells} measured once.",
        why=(
            "Without repetitions there is no telling a difference from noise; what is said of the "
            "cells was observed once."
        ),
    )
