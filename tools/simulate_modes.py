"""How often noise is taken for two clusters of repetitions, and two clusters are found.

    PYTHONPATH=workflow python -m tools.simulate_modes --page docs/modes.md

simulates runs of known truth, analysed by the code that analyses real runs. With `--critical` it
makes the table of `copycost.stats.modes` anew, from a million cells of each kind of noise.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from copycost.stats.modes import LEAST_APART, gap_p_values, widest_gaps
from copycost.stats.ratios import t_quantile
from copycost.stats.settings import FloatArray

CONFIDENCE = 0.95
N_CELLS = 84
ROUNDS = (2, 3, 4, 5, 7, 9, 12)
TABLED = (5, 6, 7, 8, 9, 10, 11, 12, 15, 20)
LEVELS = (1e-2, 1e-3, 1e-4)
BoolArray = npt.NDArray[np.bool_]

Noise = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
"""Draws values of spread 1."""


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw normal noise."""
    return rng.normal(size=shape)


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw noise with heavy tails: Student's t with three degrees of freedom."""
    return rng.standard_t(3, shape)


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
    "normal": normal,
    "Student's t, 3 degrees": heavy,
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


def _stand(cells: FloatArray) -> BoolArray:
    """Return which cells are said to have two clusters if each is the likeliest of its run.

    What Holm's correction asks of the likeliest of `N_CELLS`; without one such, none is said to.

    Parameters
    ----------
    cells
        Shape (n_cells, n).
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


def critical(n: int, n_cells: int = 1_000_000) -> tuple[float, ...]:
    """Return what the gap exceeds as often as `LEVELS` under the least favourable noise."""
    found = []
    for noise in CALIBRATED.values():
        rng = np.random.default_rng([2, n])
        statistic = widest_gaps(noise(rng, (n_cells, n))).statistic
        found.append(np.quantile(statistic, 1.0 - np.array(LEVELS)))
    return tuple(float(value) for value in np.max(found, axis=0))


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table of the page: what was simulated, and a share for each of `ROUNDS`."""

    name: str
    shares: tuple[float, ...]

    @property
    def markdown(self) -> str:
        """Return it as a row of a table."""
        return f"| {self.name} | " + " | ".join(f"{share:.1%}" for share in self.shares) + " |"


def simulate_alarms(n_runs: int) -> Iterator[Row]:
    """Yield the false alarms of every kind of noise; its spread is 10 %, so that gaps matter."""
    for name, noise in (CALIBRATED | OTHER).items():
        yield Row(name, tuple(false_alarms(noise, n, n_runs, 0.1) for n in ROUNDS))


def simulate_power(n_runs: int) -> Iterator[Row]:
    """Yield how often two clusters are found, by their distance; the spread is 2 %."""
    for apart in CLUSTERS:
        yield Row(f"{apart:g}", tuple(power(apart, n, n_runs, 0.02) for n in ROUNDS))


def simulate_coverage(n_runs: int) -> Iterator[Row]:
    """Yield how often intervals of ratios hold the truth, by the distance of two clusters."""
    for apart in (0.0, *CLUSTERS):
        yield Row(f"{apart:g}", tuple(ratio_coverage(apart, n, 50 * n_runs) for n in ROUNDS))


_PAGE = """\
# Two modes of a cell

Where the repetitions of a cell fall into two clusters, one median with one interval describes
neither. The test (`copycost.stats.modes`) takes the widest gap in the ordered log throughput that
leaves two of five, or three of six and more, on either side, over the standard deviation within
both sides. It holds that against what noise without clusters has, corrected (Holm) for all cells
of the run. Fewer than five repetitions cannot be told apart, whatever they look like; clusters
less than 10 % apart are of no matter. Simulated with {n_runs:,} runs of each kind, written by

    PYTHONPATH=workflow python -m tools.simulate_modes --runs {n_runs} --page docs/modes.md

## False alarms

Runs of {n_cells} cells without clusters of which any is said to have two; 5 % are allowed. The
critical values are made from the first {calibrated} kinds of noise. The others show what the
promise covers and what not: where dips are more frequent than one in five, or deeper, some of them
lie at the same depth by chance.

| Noise \\ repetitions | {rounds} |
| --- | {align} |
{alarms}

## Clusters found

Cells with two equally frequent clusters, by their distance in standard deviations of either, among
{others} cells without. Where that stays below 100 % however
far apart they are, the other cells have too few repetitions in one of the clusters.

| Distance \\ repetitions | {rounds} |
| --- | {align} |
{power}

## What two modes do to intervals

95 % intervals of ratios where one side has two equally frequent clusters, and how often they hold
the mean of the log ratio. With three repetitions all are in the same cluster in a quarter of the
cells, and the interval holds that cluster only.

| Distance \\ repetitions | {rounds} |
| --- | {align} |
{coverage}
"""


def page(n_runs: int) -> str:
    """Return the Markdown page that states the results and how to get them again."""
    tables = (simulate_alarms(n_runs), simulate_power(n_runs), simulate_coverage(n_runs))
    alarms, found, coverage = ("\n".join(row.markdown for row in rows) for rows in tables)
    return _PAGE.format(
        n_runs=n_runs, calibrated=len(CALIBRATED), n_cells=N_CELLS, others=N_CELLS - 1,
        rounds=" | ".join(map(str, ROUNDS)), align=" | ".join(["---:"] * len(ROUNDS)),
        alarms=alarms, power=found, coverage=coverage,
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the critical values, or write the page."""
    parser = argparse.ArgumentParser(prog="tools.simulate_modes", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="simulated runs of each [count]")
    parser.add_argument("--critical", action="store_true", help="print the critical values")
    parser.add_argument("--page", type=Path, help="Markdown page to write")
    options = parser.parse_args(arguments)
    if options.critical:
        for n in TABLED:
            print(f"    {n}: ({', '.join(f'{value:.1f}' for value in critical(n))}),", flush=True)
    if options.page is not None:
        options.page.write_text(page(options.runs), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
