"""Whether there are values that no two measurements would share."""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import THREADS
from copycost.audit.wording import cell_names
from copycost.stats.settings import FloatArray

_SETTINGS = frozenset({"duration", "copied_share", "bytes", "messages"})
_FINE = 5e-4
"""Relative step below which equal values are no matter of coarse digits."""

_COARSE = 5e-3
"""Likewise, where the pairs beside them tell how many of equal ones to expect."""

_CHANCE = 1e-3
_AT_THE_TOP = 2e-3
_BESIDE = 10.0


@dataclass(frozen=True, slots=True)
class Copies:
    """Cells whose repetitions are equal, of those with repetitions."""

    n_same: int
    n_cells: int
    cells: tuple[str, ...]


def check_repeats(sample: Sample, explained: Collection[str]) -> list[Finding]:
    """Return columns with equal values in different cells, or in repetitions of one."""
    copied: dict[str, Copies] = {}
    findings: list[Finding] = []
    for name in sample.quantities:
        if name in _SETTINGS or name in explained:
            continue
        copies = _equal_repetitions(sample, name)
        if copies is not None:
            copied[name] = copies
        elif (found := _equal_cells(sample, name)) is not None:
            findings.append(found)
    return [*([_copies_finding(sample, copied)] if copied else []), *findings]


def _equal_repetitions(sample: Sample, name: str) -> Copies | None:
    """Return the cells whose repetitions agree to the last of many digits, if those are many."""
    rows = sample.table.assign(_step=sample.resolution(name)).dropna(subset=[name])
    rows = rows[(rows[name] != 0) & (rows["_step"] < _FINE * rows[name].abs())]
    cells = rows.groupby(list(CELL))[name]
    several = cells.transform("size") > 1
    same = several & (cells.transform("min") == cells.transform("max"))
    n_cells = rows[several].groupby(list(CELL)).ngroups
    n_same = rows[same].groupby(list(CELL)).ngroups
    if n_same < 2 or 2 * n_same < n_cells:
        return None
    return Copies(n_same, n_cells, cell_names(rows[same]))


def _copies_finding(sample: Sample, copied: dict[str, Copies]) -> Finding:
    most = max(copied.values(), key=lambda copies: copies.n_same)
    return Finding(
        check="equal_repetitions",
        code="equal_repetitions",
        kind=Kind.NO_MEASUREMENT,
        sureness=Sureness.CERTAIN if most.n_same > 3 else Sureness.VERY_LIKELY,
        dataset=sample.name,
        quantities=tuple(copied),
        numbers={"n_same": most.n_same, "n_cells": most.n_cells},
        cells=most.cells,
    )


def _equal_cells(sample: Sample, name: str) -> Finding | None:
    """Return a finding if more cells share a value than chance would have it.

    Chance: pairs of values that fall into the same step of the column's resolution, were they
    spread evenly over their range on a log scale.
    """
    rows = sample.table.assign(_step=sample.resolution(name)).dropna(subset=[name])
    rows = rows[rows[name] > 0].drop_duplicates(list(CELL))
    if len(rows) < 4:
        return None
    constant = rows[name].nunique() == 1
    if not constant:
        rows = _off_the_top(rows, name)
    values = rows[name].to_numpy(dtype=np.float64)
    steps = rows["_step"].to_numpy(dtype=np.float64)
    if len(values) < 4 or not (steps > 0.0).any():
        return None
    relative = float(np.median(steps / values))
    spread = float(np.log(values).std())
    if not 0.0 < relative < (_FINE if constant else _COARSE):
        return None
    shared = pd.Series(values).duplicated(keep=False).to_numpy()
    n_pairs = sum(n * (n - 1) // 2 for n in pd.Series(values).value_counts())
    if not n_pairs:
        return None
    bins = max(2.0 * math.sqrt(3.0) * spread / max(relative, 1e-12), 1.0)
    expected = max(len(values) * (len(values) - 1) / 2.0 / bins, _by_neighbours(values, steps))
    if not constant and _poisson_tail(n_pairs, expected) > _CHANCE:
        return None
    return Finding(
        check="equal_cells",
        code="all_cells_equal" if constant else "cells_equal",
        kind=Kind.NO_MEASUREMENT if constant else Kind.ODD,
        sureness=Sureness.VERY_LIKELY if constant or n_pairs > 3 else Sureness.POSSIBLE,
        dataset=sample.name,
        quantities=(name,),
        numbers={
            "n_sharing": int(shared.sum()),
            "n_cells": len(values),
            "n_tables": round(1.0 / _CHANCE),
        },
        cells=() if constant else cell_names(rows[shared]),
    )


def _off_the_top(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Leave out the cells at a limit: of the link, or of the CPUs that the threads have."""
    top: pd.Series | float = math.inf
    if name == "throughput":
        top = float(rows[name].max())
    elif name in ("cycles", "cpu_time"):
        top = rows.groupby(THREADS)[name].transform("max")
    below: pd.DataFrame = rows.loc[rows[name] < top * (1.0 - _AT_THE_TOP)]
    return below


def _by_neighbours(values: FloatArray, steps: FloatArray) -> float:
    """Return how many pairs would share a step, were they as frequent as those some steps apart."""
    ordered = np.sort(values)
    width = _BESIDE * float(np.median(steps / values)) * ordered
    near = np.searchsorted(ordered, ordered + width, "right") - np.searchsorted(
        ordered, ordered, "right"
    )
    return float(near.sum()) / _BESIDE


def _poisson_tail(n: int, expected: float) -> float:
    """Return the chance of at least `n` where `expected` is the mean."""
    below = sum(math.exp(-expected + k * math.log(max(expected, 1e-300)) - math.lgamma(k + 1))
                for k in range(n))  # fmt: skip
    return max(1.0 - below, 0.0)
