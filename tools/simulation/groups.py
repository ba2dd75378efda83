"""Statements about many cells: dependence on the threads, two crossovers, extremes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from copycost.stats.crossover import crossover_of_rounds, crossover_ratio
from copycost.stats.ratios import Direction, paired_ratio, simultaneous_ratio
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.stats.trend_tests import reversals
from tools.simulation.crossovers import LEVELS, ROUNDS, SPREAD_OF_SPREADS
from tools.simulation.noise import NOISES, log_ratio_noise
from tools.simulation.truths import DATAGRAM_SIZES, MEASURED, Truth, truth, with_added_sizes

THREADS = (1, 2, 4, 8)
OPPOSITE = "10 % faster with 1 and 2 threads, slower with 4 and 8"


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


def _measured_cells(column: str) -> FloatArray:
    """Return what a real run over veth had of one_copy: shape (n_sizes, n_threads)."""
    rows = MEASURED[(MEASURED["condition"] == "veth") & (MEASURED["implementation"] == "one_copy")]
    return rows.pivot(index="msg_bytes", columns="n_threads", values=column).to_numpy(np.float64)


def _measured_log_ratios() -> FloatArray:
    rows = MEASURED[(MEASURED["condition"] == "veth") & (MEASURED["implementation"] == "two_copy")]
    baseline = rows.pivot(index="msg_bytes", columns="n_threads", values="ns_per_message")
    return np.log(baseline.to_numpy(np.float64) / _measured_cells("ns_per_message"))


def _dependence(n_runs: int, settings: StatisticsSettings) -> Iterator[Share]:
    """Yield how often it is said to depend on the threads which is faster, where it does not."""
    measured, spreads = _measured_log_ratios(), _measured_cells("spread")
    without: dict[str, FloatArray] = {
        "as measured with one thread": np.repeat(measured[:, :1], len(THREADS), axis=1),
        "no difference in any cell": np.zeros_like(measured),
        "better by more with more threads": 0.05 * np.ones_like(measured) * np.arange(1, 5),
    }
    opposite = np.where(np.arange(len(THREADS)) < 2, 1.0, -1.0) * np.full_like(measured, 0.1)
    quiet = np.full_like(spreads, 0.03)
    for noise in NOISES:
        for n_rounds in ROUNDS:
            for name, expected in without.items():
                yield _reversed(name, expected, spreads, noise, n_rounds, n_runs, settings)
            found = _reversed(OPPOSITE, opposite, quiet, noise, n_rounds, n_runs, settings)
            yield replace(found, is_so=True)


def _reversed(
    what: str,
    expected: FloatArray,
    spreads: FloatArray,
    noise: str,
    n_rounds: int,
    n_runs: int,
    settings: StatisticsSettings,
) -> Share:
    rng = _rng(settings, noise, n_rounds, what)
    # The spread is that of the ratio, the noise that of both its sides.
    scale = spreads[:, :, None] / np.sqrt(2.0)
    n_yes = 0
    for _ in range(n_runs):
        rounds = expected[:, :, None] + scale * log_ratio_noise(
            noise, rng, (*scale.shape[:2], n_rounds)
        )
        cells = {size: list(found) for size, found in enumerate(rounds)}
        n_yes += bool(reversals(cells, settings.confidence))
    return Share(what, noise, n_rounds, n_runs, n_yes)


def _comparisons(n_runs: int, settings: StatisticsSettings) -> Iterator[Share]:
    """Yield how often one crossover is said to be at a smaller size, rightly and wrongly."""
    hot = with_added_sizes(truth("measured: sink, zero_copy", DATAGRAM_SIZES))
    cold = with_added_sizes(truth("measured: sink cold, zero_copy", DATAGRAM_SIZES))
    for noise in NOISES:
        for n_rounds in ROUNDS:
            for what, first, second, counted in (
                ("the same place: told apart", hot, hot, (Direction.BELOW, Direction.ABOVE)),
                ("cold at a smaller size: told so", cold, hot, (Direction.BELOW,)),
                ("cold at a smaller size: told the other way", cold, hot, (Direction.ABOVE,)),
            ):
                rng = _rng(settings, noise, n_rounds, what)
                n_yes = 0
                for _ in range(n_runs):
                    found = crossover_ratio(
                        *(
                            crossover_of_rounds(
                                _rounds(one, noise, n_rounds, rng), one.sizes, settings.confidence
                            )
                            for one in (first, second)
                        )
                    )
                    n_yes += found is not None and found.direction in counted
                yield Share(what, noise, n_rounds, n_runs, n_yes)


def _rounds(
    found: Truth, noise: str, n_rounds: int, rng: np.random.Generator
) -> dict[int, FloatArray]:
    n_sizes = len(found.sizes)
    spreads = LEVELS[0] * np.exp(rng.normal(0.0, SPREAD_OF_SPREADS, size=(n_sizes, 1)))
    values = np.array(found.log_ratios)[:, None] + spreads * log_ratio_noise(
        noise, rng, (n_sizes, n_rounds)
    )
    return dict(zip(found.sizes, values, strict=True))


def _extremes(n_runs: int, settings: StatisticsSettings) -> Iterator[Share]:
    """Yield how often the intervals of the best and the worst of many cells hold the truth."""
    measured, spreads = _measured_log_ratios().ravel(), _measured_cells("spread").ravel()
    for name, expected in (
        ("as measured", measured),
        ("all cells alike", np.zeros_like(measured)),
    ):
        for noise in NOISES:
            for n_rounds in ROUNDS:
                n_plain, n_picked = _extremes_held(
                    expected, spreads, noise, n_rounds, n_runs, settings
                )
                about = (noise, n_rounds, 2 * n_runs)
                yield Share(f"{name}: interval of one cell", *about, n_plain)
                yield Share(f"{name}: interval that allows for the choice", *about, n_picked)


def _extremes_held(
    expected: FloatArray,
    spreads: FloatArray,
    noise: str,
    n_rounds: int,
    n_runs: int,
    settings: StatisticsSettings,
) -> tuple[int, int]:
    """Return how many intervals hold the truth that do not allow for the choice, and that do."""
    rng = _rng(settings, noise, n_rounds, "extremes")
    n_plain = n_picked = 0
    for _ in range(n_runs):
        scatter = log_ratio_noise(noise, rng, (expected.size, n_rounds)) / np.sqrt(2.0)
        runs = expected[:, None] + spreads[:, None] * scatter
        for cell in (int(runs.mean(axis=1).argmax()), int(runs.mean(axis=1).argmin())):
            true = float(np.exp(expected[cell]))
            plain = paired_ratio(runs[cell], settings.confidence)
            picked = simultaneous_ratio(runs[cell], expected.size, settings.confidence)
            n_plain += plain.low <= true <= plain.high
            n_picked += picked.low <= true <= picked.high
    return n_plain, n_picked


def _rng(settings: StatisticsSettings, noise: str, n_rounds: int, what: str) -> np.random.Generator:
    return np.random.default_rng(
        [settings.seed, list(NOISES).index(noise), n_rounds, *what.encode()]
    )


def dependence(n_runs: int, settings: StatisticsSettings) -> list[Share]:
    """Return how often it is said to depend on the threads which of two is faster."""
    return list(_dependence(n_runs, settings))


def comparisons(n_runs: int, settings: StatisticsSettings) -> list[Share]:
    """Return how often one of two crossovers is said to be at a smaller size."""
    return list(_comparisons(n_runs, settings))


def extremes(n_runs: int, settings: StatisticsSettings) -> list[Share]:
    """Return how often intervals of the best and the worst of many cells hold the truth."""
    return list(_extremes(n_runs, settings))
