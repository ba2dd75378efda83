"""Columns that count nothing, and what is missing: cells, repetitions, values."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, REP, SIZE, THREADS, base_of
from copycost.audit.wording import cell_name

_LEAST_COUNT = 50.0
"""Where all other values are above it, a 0 is hardly one of them."""

_MOST_ZEROS = 0.5


def check_gaps(sample: Sample) -> Iterator[Finding]:
    """Yield what reads 0, what is missing, and whether there is but one repetition."""
    for name in map(str, sample.steps.columns):
        values = sample.table[name].dropna()
        if base_of(name).kind == "share" or values.empty:
            continue
        if (values == 0.0).all():
            sureness = None if len(values) > 1 else Sureness.VERY_LIKELY
            yield sample.found("zeros", name, sureness=sureness, n_rows=len(values))
        elif (values == 0.0).any():
            yield from _some_zeros(sample, name)
    n_cells = len(sample.table.drop_duplicates(list(CELL)))
    if len(sample.table) == n_cells:
        yield sample.found("one_repetition", n_cells=n_cells)
    yield from _values_missing(sample)
    yield from _cells_missing(sample, n_cells)
    yield from _repetitions_missing(sample)


def _some_zeros(sample: Sample, name: str) -> Iterator[Finding]:
    """Find zeros among values that are all far from it, as gaps that were filled look."""
    values = sample.table[name]
    others = values[values > 0.0]
    least = float(others.min()) if len(others) else 0.0
    far = least >= _LEAST_COUNT if base_of(name).kind == "count" else len(others) > 0
    n_zero, n_known = int((values == 0.0).sum()), int(values.notna().sum())
    if far and n_zero / n_known <= _MOST_ZEROS:
        rows = sample.table[values == 0.0]
        yield sample.found("some_zeros", name, rows=rows, n_rows=n_zero, of_rows=n_known)


def _values_missing(sample: Sample) -> Iterator[Finding]:
    """Find columns with gaps; those that lack the same rows are told together.

    An implementation that has no value at all, such as of a share of copies, has no gap.
    """
    n_all = len(sample.table)
    empty: dict[tuple[int, ...], list[str]] = {}
    for name in map(str, sample.steps.columns):
        values = sample.table[name]
        has_it = values.notna().groupby(sample.table[IMPLEMENTATION]).transform("any")
        rows = np.flatnonzero(values.isna() & has_it)
        if 0 < len(rows) < n_all:
            empty.setdefault(tuple(int(row) for row in rows), []).append(name)
    for gaps, names in empty.items():
        without = sample.table.iloc[list(gaps)]
        yield sample.found("values_missing", *names, rows=without, n_rows=len(gaps), of_rows=n_all)


def _cells_missing(sample: Sample, n_cells: int) -> Iterator[Finding]:
    axes = [sample.table[name].drop_duplicates() for name in (IMPLEMENTATION, SIZE, THREADS)]
    n_whole = int(np.prod([len(axis) for axis in axes]))
    if n_whole > n_cells:
        whole = pd.MultiIndex.from_product([axes[0], axes[1].sort_values(), axes[2].sort_values()])
        absent = whole.difference(
            pd.MultiIndex.from_frame(sample.table[[IMPLEMENTATION, SIZE, THREADS]]), sort=False
        )
        cells = tuple(cell_name(str(name), int(size), int(n)) for name, size, n in absent)
        yield sample.found("cells_missing", cells=cells, n_cells=len(cells), of_cells=n_whole)


def _repetitions_missing(sample: Sample) -> Iterator[Finding]:
    counts = sample.table.groupby(list(CELL))[REP].count().reset_index()
    usual = int(counts[REP].max())
    few = counts[counts[REP] < usual]
    if not few.empty:
        yield sample.found("repetitions_missing", rows=few, n_cells=len(few),
                           of_cells=len(counts), n_usual=usual)  # fmt: skip
