"""Columns that count nothing, and what is missing: cells, repetitions, values."""

import numpy as np
import pandas as pd

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, REP, SIZE, THREADS, base_of
from copycost.audit.wording import cell_name, cell_names

_LEAST_COUNT = 50.0
"""Where all other values are above it, a 0 is hardly one of them."""

_MOST_ZEROS = 0.5


def check_gaps(sample: Sample) -> list[Finding]:
    """Return what reads 0, what is missing, and whether there is but one repetition."""
    findings = []
    for name in map(str, sample.steps.columns):
        values = sample.table[name].dropna()
        if base_of(name).kind == "share" or values.empty:
            continue
        if (values == 0.0).all():
            findings.append(_zeros(sample, name, len(values)))
        elif (values == 0.0).any():
            findings += _some_zeros(sample, name)
    n_cells = len(sample.table.drop_duplicates(list(CELL)))
    if len(sample.table) == n_cells:
        findings.append(_once(sample, n_cells))
    return [
        *findings,
        *_values_missing(sample),
        *_cells_missing(sample, n_cells),
        *_repetitions_missing(sample),
    ]


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


def _some_zeros(sample: Sample, name: str) -> list[Finding]:
    """Find zeros among values that are all far from it, as gaps that were filled look."""
    values = sample.table[name]
    zero = values == 0.0
    others = values[values > 0.0]
    least = float(others.min()) if len(others) else 0.0
    far = least >= _LEAST_COUNT if base_of(name).kind == "count" else len(others) > 0
    if not far or zero.sum() / values.notna().sum() > _MOST_ZEROS:
        return []
    return [
        Finding(
            check="zeros",
            code="some_zeros",
            kind=Kind.ODD,
            sureness=Sureness.VERY_LIKELY,
            dataset=sample.name,
            quantities=(name,),
            numbers={"n_rows": int(zero.sum()), "of_rows": int(values.notna().sum())},
            cells=cell_names(sample.table[zero]),
        )
    ]


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


def _incomplete(
    sample: Sample,
    code: str,
    quantities: tuple[str, ...],
    cells: tuple[str, ...],
    **numbers: object,
) -> Finding:
    return Finding("incomplete", code, Kind.INCOMPLETE, Sureness.CERTAIN, sample.name, quantities,
                   numbers, cells)  # fmt: skip


def _values_missing(sample: Sample) -> list[Finding]:
    """Find columns with gaps; those that lack the same rows are told together.

    An implementation that has no value at all, such as of a share of copies, has no gap.
    """
    empty: dict[tuple[int, ...], list[str]] = {}
    for name in map(str, sample.steps.columns):
        values = sample.table[name]
        has_it = values.notna().groupby(sample.table[IMPLEMENTATION]).transform("any")
        rows = np.flatnonzero(values.isna() & has_it)
        if 0 < len(rows) < len(sample.table):
            empty.setdefault(tuple(int(row) for row in rows), []).append(name)
    return [
        _incomplete(sample, "values_missing", tuple(names),
                    cell_names(sample.table.iloc[list(rows)]),
                    n_rows=len(rows), of_rows=len(sample.table))
        for rows, names in empty.items()
    ]  # fmt: skip


def _cells_missing(sample: Sample, n_cells: int) -> list[Finding]:
    axes = [sample.table[name].drop_duplicates() for name in (IMPLEMENTATION, SIZE, THREADS)]
    n_whole = int(np.prod([len(axis) for axis in axes]))
    if n_whole == n_cells:
        return []
    whole = pd.MultiIndex.from_product([axes[0], axes[1].sort_values(), axes[2].sort_values()])
    absent = whole.difference(
        pd.MultiIndex.from_frame(sample.table[[IMPLEMENTATION, SIZE, THREADS]]), sort=False
    )
    cells = tuple(cell_name(str(name), int(size), int(n)) for name, size, n in absent)
    return [_incomplete(sample, "cells_missing", (), cells, n_cells=len(cells), of_cells=n_whole)]


def _repetitions_missing(sample: Sample) -> list[Finding]:
    counts = sample.table.groupby(list(CELL))[REP].count().reset_index()
    usual = int(counts[REP].max())
    few = counts[counts[REP] < usual]
    if few.empty:
        return []
    return [_incomplete(sample, "repetitions_missing", (), cell_names(few),
                        n_cells=len(few), of_cells=len(counts), n_usual=usual)]  # fmt: skip
