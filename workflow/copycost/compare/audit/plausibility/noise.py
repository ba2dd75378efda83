"""Noise that measurements do not have: too little, too even, sorted, or none between neighbours."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import special  # scipy.stats takes a second to import, which a small audit feels

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.dataset import CELL
from copycost.compare.audit.plausibility.sample import (
    CHANCE,
    GIVEN,
    Finding,
    Kind,
    Sample,
    by_chance,
    solve,
)

_FIXED = GIVEN | {"instructions", "instructions_per_byte", "instructions_per_message", "cpu_time"}
"""What is set, follows from the program alone, or is what all CPUs can give."""

_LEAST_SPREAD = 0.2
"""Standard deviation, or range, of logarithms below which a curve is flat, and tells nothing."""

_WIDER = 20.0
"""Hits are expected in proportion to what lies within so many times the tolerance."""


def _logs(sample: Sample, name: str, index: list[str], columns: str) -> pd.DataFrame:
    known = sample.table[sample.table[name] > 0.0]
    return known.pivot(index=index, columns=columns, values=name).map(math.log)


# One implementation's values as another's times a number, with a little noise put on top.

_LEAST_PAIRS = 8
_QUIET = 0.0025
_SMALL_PART = 0.35
"""Of the noise within cells that the noise between implementations is, at most."""

_ANOTHER = 0.01
"""Two names of one program may differ by nothing; a factor further from 1 is another program's."""


def check_jitter(sample: Sample) -> Iterator[Finding]:
    """Yield implementations that keep to another's values more closely than noise lets them."""
    for name in sample.measured(_FIXED, 2 * _QUIET):
        logs = _logs(sample, name, ["msg_bytes", "n_threads", "rep"], "implementation")
        within = _noise_within(logs)
        most = _QUIET if within is None else min(_SMALL_PART * within, 4.0 * _QUIET)
        for first, second in itertools.combinations(logs, 2):
            pair = logs[[first, second]].dropna()
            ratio = pair[second] - pair[first]
            typical = float(ratio.median())
            width = math.sqrt(((ratio - typical) ** 2).mean())
            is_another = abs(typical) >= _ANOTHER and pair[first].std(ddof=0) >= _LEAST_SPREAD
            if len(pair) >= _LEAST_PAIRS and width < most and is_another:
                yield sample.found(
                    "multiple_and_noise", name, kind=Kind.ODD if within is None else None,
                    implementation=second, other=first, factor=math.exp(typical),
                    width=max(width, 1e-06), n_pairs=len(pair), within=within,
                )  # fmt: skip


def _noise_within(logs: pd.DataFrame) -> float | None:
    """Return the usual spread within a cell, without what all cells of a round share."""
    cells = logs.groupby(["msg_bytes", "n_threads"])
    rest = logs - cells.transform("mean")
    rest = rest.sub(rest.groupby("rep").transform("median").median(axis=1), axis=0)
    counts = cells.transform("count")
    values = (rest * np.sqrt(counts / (counts - 1.0))).where(counts > 1).abs().to_numpy()
    values = values[np.isfinite(values)]
    return 1.4826 * float(np.median(values)) if len(values) else None


# Repetitions that are not what one gets by measuring again and again.

_FINE = 1e-3
_LEAST_CELLS = 6
_LITTLE = 0.004
"""Relative spread within a cell below which a busy host would be quieter than any."""


def check_repetitions(sample: Sample) -> Iterator[Finding]:
    """Yield what speaks against repetitions being measured one by one."""
    even: dict[str, float] = {}
    # Instructions follow from the program alone, and so hardly differ from run to run.
    for name in sample.measured(GIVEN | {"instructions"}):
        logs = _logs(sample, name, list(CELL), "rep")
        logs = logs[logs.count(axis=1) >= 2]
        if len(logs) < _LEAST_CELLS:
            continue
        yield from _sorted_ones(sample, name, logs.dropna().to_numpy())
        yield from _means(sample, name, logs)
        width = float(np.sqrt((logs.std(axis=1) ** 2).mean()))
        is_fine = sample.relative_step(name) <= _FINE and len(logs) >= 2 * _LEAST_CELLS
        if is_fine and 0.0 < width < _LITTLE and _is_even(logs):
            even[name] = width
    if even:
        yield sample.found("even_repetitions", *even, spread=float(np.median([*even.values()])))


