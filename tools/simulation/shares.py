"""How often something is said, or holds: of threads, extremes, pairs of slices."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from copycost.analysis.stats.ratios import paired_ratio, simultaneous_ratio
from copycost.analysis.stats.settings import FloatArray, StatisticsSettings
from copycost.analysis.stats.trend_tests import reversals
from tools.simulation.crossovers import ROUNDS, ratios_held
from tools.simulation.noise import DRIFT, INDEPENDENT, NOISES, log_ratio_noise
from tools.simulation.truths import MEASURED

THREADS = (1, 2, 4, 8)
OPPOSITE = "10 % faster with 1 and 2 threads, slower with 4 and 8"

REPETITIONS = (3, 4, 5, 6, 7, 8, 10)
STARTS = (1, 2, 4)
"""Starts of the programs in a repetition of pairs of slices."""
_CELLS_PER_RUN = 200
_SLICES_PER_START = 10
_SLICE, _START = 0.1, 0.1
"""Standard deviations of the log ratio: of a pair of slices, and from start to start.

So the mean of a start's slices scatters by about half as much as starts differ, as on a quiet host.
"""


@dataclass(frozen=True, slots=True)
class Share:
    """How often something is said, or holds: in `n_yes` of `n_runs`.

    `what` is the truth and what is counted; `is_so`, whether what is said is true.
    """

    what: str
    noise: str
    n_rounds: int
    n_runs: int
    n_yes: int
    is_so: bool = False


def simulate_all(n_runs: int, seed: int) -> Iterator[Share]:
    """Yield all shares."""
    settings = StatisticsSettings(seed=seed)
    for kind in (dependence, extremes, pairs):
        yield from kind(n_runs, settings)


def _measured_cells(column: str, implementation: str) -> FloatArray:
    """Return what a real run over veth had: shape (n_sizes, n_threads)."""
    of = (MEASURED["condition"] == "veth") & (MEASURED["implementation"] == implementation)
    cells = MEASURED[of].pivot(index="msg_bytes", columns="n_threads", values=column)
    return cells.to_numpy(np.float64)


def _measured_log_ratios() -> FloatArray:
    one, other = (_measured_cells("ns_per_message", name) for name in ("two_copy", "one_copy"))
    return np.log(one / other)


def _rng(settings: StatisticsSettings, noise: str, n_rounds: int, what: str) -> np.random.Generator:
    return np.random.default_rng(
        [settings.seed, list(NOISES).index(noise), n_rounds, *what.encode()]
    )


def dependence(n_runs: int, settings: StatisticsSettings) -> Iterator[Share]:
    """Yield how often it is said to depend on the threads which is faster; only once it does."""
    measured, spreads = _measured_log_ratios(), _measured_cells("spread", "one_copy")
    opposite = np.where(np.arange(len(THREADS)) < 2, 1.0, -1.0) * np.full_like(measured, 0.1)
    truths: dict[str, tuple[FloatArray, FloatArray]] = {
        "as measured with one thread": (
            np.repeat(measured[:, :1], len(THREADS), axis=1), spreads
        ),
        "no difference in any cell": (np.zeros_like(measured), spreads),
        "better by more with more threads": (
            0.05 * np.ones_like(measured) * np.arange(1, 5), spreads
        ),
        OPPOSITE: (opposite, np.full_like(spreads, 0.03)),
    }  # fmt: skip
    for noise, n_rounds, (what, (expected, spread)) in product(NOISES, ROUNDS, truths.items()):
        rng = _rng(settings, noise, n_rounds, what)
        # the spread is that of the ratio, the noise that of both its sides
        scale = spread[:, :, None] / np.sqrt(2.0)
        n_yes = 0
        for _ in range(n_runs):
            scatter = log_ratio_noise(noise, rng, (*spread.shape, n_rounds))
            rounds = expected[:, :, None] + scale * scatter
            cells = {size: list(found) for size, found in enumerate(rounds)}
            n_yes += bool(reversals(cells, settings.confidence))
        yield Share(what, noise, n_rounds, n_runs, n_yes, is_so=what == OPPOSITE)


def extremes(n_runs: int, settings: StatisticsSettings) -> Iterator[Share]:
    """Yield how often the intervals of the best and the worst of many cells hold the truth."""
    measured, spreads = _measured_log_ratios().ravel(), _measured_cells("spread", "one_copy")
    truths = {"as measured": measured, "all cells alike": np.zeros_like(measured)}
    for (name, expected), noise, n_rounds in product(truths.items(), NOISES, ROUNDS):
        rng = _rng(settings, noise, n_rounds, "extremes")
        n_plain = n_picked = 0
        for _ in range(n_runs):
            scatter = log_ratio_noise(noise, rng, (expected.size, n_rounds)) / np.sqrt(2.0)
            runs = expected[:, None] + spreads.reshape(-1, 1) * scatter
            for cell in (int(runs.mean(axis=1).argmax()), int(runs.mean(axis=1).argmin())):
                true = float(np.exp(expected[cell]))
                plain = paired_ratio(runs[cell], settings.confidence)
                picked = simultaneous_ratio(runs[cell], expected.size, settings.confidence)
                n_plain += plain.low <= true <= plain.high
                n_picked += picked.low <= true <= picked.high
        about = (noise, n_rounds, 2 * n_runs)
        yield Share(f"{name}: interval of one cell", *about, n_plain)
        yield Share(f"{name}: interval that allows for the choice", *about, n_picked)


def pairs(n_runs: int, settings: StatisticsSettings) -> Iterator[Share]:
    """Yield how often the interval of a ratio holds the truth, of slices of two ways in turn.

    Each start of the programs has an effect of its own, and slices that take after the ones before
    them; the truth is 0, the mean of all starts that there might be.
    """
    rng = np.random.default_rng([settings.seed, 4])
    for n_starts, law, n in product(STARTS, INDEPENDENT, REPETITIONS):
        shape = (_CELLS_PER_RUN * n_runs, n, n_starts)
        slices = NOISES[DRIFT](rng, (*shape, _SLICES_PER_START)).mean(axis=-1)
        logs = (_START * NOISES[law](rng, shape) + _SLICE * slices).mean(axis=-1)
        held = ratios_held(logs[:, None], np.zeros(1), settings)
        what = f"{n_starts} start{'s' * (n_starts > 1)} in a repetition"
        yield Share(what, law, n, len(held), int(held.sum()), is_so=True)
