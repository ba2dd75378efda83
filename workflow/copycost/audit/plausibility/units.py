"""Rows that are in another unit than the rest of their column.

What a cell should have is taken from the others: the medians over implementations, sizes and
threads, added on a logarithmic scale (Tukey's median polish, Exploratory Data Analysis, 1977).
"""

import itertools
import math
from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import IMPLEMENTATION, SIZE, THREADS, base_of
from copycost.audit.wording import cell_names
from copycost.stats.settings import FloatArray

_LEAST_ROWS = 8
_LEAST_GROUP = 4
_ROUNDS = 4
_MOST_SHARE = 0.35
"""More rows than these, and it is not clear which unit is the column's."""

_THOUSANDS = tuple(1000.0**power for power in (-3, -2, -1, 1, 2, 3))
_SMALL = (8.0, 1 / 8.0, 60.0, 1 / 60.0, 100.0, 0.01)
"""Bits for bytes, minutes for seconds, percents for shares."""


def check_units(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield columns in which some rows are off by the factor between two units."""
    for name in sample.quantities:
        if name in explained or base_of(name).kind == "share":
            continue
        rows = sample.table[sample.table[name] > 0.0]
        if len(rows) < _LEAST_ROWS:
            continue
        rest = polished(rows, name)
        found = _jumps(sample, name, rows, rest)
        if found is not None:
            yield found


def polished(rows: pd.DataFrame, name: str) -> FloatArray:
    """Return what is left of a quantity's logarithms after the medians of its cells' labels."""
    rest: FloatArray = np.log(rows[name].to_numpy(dtype=np.float64))
    axes = [rows[key] for key in (IMPLEMENTATION, SIZE, THREADS)]
    groups = [_members([axis]) for axis in axes if axis.nunique() > 1]
    # With enough cells, how the size matters may depend on the implementation, and so on.
    groups += [_members(list(pair)) for pair in itertools.combinations(axes, 2)]
    for _ in range(_ROUNDS):
        for members in groups:
            for member in members:
                rest[member] -= np.median(rest[member])
    return rest - float(np.median(rest))


def _members(keys: list[pd.Series]) -> list[NDArray[np.intp]]:
    """Return the rows of each group that is large enough for its median to be no row's own."""
    codes = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        found, names = pd.factorize(key)
        codes = codes * len(names) + found
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return [part for part in parts if len(part) >= _LEAST_GROUP]


def _jumps(sample: Sample, name: str, rows: pd.DataFrame, rest: FloatArray) -> Finding | None:
    spread = 1.4826 * float(np.median(np.abs(rest)))
    for factors, least, width in ((_THOUSANDS, 1, 1.4), (_SMALL, 2, 0.35)):
        for factor in factors:
            shift = math.log(factor)
            off = np.abs(rest - shift) < min(width, 0.25 * abs(shift))
            between = (rest / shift > 0.5) & ~off
            if not least <= off.sum() <= _MOST_SHARE * len(rows) or between.any():
                continue
            if abs(shift) < 6.0 * spread:
                continue
            large = factors is _THOUSANDS
            return Finding(
                check="units",
                code="unit_jumps",
                kind=Kind.CONTRADICTION if large else Kind.ODD,
                sureness=Sureness.VERY_LIKELY if large else Sureness.POSSIBLE,
                dataset=sample.name,
                quantities=(name,),
                numbers={
                    "n_rows": int(off.sum()),
                    "of_rows": len(rows),
                    "factor": float(np.exp(np.median(rest[off]))),
                },
                cells=cell_names(rows[off]),
            )
    return None
