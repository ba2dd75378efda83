"""Did anything move with the rounds of a run? A test over the cells, and the path it took."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from copycost.stats.settings import FloatArray

METHOD = "Friedman's test, by permutation of the rounds within each cell"
"""What the test is called, wherever a text names it."""

_DRAWS = 999


@dataclass(frozen=True, slots=True)
class Drift:
    """What the rounds of a run did to all cells together.

    Attributes
    ----------
    path
        Per round the geometric mean over the cells, as a ratio to that of the first round.
    p_value
        Of "the order of the rounds is chance in every cell".
    """

    path: FloatArray
    p_value: float

    @property
    def is_monotone(self) -> bool:
        """Tell whether each step of the path goes the same way."""
        steps = np.diff(self.path)
        return bool((steps > 0.0).all() or (steps < 0.0).all())


def drift_over_rounds(logs: FloatArray, seed: int) -> Drift:
    """Return how the rounds differ, from the logarithms of all cells.

    Within a cell only the order of its rounds counts, so neither heavy tails nor cells of different
    spread matter. Permutations rather than the chi-squared approximation, which raises false alarms
    in 7 % at 12 cells and 3 rounds.

    Parameters
    ----------
    logs
        Shape (n_cells, n_rounds), at least one cell and two rounds, no NaN.
    seed
        Of the permutations.

    Source
    ------
    M. Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of
    variance, J. American Statistical Association 32 (1937).
    """
    means = logs.mean(axis=0)
    ranks = stats.rankdata(logs, axis=1)
    rng = np.random.default_rng([seed, *logs.shape])
    seen = _spread(ranks)
    # half a step below it, since sums of halves are exact and ties with it count
    n_as_far = sum(_spread(rng.permuted(ranks, axis=1)) >= seen - 0.25 for _ in range(_DRAWS))
    return Drift(np.exp(means - means[0]), (1 + n_as_far) / (1 + _DRAWS))


def _spread(ranks: FloatArray) -> float:
    """Return Friedman's statistic, as far as it depends on the order within the cells."""
    return float(np.square(ranks.sum(axis=0)).sum())