def _sorted_ones(sample: Sample, name: str, logs: FloatArray) -> Iterator[Finding]:
    """Find repetitions in ascending or descending order in more cells than chance has it."""
    n_cells, n_rounds = logs.shape
    if n_cells < _LEAST_CELLS or n_rounds < 3:
        return
    # What all cells of a round share, such as a host that grows warm, is no order of a cell.
    shared = np.median(logs - logs.mean(axis=1, keepdims=True), axis=0)
    share = 1.0 / math.factorial(n_rounds)
    for sign in (1.0, -1.0):
        n_plain, n_own = (int((sign * np.diff(values) > 0).all(axis=1).sum())
                          for values in (logs, logs - shared))  # fmt: skip
        tail = by_chance(min(n_plain, n_own), n_cells * share, n_cells)
        if tail < CHANCE or (n_plain == n_cells and share**n_cells <= CHANCE):
            yield sample.found(
                "sorted_repetitions", name, n_sorted=n_plain, n_cells=n_cells,
                n_rounds=n_rounds, expected=n_cells * share, rises=sign > 0.0,
            )  # fmt: skip


def _is_even(logs: pd.DataFrame) -> bool:
    """Tell whether the spreads of cells differ no more than samples of one spread do.

    By Bartlett's statistic, Proc. Royal Society A 160, 1937; a zero spread is taken for a tiny one.
    """
    spread, free = logs.std(axis=1).to_numpy(), logs.count(axis=1).to_numpy() - 1.0
    variance = np.maximum(spread, 1e-3 * float(np.median(spread)) + 1e-100) ** 2
    pooled = (free * variance).sum() / free.sum()
    statistic = (free * np.log(pooled / variance)).sum()
    correction = 1.0 + ((1.0 / free).sum() - 1.0 / free.sum()) / (3.0 * (len(free) - 1))
    is_homogeneous = special.chdtrc(len(free) - 1, statistic / correction) > 0.001
    return bool(is_homogeneous and logs.mean(axis=1).std(ddof=0) >= 0.1)


def _means(sample: Sample, name: str, logs: pd.DataFrame) -> Iterator[Finding]:
    """Find values that are the mean of the other repetitions of their cell."""
    cells = logs[logs.count(axis=1) >= 3].map(math.exp)
    tolerance = max(0.75 * sample.relative_step(name), 1e-9)
    if len(cells) < 3 or tolerance > _FINE:
        return
    cells = cells[cells.max(axis=1) != cells.min(axis=1)]
    others = cells.rsub(cells.sum(axis=1), axis=0).div(cells.count(axis=1) - 1, axis=0)
    off = (cells / others - 1.0).abs()
    hits, known = off <= tolerance, int(off.count().sum())
    n_hits, near = int(hits.sum().sum()), int((off <= _WIDER * tolerance).sum().sum())
    expected = max((near - n_hits) / (_WIDER - 1.0), known * tolerance / 0.1)
    if n_hits >= 2 and by_chance(n_hits, expected) <= CHANCE:
        rows = cells[hits.any(axis=1)].index.to_frame(index=False)
        yield sample.found("mean_repetitions", name, rows=rows, n_hits=n_hits, n_values=known,
                           expected=expected)  # fmt: skip


# Curves that no measurement gives: too smooth for any noise, or drawn between other points.

_LEAST_SIZES = 5
_LEAST_FREE = 8
_QUIETEST = 0.0015
"""Relative noise below which nobody measures a socket; see docs/audit.md."""


