"""Repetitions that are pairs: slices of two ways in turn, over several starts of the programs."""

from collections.abc import Iterator

import numpy as np

from copycost.stats.settings import FloatArray, StatisticsSettings
from tools.simulation.crossovers import ratios_held
from tools.simulation.groups import Share
from tools.simulation.noise import DRIFT, NOISES

REPETITIONS = (3, 4, 5, 6, 7, 8, 10)
STARTS = (1, 2, 4)
"""Starts of the programs in a repetition."""
_RUNS = 200
"""Simulated cells for each run of the others: they take no more time."""
_PAIRS = 10
"""Slices of either way in a start."""
_SLICE, _START = 0.1, 0.1
"""Standard deviations of the log ratio: of a pair of slices, and from start to start.

So the mean of a start's slices scatters by about half as much as starts differ, as on a quiet host.
"""
_LAWS = tuple(name for name in NOISES if name != DRIFT)


def pairs(n_runs: int, settings: StatisticsSettings) -> Iterator[Share]:
    """Yield how often the interval of a ratio holds the truth, by what starts differ by."""
    rng = np.random.default_rng([settings.seed, 4])
    for n_starts in STARTS:
        for law in _LAWS:
            for n in REPETITIONS:
                logs = _log_ratios(rng, law, (_RUNS * n_runs, n, n_starts))
                held = ratios_held(logs[:, None], np.zeros(1), settings)
                what = f"{n_starts} start{'s' * (n_starts > 1)} in a repetition"
                yield Share(what, law, n, len(held), int(held.sum()), is_so=True)


def _log_ratios(rng: np.random.Generator, law: str, shape: tuple[int, int, int]) -> FloatArray:
    """Return what repetitions come to: shape (cells, repetitions, starts) without the last axis.

    Each start has an effect of its own, and slices that take after the ones before them; the truth
    is 0, the mean of all starts that there might be.
    """
    slices = NOISES[DRIFT](rng, (*shape, _PAIRS)).mean(axis=-1)
    logs: FloatArray = (_START * NOISES[law](rng, shape) + _SLICE * slices).mean(axis=-1)
    return logs
