"""How often the interval of the ratio of two crossovers holds the truth, on simulated runs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from copycost.stats.crossover_ratio import Along, crossover_ratio
from copycost.stats.ratios import Direction
from copycost.stats.settings import FloatArray, StatisticsSettings

SIZES = tuple(1024 * 2**step for step in range(8))
SLOPE = 0.1
"""Of both log ratios, per doubling of the size."""
ROOTS = ((12.6, 15.1), (14.2, 14.2))
"""Where the first and the second cross, in powers of two: five and a half times apart, or not."""
NOISES = (0.01, 0.05)
ROUNDS = (3, 5, 10)


@dataclass(frozen=True, slots=True)
class RatioCoverage:
    """The result for one pair of crossovers, noise and number of rounds; shares are 0 to 1.

    Attributes
    ----------
    ratio, noise, n_rounds, n_runs
        What was simulated: the true ratio of the sizes, the relative spread of each throughput.
    n_named
        Runs in which both crossovers were found.
    coverage
        Share of those whose interval holds the true ratio; NaN where there are none.
    told_apart
        Share of those that say which is at the smaller size.
    wrong
        Share of those that say the wrong one, or that there is one where there is none.
    """

    ratio: float
    noise: float
    n_rounds: int
    n_runs: int
    n_named: int
    coverage: float
    told_apart: float
    wrong: float


def simulate_ratio(
    roots: tuple[float, float],
    noise: float,
    n_rounds: int,
    n_runs: int,
    settings: StatisticsSettings,
) -> RatioCoverage:
    """Simulate pairs of comparisons whose crossovers are held against each other.

    Both sides of each ratio are noisy.
    """
    rng = np.random.default_rng(
        [settings.seed, n_rounds, round(noise * 1000), round(roots[0] * 10)]
    )
    log2 = np.log2(np.array(SIZES, dtype=np.float64))
    truths = [SLOPE * (log2 - root) for root in roots]
    ratio = 2.0 ** (roots[0] - roots[1])
    n_named = held = apart = wrong = 0
    for _ in range(n_runs):
        first, second = (
            _along(truth[:, None] + rng.normal(0, noise * math.sqrt(2), (len(SIZES), n_rounds)))
            for truth in truths
        )
        found = crossover_ratio(first, second, settings)
        if found is None:
            continue
        n_named += 1
        low, high = found.low or 0.0, math.inf if found.high is None else found.high
        held += low <= ratio <= high
        told = found.direction in (Direction.BELOW, Direction.ABOVE)
        apart += told
        wrong += told and (ratio == 1.0 or (found.direction is Direction.BELOW) != (ratio < 1.0))
    shares = [count / n_named if n_named else math.nan for count in (held, apart, wrong)]
    return RatioCoverage(ratio, noise, n_rounds, n_runs, n_named, *shares)


def _along(rounds: FloatArray) -> Along:
    return Along(dict(zip(SIZES, rounds, strict=True)), SIZES)


def simulate_all_ratios(n_runs: int, settings: StatisticsSettings) -> Iterator[RatioCoverage]:
    """Yield the result of every pair of crossovers, noise and number of rounds."""
    for roots in ROOTS:
        for noise in NOISES:
            for n_rounds in ROUNDS:
                yield simulate_ratio(roots, noise, n_rounds, n_runs, settings)


def ratio_section(results: Sequence[RatioCoverage]) -> str:
    """Return the part of the page that states these results."""
    rows = "".join(
        f"| {row.ratio:.2f} | {row.noise:.0%} | {row.n_rounds} | {row.n_named / row.n_runs:.1%} "
        f"| {_percent(row.coverage)} | {_percent(row.told_apart)} | {_percent(row.wrong)} |\n"
        for row in results
    )
    return _SECTION.format(rows=rows)


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{share:.1%}"


_SECTION = """
## Is one crossover at a smaller size than another?

The ratio of two sizes, each found as above, the two resampled independently of each other. *Both
found*: of the runs. *Ratio held*, *told apart* (the interval does not hold 1) and *wrong* (told
apart where they are equal, or the wrong way round): of the runs in which both were found.

| True ratio | Noise | Rounds | Both found | Ratio held | Told apart | Wrong |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}"""
