"""Proof by simulation that the intervals hold and the claims are true.

    PYTHONPATH=workflow python -m copycost.stats.simulate --output results/simulation.csv

makes synthetic comparisons whose truth is known, for several shapes along the sizes, noises and
numbers of rounds, and counts how often the interval of a ratio and of a crossover holds the truth
and how often a wrong shape is claimed. 2000 runs of each take a quarter of an hour on one CPU.

At ten rounds the intervals hold the truth as often as they say. At three, those of ratios still do,
and those of crossovers hold it more often (97 to 100 %): Student's t has heavy tails there, so they
are wide, and much stays undecided. Wrong shapes are claimed in well under 1 % of runs throughout.
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from copycost.stats.crossover import Change, Crossover, Outcome, find_crossover
from copycost.stats.ratios import paired_ratio
from copycost.stats.settings import FloatArray, StatisticsSettings

SIZES = tuple(256 * 4**step for step in range(7))
NOISES = (0.01, 0.05, 0.15)
ROUNDS = (3, 5, 10)


@dataclass(frozen=True, slots=True)
class Truth:
    """What a simulated comparison is really like.

    Attributes
    ----------
    name
        What the shape is called in the result.
    log_ratios
        The true log ratio at each of `SIZES`.
    outcome
        The claim that is right; None where the ratio is 1 everywhere, so that none is.
    crossover_bytes
        Where the log ratio, interpolated over the logarithm of the size, is 0.
    """

    name: str
    log_ratios: tuple[float, ...]
    outcome: Outcome | None
    crossover_bytes: float | None = None


def _line(slope: float, root: float) -> tuple[float, ...]:
    return tuple(slope * (math.log2(size) - root) for size in SIZES)


TRUTHS = (
    Truth("always", (0.25,) * 7, Outcome.ALWAYS),
    Truth("never", (-0.25,) * 7, Outcome.NEVER),
    Truth("from, steep", _line(0.1, 13.2), Outcome.FROM, 2**13.2),
    Truth("from, flat", _line(0.03, 14.7), Outcome.FROM, 2**14.7),
    Truth("up to", _line(-0.06, 12.5), Outcome.UP_TO, 2**12.5),
    Truth("mixed", (-0.3, -0.3, 0.3, 0.3, 0.3, -0.3, -0.3), Outcome.MIXED),
    Truth("no difference", (0.0,) * 7, None),
)
"""The shapes that are simulated."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The result for one truth, noise and number of rounds; shares are 0 to 1.

    Attributes
    ----------
    truth, noise, n_rounds, n_runs
        What was simulated; `noise` is the relative spread of each side's throughput.
    ratio_coverage
        Share of all ratios' intervals that hold the true ratio.
    crossover_coverage
        Share of the crossovers' intervals that hold the true size; NaN where none was claimed.
    claimed
        Share of runs that claim the right shape.
    wrongly_claimed
        Share of runs that claim a wrong one, or a bracket that does not hold the true size.
    undecided
        Share of runs that claim none.
    """

    truth: str
    noise: float
    n_rounds: int
    n_runs: int
    ratio_coverage: float
    crossover_coverage: float
    claimed: float
    wrongly_claimed: float
    undecided: float


def simulate(
    truth: Truth, noise: float, n_rounds: int, n_runs: int, settings: StatisticsSettings
) -> Coverage:
    """Simulate comparisons of one truth; drift that hits both sides cancels, as for real."""
    rng = np.random.default_rng([settings.seed, n_rounds, round(noise * 1000), n_runs])
    held, n_crossovers, crossovers_held, right, wrong = 0, 0, 0, 0, 0
    # Both sides of a ratio are noisy.
    shape = (n_runs, len(SIZES), n_rounds)
    runs = np.array(truth.log_ratios)[:, None] + rng.normal(0, noise * math.sqrt(2), size=shape)
    for rounds in runs:
        held += _ratios_held(truth, rounds, settings)
        found = find_crossover(dict(zip(SIZES, rounds, strict=True)), SIZES, settings)
        if found.outcome is Outcome.UNDECIDED:
            continue
        if _is_right(truth, found):
            right += 1
        else:
            wrong += 1
        if truth.crossover_bytes is not None and found.outcome is truth.outcome:
            n_crossovers += 1
            crossovers_held += _holds(found.changes[0], truth.crossover_bytes)
    return Coverage(
        truth=truth.name,
        noise=noise,
        n_rounds=n_rounds,
        n_runs=n_runs,
        ratio_coverage=held / (n_runs * len(SIZES)),
        crossover_coverage=crossovers_held / n_crossovers if n_crossovers else math.nan,
        claimed=right / n_runs,
        wrongly_claimed=wrong / n_runs,
        undecided=(n_runs - right - wrong) / n_runs,
    )


def _ratios_held(truth: Truth, rounds: FloatArray, settings: StatisticsSettings) -> int:
    held = 0
    for log_ratio, values in zip(truth.log_ratios, rounds, strict=True):
        found = paired_ratio(values, settings.confidence)
        held += found.low <= math.exp(log_ratio) <= found.high
    return held


def _is_right(truth: Truth, found: Crossover) -> bool:
    if found.outcome is not truth.outcome:
        return False
    if truth.crossover_bytes is None:
        return True
    change = found.changes[0]
    return change.below_bytes <= truth.crossover_bytes <= change.above_bytes


def _holds(change: Change, size: float) -> bool:
    low = -math.inf if change.low_bytes is None else change.low_bytes
    high = math.inf if change.high_bytes is None else change.high_bytes
    return low <= size <= high


def simulate_all(n_runs: int, settings: StatisticsSettings) -> Iterator[Coverage]:
    """Yield the result of every truth, noise and number of rounds."""
    for truth in TRUTHS:
        for noise in NOISES:
            for n_rounds in ROUNDS:
                yield simulate(truth, noise, n_rounds, n_runs, settings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results as a table, and write them as CSV where asked to."""
    parser = argparse.ArgumentParser(prog="copycost.stats.simulate", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="simulated runs of each [count]")
    parser.add_argument("--resamples", type=int, default=5000, help="resamples of each run [count]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="CSV file to write as well")
    options = parser.parse_args(arguments)
    settings = StatisticsSettings(resamples=options.resamples, seed=options.seed)
    results = []
    print("truth          noise rounds  ratio held  size held  claimed   wrong  undecided")
    for row in simulate_all(options.runs, settings):
        size_held = "-" if math.isnan(row.crossover_coverage) else f"{row.crossover_coverage:.3f}"
        print(
            f"{row.truth:<14} {row.noise:5.2f} {row.n_rounds:6d} {row.ratio_coverage:11.3f}"
            f" {size_held:>10} {row.claimed:8.3f} {row.wrongly_claimed:7.3f} {row.undecided:10.3f}",
            flush=True,
        )
        results.append(row)
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with options.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Coverage)])
            writer.writeheader()
            writer.writerows(asdict(row) for row in results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
