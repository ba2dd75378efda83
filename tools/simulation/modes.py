"""How often noise is taken for two clusters of repetitions, and two clusters are found.

And the table of `copycost.analysis.stats.modes`, which is made from a million cells of each kind of
noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from copycost.analysis.stats.modes import LEAST_APART, gap_p_values, widest_gaps
from copycost.analysis.stats.ratios import t_quantile
from copycost.analysis.stats.settings import FloatArray
from tools.simulation.noise import Noise

CONFIDENCE = 0.95
N_CELLS = 84
ROUNDS = (2, 3, 4, 5, 7, 9, 12)
TABLED = (5, 6, 7, 8, 9, 10, 11, 12, 15, 20)


def dips(depth: float, share: float = 0.2) -> Noise:
    """Return normal noise of which a share dips, by an exponentially distributed depth."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        dipped = rng.random(shape) < share
        return rng.normal(size=shape) - dipped * rng.exponential(depth, shape)

    return draw


def two_clusters(apart: float) -> Noise:
    """Return two equally frequent clusters, so many standard deviations apart."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return rng.normal(size=shape) + apart * (rng.random(shape) < 0.5)

    return draw


CALIBRATED: dict[str, Noise] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "Student's t, 3 degrees": lambda rng, shape: rng.standard_t(3, shape),
    "one in five dips, by 3 spreads": dips(3.0),
    "one in five dips, by 10 spreads": dips(10.0),
    "one in five dips, by 30 spreads": dips(30.0),
}
"""What the critical values are made from."""

OTHER: dict[str, Noise] = {
    "Laplace": lambda rng, shape: rng.laplace(size=shape),
    "log-normal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "two in five dip, by 10 spreads": dips(10.0, 0.4),
    "one in five dips, by 100 spreads": dips(100.0),
}
"""Noise that they are not made from."""

CLUSTERS = (10.0, 20.0, 50.0, 100.0)
"""Distances of two clusters, in their standard deviations."""


def _stand(cells: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which cells, shape (n_cells, n), have two clusters if each is the likeliest.

    What Holm's correction asks of the likeliest of `N_CELLS`; without one such, none is said to.
    """
    gaps = widest_gaps(cells)
    p_values = gap_p_values(gaps.statistic, cells.shape[1])
    return (p_values * N_CELLS <= 1.0 - CONFIDENCE) & (gaps.apart >= LEAST_APART)


def false_alarms(noise: Noise, n: int, n_runs: int, scale: float, seed: int = 1) -> float:
    """Return the share of runs of `N_CELLS` cells without clusters that are said to have some."""
    rng = np.random.default_rng([seed, n])
    stand = _stand(scale * noise(rng, (n_runs * N_CELLS, n)))
    return float(stand.reshape(n_runs, N_CELLS).any(axis=1).mean())


def power(apart: float, n: int, n_cells: int, scale: float, seed: int = 1) -> float:
    """Return the share of cells with two clusters that are found in a run of `N_CELLS`."""
    rng = np.random.default_rng([seed, n, round(apart)])
    return float(_stand(scale * two_clusters(apart)(rng, (n_cells, n))).mean())


def ratio_coverage(apart: float, n: int, n_runs: int, seed: int = 1) -> float:
    """Return how often the interval of a ratio holds its truth where one side has two clusters.

    Both sides have normal noise besides, and the mean log ratio is the truth.
    """
    rng = np.random.default_rng([seed, n, round(apart)])
    logs = two_clusters(apart)(rng, (n_runs, n)) - rng.normal(size=(n_runs, n))
    half = t_quantile((1 + CONFIDENCE) / 2, n - 1) * logs.std(axis=1, ddof=1) / np.sqrt(n)
    return float(np.mean(np.abs(logs.mean(axis=1) - apart / 2) <= half))


@dataclass(frozen=True, slots=True)
class Critical:
    """What the gap of `n` repetitions exceeds in 1 %, 0.1 % and 0.01 % of cells."""

    n: int
    percent: float
    permille: float
    tenth_of_permille: float


def critical_gaps(n: int, n_cells: int, seed: int) -> Critical:
    """Return what the gap exceeds so often under the least favourable noise."""
    found = []
    for noise in CALIBRATED.values():
        cells = noise(np.random.default_rng([seed, n]), (n_cells, n))
        found.append(np.quantile(widest_gaps(cells).statistic, (0.99, 0.999, 0.9999)))
    return Critical(n, *np.max(found, axis=0).tolist())


@dataclass(frozen=True, slots=True)
class Row:
    """What was simulated with `n` repetitions, and a share of it, 0 to 1.

    `what` is runs without clusters of which any cell is said to have two (`false alarm`; of spread
    10 %, so that gaps matter), cells with two that are found (`found`; of spread 2 %), or intervals
    of ratios that hold the truth (`ratio held`). `kind` is the noise, or how many standard
    deviations two clusters are apart.
    """

    what: str
    kind: str
    n: int
    share: float


def simulate_all(n_runs: int, seed: int) -> Iterator[Row]:
    """Yield all shares, for each of `ROUNDS`."""
    for (name, noise), n in product((CALIBRATED | OTHER).items(), ROUNDS):
        yield Row("false alarm", name, n, false_alarms(noise, n, n_runs, 0.1, seed))
    for apart, n in product(CLUSTERS, ROUNDS):
        yield Row("found", f"{apart:g}", n, power(apart, n, n_runs, 0.02, seed))
    for apart, n in product((0.0, *CLUSTERS), ROUNDS):
        yield Row("ratio held", f"{apart:g}", n, ratio_coverage(apart, n, 50 * n_runs, seed))
