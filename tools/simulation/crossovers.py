"""How often brackets hold the true place and shapes are wrong."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from copycost.analysis.stats.crossover import Outcome, crossover_of_rounds
from copycost.analysis.stats.ratios import t_quantile
from copycost.analysis.stats.settings import FloatArray, StatisticsSettings
from tools.simulation.noise import NOISES, log_ratio_noise
from tools.simulation.truths import Truth

LEVELS = (0.02, 0.08)
"""Median of the cells' standard deviations, of the logarithm of each side's throughput."""
SPREAD_OF_SPREADS = 0.5
"""Standard deviation of the logarithm of the cells' spreads, which differ as in real runs."""
ROUNDS = (3, 5, 7, 10)


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the runs of one kind, of whose sizes `n_ratios` have an interval.

    `n_ratios_held` of these hold the true ratio. Of `n_named` brackets, `n_held` are those at whose
    ends the truth has the signs that they say, so that it changes places between them. `n_claimed`
    runs have a shape; in `n_wrong` a size has another sign in truth than that says.
    """

    truth: str
    n_sizes: int
    noise: str
    level: float
    n_rounds: int
    n_runs: int
    n_ratios: int
    n_ratios_held: int
    n_named: int
    n_held: int
    n_claimed: int
    n_wrong: int


def simulate(
    truth: Truth, noise: str, level: float, n_rounds: int, n_runs: int, seed: int
) -> Counts:
    """Simulate comparisons of one truth; drift that hits both sides cancels, as for real."""
    rng = np.random.default_rng(
        [seed, n_rounds, round(level * 1000), list(NOISES).index(noise), len(truth.sizes)]
    )
    settings = StatisticsSettings(seed=seed)
    shape = (n_runs, len(truth.sizes), n_rounds)
    spreads = level * np.exp(rng.normal(0.0, SPREAD_OF_SPREADS, size=(*shape[:2], 1)))
    expected = np.array(truth.log_ratios)
    runs = expected[:, None] + spreads * log_ratio_noise(noise, rng, shape)
    signs = truth.signs
    n_named = n_held = n_claimed = n_wrong = 0
    for rounds in runs:
        logs = dict(zip(truth.sizes, rounds, strict=True))
        found = crossover_of_rounds(logs, truth.sizes, settings.confidence)
        if found.outcome is Outcome.UNDECIDED:
            continue
        n_claimed += 1
        n_wrong += any(sign not in (0, signs[size]) for size, sign in found.signs.items())
        for change in found.changes:
            n_named += 1
            before, after = signs[change.below_bytes], signs[change.above_bytes]
            n_held += (before, after) == ((-1, 1) if change.gains else (1, -1))
    held = ratios_held(runs, expected, settings)
    about = (truth.name, len(truth.sizes), noise, level, n_rounds, n_runs)
    return Counts(*about, held.size, int(held.sum()), n_named, n_held, n_claimed, n_wrong)


def ratios_held(
    runs: FloatArray, expected: FloatArray, settings: StatisticsSettings
) -> npt.NDArray[np.bool_]:
    """Return which intervals, as `paired_ratio` makes them, hold their true ratio."""
    n_rounds = runs.shape[2]
    half = t_quantile(1.0 - settings.tail, n_rounds - 1) * runs.std(axis=2, ddof=1)
    return np.asarray(np.abs(runs.mean(axis=2) - expected) <= half / math.sqrt(n_rounds))
