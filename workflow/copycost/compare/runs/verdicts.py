"""What may be said of each cell, of groups of cells and of all together."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from copycost.analysis.stats.differences import (
    LogDifference,
    pooled_difference,
    welch_difference,
    with_run_spread,
)
from copycost.analysis.stats.ratios import holm
from copycost.compare.runs.results import CELL, Cell, Sides, round_means, run_mean

CONFIDENCE = 0.95
_VAGUE = 20.0
"""A factor between the ends of an interval by which it says that no difference could be seen."""


@dataclass(frozen=True, slots=True)
class RunSpread:
    """By how much two runs of the same thing differ beyond what their rounds tell.

    Standard deviations of the logarithm of a run's mean: of a `cell`, and of the geometric mean of
    the `whole`. Few degrees of `freedom` allow for cells with a larger one.
    """

    cell: float
    whole: float
    freedom: float

    def of_group(self, n_cells: int) -> float:
        """Return it for the mean of some cells, which share what moves all of them."""
        own = max(self.cell**2 - self.whole**2, 0.0)
        return math.sqrt(self.whole**2 + own / n_cells)


MEASURED_SPREAD = RunSpread(cell=0.065, whole=0.025, freedom=5)
"""Of single runs, where nobody says by how much theirs differ: the most of the three quantities in
six runs of the same thing on a busy virtual machine, see docs/between_runs.md."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said of a ratio, B over A, from so many runs or rounds of either side.

    The error of the difference is no less than the median of those tested with it; `p_holm` is
    two-sided, corrected for all of them, and NaN without an interval; the `sign` is not 0 where the
    ratio stands after that. At the ends of the `widened` interval all hold their ratios together.
    """

    found: LogDifference
    p_holm: float
    sign: int
    widened: tuple[float, float]
    n_a: int
    n_b: int


@dataclass(frozen=True)
class Judgement:
    """Everything that is said of one quantity; Holm's correction is for the number of cells.

    The `unit` is what is taken to be independent: ``runs``, where a side has several; else the
    ``rounds`` of two runs. Of `ways` (condition and implementation), `sizes` and the `whole` it is
    said of the geometric means of their cells, corrected for the number of ways and sizes together;
    these are empty where there is one only. Where some cells or groups stand above 1 and others
    below, that contradicts: no single ratio is one of the whole.
    """

    unit: str
    cells: Mapping[Cell, Verdict]
    ways: Mapping[tuple[str, str], Verdict]
    sizes: Mapping[tuple[int], Verdict]
    whole: Verdict
    contradicts: bool


def share_shown(ends: tuple[float, float]) -> float:
    """Return by which share a ratio must be above 1 to be shown by an interval as wide as this.

    Infinite where that is no interval to a reader.
    """
    low, high = ends
    return math.sqrt(high / low) - 1.0 if low > 0.0 and high / low <= _VAGUE else math.inf


def judge(sides: Sides, spread: RunSpread) -> Judgement:
    """Return the verdicts of one quantity, of at least one cell.

    The spread is taken into account where both sides are single runs.
    """
    unit = "runs" if len(sides.a) + len(sides.b) > 2 else "rounds"

    def judged(groups: Iterable[Sequence[int]]) -> list[Verdict]:
        return _judged([_difference(sides, columns, unit, spread) for columns in groups])

    ways = _groups(sides.cells, "condition", "implementation")
    sizes = dict(sorted(_groups(sides.cells, "msg_bytes").items()))
    everything = range(len(sides.cells))
    per_cell = judged([column] for column in everything)
    per_group = judged([*ways.values(), *sizes.values()])
    signs = {one.sign for one in (*per_cell, *per_group)}
    return Judgement(
        unit=unit,
        cells=dict(zip(sides.cells, per_cell, strict=True)),
        ways=dict(zip(ways, per_group[: len(ways)], strict=True)),
        sizes=dict(zip(sizes, per_group[len(ways) :], strict=True)),
        whole=judged([everything])[0],
        contradicts={-1, 1} <= signs,
    )


def _groups(cells: Sequence[Cell], *names: str) -> dict[tuple[Any, ...], list[int]]:
    """Return the columns of cells that are alike by these names; nothing where all are."""
    found = defaultdict(list)
    for column, cell in enumerate(cells):
        found[tuple(cell[CELL.index(name)] for name in names)].append(column)
    return found if len(found) > 1 else {}


def _difference(
    sides: Sides, columns: Sequence[int], unit: str, spread: RunSpread
) -> tuple[LogDifference, int, int]:
    """Return the difference of some cells, and the number of values of either side."""
    if unit == "runs":
        a, b = (np.array([run_mean(run, columns) for run in runs]) for runs in (sides.a, sides.b))
        return pooled_difference(a, b), a.size, b.size
    a, b = round_means(sides.a[0], columns), round_means(sides.b[0], columns)
    of_runs = spread.cell if len(columns) == 1 else spread.of_group(len(columns))
    found = with_run_spread(welch_difference(a, b), of_runs, spread.freedom)
    return found, a.size, b.size


def _judged(compared: Sequence[tuple[LogDifference, int, int]]) -> list[Verdict]:
    """Return the verdicts of differences that are tested together.

    A few runs may agree by chance, above all where a machine has two states, and Student's t would
    then be sure of anything. So no difference is taken to be surer than half of them are.
    """
    errors = [one.error for one, _, _ in compared if one.has_interval]
    least = float(np.median(errors)) if errors else 0.0
    found = [
        (replace(one, error=max(one.error, least)) if one.has_interval else one, n_a, n_b)
        for one, n_a, n_b in compared
    ]
    p_values = np.array([one.p_value for one, _, _ in found], dtype=np.float64)
    corrected = holm(p_values)
    tested = max(int(np.isfinite(p_values).sum()), 1)
    widened = 1.0 - (1.0 - CONFIDENCE) / tested
    signs = np.sign([one.mean for one, _, _ in found]) * (corrected < 1.0 - CONFIDENCE)
    return [
        Verdict(one, float(p_holm), int(sign), one.interval(widened), n_a, n_b)
        for (one, n_a, n_b), p_holm, sign in zip(found, corrected, signs, strict=True)
    ]


def spread_of_runs(sides: Sides) -> RunSpread | None:
    """Return what the runs of a side differ by beyond what their rounds tell.

    None where neither side has several runs; one side may have none. Of the cells, the median of
    their variances from run to run is made the middle of what so few runs of one and the same
    spread have (a chi-squared distribution), and the part that the scatter of the rounds makes of
    it is taken off.
    """
    freedom = sum(len(runs) - 1 for runs in (sides.a, sides.b) if runs)
    if freedom < 1:
        return None
    everything = range(len(sides.cells))
    of_cells = np.array([_variances(sides, [column], freedom) for column in everything])
    between, within = np.median(of_cells, axis=0)
    middle = float(special.chdtri(freedom, 0.5)) / freedom
    whole_between, whole_within = _variances(sides, everything, freedom)
    cell, whole = between / middle - within, whole_between - whole_within
    return RunSpread(math.sqrt(max(cell, 0.0)), math.sqrt(max(whole, 0.0)), freedom)


def _variances(sides: Sides, columns: Sequence[int], freedom: int) -> tuple[float, float]:
    """Return the variance of the runs of a side, and what the scatter of their rounds makes of it.

    Both are of the mean logarithm of a run over some cells.
    """
    squares = 0.0
    of_rounds = []
    for runs in filter(None, (sides.a, sides.b)):
        means = np.array([run_mean(run, columns) for run in runs])
        squares += float(np.square(means - means.mean()).sum())
        for run in runs:
            logs = round_means(run, columns)
            if logs.size > 1:
                of_rounds.append(float(logs.var(ddof=1)) / logs.size)
    return squares / freedom, float(np.mean(of_rounds)) if of_rounds else 0.0
