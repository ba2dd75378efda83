"""Repetitions that are not what one gets by measuring again and again."""

import math
from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd
from scipy import special

from copycost.audit.dataset import CELL
from copycost.audit.plausibility.finding import Finding, Kind, Sureness
from copycost.audit.plausibility.sample import Sample
from copycost.audit.quantities import REP
from copycost.audit.wording import cell_names
from copycost.stats.settings import FloatArray

_LEFT_OUT = frozenset({"duration", "bytes", "messages", "copied_share", "instructions"})
"""What is set, or follows from the program alone and so hardly differs from run to run."""

_CHANCE = 1e-6
_FINE = 1e-3
_LEAST_CELLS = 6
_LITTLE = 0.004
"""Relative spread within a cell below which a busy host would be quieter than any."""

_SCALE = 20.0
"""Hits are expected in proportion to what lies within so many times the tolerance."""


def check_repetitions(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Yield what speaks against repetitions being measured one by one."""
    names = [name for name in sample.quantities if name not in _LEFT_OUT | set(explained)]
    wide = {name: _wide(sample, name) for name in names}
    wide = {name: found for name, found in wide.items() if len(found) >= _LEAST_CELLS}
    yield from _sorted_ones(sample, wide)
    yield from _even_ones(sample, wide)
    for name, cells in wide.items():
        yield from _means(sample, name, cells)
    yield from _cumulative(sample, explained)


def _wide(sample: Sample, name: str) -> pd.DataFrame:
    """Return the values of a quantity, a row per cell with at least two, a column per round."""
    known = sample.table.dropna(subset=[name])
    known = known[known[name] > 0.0]
    if known.empty:
        return pd.DataFrame()
    wide = known.pivot(index=list(CELL), columns=REP, values=name)
    return wide[wide.notna().sum(axis=1) >= 2]


def _sorted_ones(sample: Sample, wide: dict[str, pd.DataFrame]) -> Iterator[Finding]:
    """Find repetitions in ascending or descending order in more cells than chance has it."""
    for name, cells in wide.items():
        whole = cells.dropna()
        n_rounds = whole.shape[1]
        if len(whole) < _LEAST_CELLS or n_rounds < 3:
            continue
        # What all cells of a round share, such as a host that grows warm, is no order of a cell.
        logs = np.log(whole.to_numpy(dtype=np.float64))
        steps = np.diff(logs - np.median(logs - logs.mean(axis=1, keepdims=True), axis=0))
        plain = np.diff(logs)
        for sign in (1.0, -1.0):
            n_sorted = min(int((sign * d > 0).all(axis=1).sum()) for d in (plain, steps))
            n_plain = int((sign * plain > 0).all(axis=1).sum())
            chance = 1.0 / math.factorial(n_rounds)
            tail = float(special.bdtrc(n_sorted - 1, len(whole), chance)) if n_sorted else 1.0
            every = n_plain == len(whole) and chance ** len(whole) < _CHANCE
            if tail < _CHANCE or every:
                yield Finding(
                    check="sorted_repetitions",
                    code="sorted_repetitions",
                    kind=Kind.ODD,
                    sureness=Sureness.VERY_LIKELY if tail < _CHANCE else Sureness.POSSIBLE,
                    dataset=sample.name,
                    quantities=(name,),
                    numbers={
                        "n_sorted": n_plain,
                        "n_cells": len(whole),
                        "n_rounds": n_rounds,
                        "expected": len(whole) * chance,
                        "rises": sign > 0.0,
                    },
                )


def _even_ones(sample: Sample, wide: dict[str, pd.DataFrame]) -> Iterator[Finding]:
    """Find columns that differ by the same little in every cell, as added noise does."""
    even: list[str] = []
    widths: list[float] = []
    for name, cells in wide.items():
        logs = np.log(cells.to_numpy(dtype=np.float64))
        spread = np.nanstd(logs, axis=1, ddof=1)
        of_cells = float(np.nanstd(np.nanmean(logs, axis=1)))
        coarse = sample.relative_step(name) > _FINE
        if len(cells) < 2 * _LEAST_CELLS or coarse or of_cells < 0.1:
            continue
        width = float(np.sqrt(np.mean(spread**2)))
        if 0.0 < width < _LITTLE and _is_homogeneous(spread, np.isfinite(logs).sum(axis=1)):
            even.append(name)
            widths.append(width)
    if len(even) >= 1:
        yield Finding(
            check="even_repetitions",
            code="even_repetitions",
            kind=Kind.ODD,
            sureness=Sureness.VERY_LIKELY if len(even) > 1 else Sureness.POSSIBLE,
            dataset=sample.name,
            quantities=tuple(even),
            numbers={"spread": float(np.median(widths))},
        )


def _is_homogeneous(spread: FloatArray, n_values: FloatArray) -> bool:
    """Tell whether the spreads of cells differ no more than samples of one spread do.

    Bartlett's statistic, Proc. Royal Society A 160, 1937; a zero spread is taken for a tiny one.
    """
    free = n_values - 1.0
    variance = np.maximum(spread, 1e-3 * float(np.median(spread)) + 1e-100) ** 2
    pooled = float((free * variance).sum() / free.sum())
    statistic = float((free * (math.log(pooled) - np.log(variance))).sum())
    correction = 1.0 + (float((1.0 / free).sum()) - 1.0 / free.sum()) / (3.0 * (len(free) - 1))
    return float(special.chdtrc(len(free) - 1, statistic / correction)) > 0.001


def _means(sample: Sample, name: str, cells: pd.DataFrame) -> Iterator[Finding]:
    """Find values that are the mean of the other repetitions of their cell."""
    values = cells.to_numpy(dtype=np.float64)
    n_values = np.isfinite(values).sum(axis=1, keepdims=True)
    values = values[n_values[:, 0] >= 3]
    n_values = n_values[n_values[:, 0] >= 3]
    if len(values) < 3:
        return
    others = (np.nansum(values, axis=1, keepdims=True) - values) / (n_values - 1)
    step = sample.relative_step(name)
    off = np.abs(values / others - 1.0)
    same = np.nanmax(values, axis=1) == np.nanmin(values, axis=1)
    off = off[~same]
    tolerance = max(0.75 * step, 1e-9)
    known = np.isfinite(off)
    if tolerance > _FINE or not known.any():
        return
    n_hits = int((off[known] <= tolerance).sum())
    near = int((off[known] <= _SCALE * tolerance).sum())
    expected = max((near - n_hits) / (_SCALE - 1.0), known.sum() * tolerance / 0.1)
    if n_hits < 2 or float(special.pdtrc(n_hits - 1, expected)) > _CHANCE:
        return
    hit = (off <= tolerance).any(axis=1)
    found = cells[(cells.notna().sum(axis=1) >= 3).to_numpy()][~same][hit]
    yield Finding(
        check="mean_repetitions",
        code="mean_repetitions",
        kind=Kind.ODD,
        sureness=Sureness.VERY_LIKELY,
        dataset=sample.name,
        quantities=(name,),
        numbers={"n_hits": n_hits, "n_values": int(known.sum()), "expected": expected},
        cells=cell_names(found.index.to_frame(index=False)),
    )


_COUNTED = ("bytes", "messages", "cycles", "instructions", "l1d_misses", "llc_misses",
            "cache_misses", "context_switches", "cpu_time")  # fmt: skip
_LEAST_IN_A_ROW = 12


def _cumulative(sample: Sample, explained: Collection[str]) -> Iterator[Finding]:
    """Find counters that only rise along the file, as one does that is never set back."""
    for name in _COUNTED:
        if name not in sample.quantities or name in explained:
            continue
        values = sample.table[name].dropna().to_numpy(dtype=np.float64)
        if len(values) < _LEAST_IN_A_ROW or not (np.diff(values) > 0.0).all():
            continue
        # Sorted by what they count, as in a table with one row per size, they rise as well.
        keys = sample.table.loc[sample.table[name].notna(), list(CELL)]
        if _starts_anew(keys):
            yield Finding("cumulative", "cumulative", Kind.IMPOSSIBLE, Sureness.VERY_LIKELY,
                          sample.name, (name,), {"n_rows": len(values)})  # fmt: skip


def _starts_anew(keys: pd.DataFrame) -> bool:
    """Tell whether sizes, threads or repetitions go back several times along the rows."""
    back = sum(int((keys[name].diff() < 0).sum()) for name in ("msg_bytes", "n_threads"))
    again = int((keys.ne(keys.shift()).sum(axis=1) == 0).sum())
    return back + again >= 3
