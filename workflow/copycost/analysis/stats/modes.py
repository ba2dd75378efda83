"""Do the repetitions of a cell fall into two clusters? Then one median tells of neither."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from copycost.analysis.stats.ratios import holm
from copycost.analysis.stats.settings import FloatArray, IntArray

METHOD = "largest gap over the spread within, against simulated noise with dips"
"""What the test is called, wherever a text names it."""

LEAST_APART = math.log(1.1)
"""Clusters closer than 10 % are of no matter, and are not looked for."""

_LEVELS = (1e-2, 1e-3, 1e-4)
# By repetitions, what the gap exceeds as often as that without two clusters: the largest over
# normal and t3 noise, and noise of which one in five dips, by 3, 10 or 30 times its spread on
# average. More than 20 repetitions need no more. `tools.simulate critical_gaps --seed 2`
# makes it; docs/method.md states what it holds.
_CRITICAL = {
    5: (17.8, 60.1, 145.5),
    6: (5.3, 11.1, 25.5),
    7: (4.9, 12.6, 30.5),
    8: (5.0, 14.2, 32.0),
    9: (5.8, 16.5, 33.9),
    10: (6.6, 18.2, 35.5),
    11: (7.5, 19.0, 36.9),
    12: (8.2, 20.4, 38.8),
    15: (10.0, 22.6, 39.8),
    20: (11.4, 24.1, 39.9),
}
# repetitions that agree better than this do so by rounding
_FINEST = 1e-4
FEWEST = 5
"""Repetitions from which on two clusters can be told from noise at all."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """The widest gap of each cell that may divide it; arrays of shape (n_cells,)."""

    n_lower: IntArray
    """Repetitions below the gap; 0 where there are too few repetitions."""
    statistic: FloatArray
    """Gap over the standard deviation within both clusters, pooled."""
    apart: FloatArray
    """Distance of the clusters' medians."""


SHARE_HELD = {2: 0.50, 3: 0.75, 4: 0.87}
"""By rounds, how often 95 % intervals of ratios hold the truth where one side has two clusters.

With few rounds all may be of the same one. The least of docs/method.md, by its simulation.
"""


def least_in_a_mode(n: int) -> int:
    """Return how many of `n` repetitions make a cluster: two of five, three of more.

    Two that dip to the same depth by chance are no rarity among six and more.
    """
    return 2 if n == FEWEST else 3


def widest_gaps(logs: FloatArray) -> Gaps:
    """Return where each cell of logarithms, shape (n_cells, n) without NaN, divides best."""
    n_cells, n = logs.shape
    found = Gaps(np.zeros(n_cells, np.int64), np.zeros(n_cells), np.zeros(n_cells))
    if n < FEWEST:
        return found
    ordered = np.sort(logs, axis=1)
    centred = ordered - ordered.mean(axis=1, keepdims=True)
    sums, squares = np.cumsum(centred, axis=1), np.cumsum(centred**2, axis=1)
    for below in range(least_in_a_mode(n), n - least_in_a_mode(n) + 1):
        gap = ordered[:, below] - ordered[:, below - 1]
        # both clusters together; the sum of all is 0
        within = squares[:, -1] - sums[:, below - 1] ** 2 * (1.0 / below + 1.0 / (n - below))
        spread = np.sqrt(np.maximum(within / (n - 2), _FINEST**2))
        statistic = gap / spread
        better = statistic > found.statistic
        found.n_lower[better] = below
        found.statistic[better] = statistic[better]
        middles = [np.median(part, axis=1) for part in np.split(ordered, [below], axis=1)]
        found.apart[better] = (middles[1] - middles[0])[better]
    return found


def gap_p_values(statistic: FloatArray, n: int) -> FloatArray:
    """Return how often noise without two clusters has such a gap, 1e-4 at least and 1 at most.

    Between the simulated levels it is a straight line over the logarithms of both.
    """
    if n < FEWEST:
        return np.ones(statistic.shape)
    near = [known for known in _CRITICAL if known <= n][-1:]
    near += [known for known in _CRITICAL if known > n][:1]
    # of the neighbours, the one that asks for more
    critical = np.max([_CRITICAL[known] for known in near], axis=0)
    with np.errstate(divide="ignore"):
        logs = np.log(statistic)
    p_values = np.exp(np.interp(logs, np.log(critical), np.log(_LEVELS)))
    return np.where(statistic < critical[0], 1.0, p_values)


def two_modes(cells: Sequence[FloatArray], confidence: float) -> list[int]:
    """Return how many repetitions of each cell are in the lower of its two clusters, or 0.

    Where no cell has two clusters, none is said to in at least `confidence` of the runs: the
    p-values are corrected (Holm) for all cells with enough repetitions. So of more than 500 cells
    none is ever said to, since p-values end at 1e-4. `cells` are logarithms, of which NaN is left
    out.
    """
    known = [logs[np.isfinite(logs)] for logs in cells]
    p_values, lower = np.full(len(known), np.nan), np.zeros(len(known), np.int64)
    for n in {logs.size for logs in known if logs.size >= FEWEST}:
        at = [index for index, logs in enumerate(known) if logs.size == n]
        gaps = widest_gaps(np.stack([known[index] for index in at]))
        p_values[at] = gap_p_values(gaps.statistic, n)
        lower[at] = np.where(gaps.apart >= LEAST_APART, gaps.n_lower, 0)
    told: list[int] = np.where(holm(p_values) <= 1.0 - confidence, lower, 0).tolist()
    return told