def check_smooth(sample: Sample) -> Iterator[Finding]:
    """Yield the columns that are smooth curves along the sizes."""
    for name in sample.measured(_FIXED):
        means = sample.means(name)
        means = means[means[name] > 0.0]
        curves = [
            cells[["msg_bytes", name]].to_numpy(dtype=np.float64).T
            for _, cells in means.groupby(["implementation", "n_threads"])
            if len(cells) >= _LEAST_SIZES and np.ptp(np.log(cells[name])) >= _LEAST_SPREAD
        ]
        if curves and (means["step"] / means[name]).median() < 2.0 * _QUIETEST:
            squares, free = map(sum, zip(*itertools.starmap(_left_over, curves), strict=True))
            width = math.sqrt(squares / free)
            if free >= _LEAST_FREE and width <= _QUIETEST:
                yield sample.found("smooth", name, width=max(width, 1e-06),
                                   n_cells=sum(curve.shape[1] for curve in curves))  # fmt: skip


def _left_over(size: FloatArray, values: FloatArray) -> tuple[float, int]:
    """Return the squares that the best of some smooth curves leaves, and how many are free.

    The curves: a fixed cost and one per byte, in time per message, in a rate, in a cost per byte or
    in a total; and a parabola on logarithmic axes.
    """
    curves = [(np.column_stack([1.0 / form, size / form]), np.ones_like(size))
              for form in (values, size / values, values * size, values / size)]  # fmt: skip
    curves.append((np.vander(np.log(size) - np.log(size).mean(), 3), np.log(values)))
    left = [(float(((wanted - matrix @ solve(matrix, wanted)) ** 2).sum()),
             len(size) - matrix.shape[1]) for matrix, wanted in curves]  # fmt: skip
    return min(left, key=lambda squares_free: squares_free[0] / squares_free[1])


_FINE_POINTS = 5e-4
"""Relative step of digits that tell a value from one between two others."""

_FLAT = 0.02
_LOG_CHANCE = -5.0


def check_interpolated(sample: Sample) -> Iterator[Finding]:
    """Yield cells that are, in several columns or several times, just between two neighbours."""
    rows = sample.table.sort_values(["implementation", "n_threads", "rep", "msg_bytes"])
    by = [rows[key] for key in ("implementation", "n_threads", "rep")]
    sizes = rows["msg_bytes"].astype(np.float64)
    first, last = sizes.groupby(by).shift(1), sizes.groupby(by).shift(-1)
    weights = ((sizes - first) / (last - first), np.log(sizes / first) / np.log(last / first), 0.5)
    # logarithms of the chances of hits, by row and column
    chances = pd.DataFrame(index=rows.index)
    for name in sample.measured(_FIXED, _FINE_POINTS):
        values = rows[name].where(rows[name] > 0.0)
        before, after = values.groupby(by).shift(1), values.groupby(by).shift(-1)
        lines = (before + weight * (after - before) for weight in weights)
        off = pd.concat([(values / line - 1.0).abs() for line in lines], axis=1).min(axis=1)
        off = off[(after / before - 1.0).abs() > _FLAT]
        tolerance = max(0.6 * sample.relative_step(name), 1e-9) + 1e-9
        hit = off.index[off <= tolerance]
        if len(off) >= 2 and len(hit):
            near = int((off <= _WIDER * tolerance).sum()) - len(hit)
            expected = max(near / (_WIDER - 1.0), 1.0 / _WIDER, len(off) * 20 * tolerance)
            chances.loc[hit, name] = math.log10(min(expected / len(off), 1.0))
    # Each row might have been one of them.
    each, together = math.log10(max(len(rows), 2)), chances.sum(axis=1)
    found = together < _LOG_CHANCE - each
    if not found.any():
        found = together < 0.0
        found &= together.sum() + found.sum() * each <= _LOG_CHANCE
    if found.any():
        concerned = map(str, chances.columns[chances[found].notna().any()])
        yield sample.found("interpolated", *concerned, rows=rows[found], n_rows=int(found.sum()))
