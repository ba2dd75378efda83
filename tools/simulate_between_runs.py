"""How often ``./run compare`` is wrong about two sides that are alike, and what it finds.

Runs whose truth is known, judged by the function that judges real ones; and how far real runs of
the same thing differ, from a table that `collect` makes of their results::

    PYTHONPATH=workflow python -m tools.simulate_between_runs verdicts \
        > docs/simulation_between_runs.csv
    PYTHONPATH=workflow python -m tools.simulate_between_runs spreads docs/between_runs.csv
    PYTHONPATH=workflow python -m tools.simulate_between_runs collect RESULTS... > table.csv
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from copycost.compare.runs.folders import read_results
from copycost.compare.runs.samples import (
    CELL,
    QUANTITIES,
    Cell,
    Rounds,
    RunRounds,
    Sides,
    rounds_of,
    sides_of,
)
from copycost.compare.runs.verdicts import (
    MEASURED_SPREAD,
    Gate,
    Judgement,
    RunSpread,
    judge,
    spread_of_runs,
)
from copycost.stats.settings import FloatArray
from tools.simulation.noise import DRIFT, NOISES
from tools.simulation.output import parser, print_rows

CELLS: tuple[Cell, ...] = tuple(
    ("streams", "veth", implementation, 256 * 4**step, n_threads)
    for implementation in ("two_copy", "zero_copy")
    for step in range(7)
    for n_threads in (1, 4)
)
ROUND_SPREAD = 0.06
"""Standard deviation of a round, in the middle; cells differ in it by a factor of about 1.6."""
_CELLS_DIFFER = 0.47
NO_SPREAD = RunSpread(0.0, 0.0, math.inf)
GATE = Gate("slower", 5.0)


@dataclass(frozen=True, slots=True)
class Kind:
    """How runs are made and compared; the name is that of the page.

    Each side has so many runs, each of `n_rounds`; `allowed` is the spread that single runs are
    judged with. Runs differ by `scale` times what was measured, those of B by `b_scale` more. With
    `in_turn` rounds of both sides alternate, so that what moves the host moves both.
    """

    name: str
    n_a: int
    n_b: int
    n_rounds: int = 7
    allowed: RunSpread = MEASURED_SPREAD
    scale: float = 1.0
    in_turn: bool = False
    b_scale: float = 1.0


KINDS = (
    Kind("one run each, by their rounds alone", 1, 1, allowed=NO_SPREAD),
    Kind("one run each", 1, 1),
    Kind("one run each, 3 rounds", 1, 1, n_rounds=3),
    Kind("one run each, runs differ twice as much", 1, 1, scale=2.0),
    Kind("one run each, in turn", 1, 1, in_turn=True),
    Kind("2 and 2 runs", 2, 2),
    Kind("3 and 1 runs", 3, 1),
    Kind("3 and 3 runs", 3, 3),
    Kind("3 and 3 runs, runs differ twice as much", 3, 3, scale=2.0),
    Kind("3 and 3 runs, those of B twice as much", 3, 3, b_scale=2.0),
    Kind("5 and 5 runs", 5, 5),
)


def make_runs(
    rng: np.random.Generator, noise: str, kind: Kind, effects: FloatArray
) -> tuple[Sides, Kind]:
    """Return both sides of one comparison.

    Each run moves all cells by the same (normally), and each cell by its own (by the noise); the
    spreads of cells differ, in what moves them from round to round and from run to run.

    Parameters
    ----------
    effects
        Shape (n_cells,): the true log ratio of B over A.
    """
    n = len(CELLS)
    rounds = ROUND_SPREAD * np.exp(_CELLS_DIFFER * rng.normal(size=n))
    own = math.sqrt(max(MEASURED_SPREAD.cell**2 - MEASURED_SPREAD.whole**2, 0.0))
    # so that the mean of the cells' variances is what was measured
    own_spreads = own * np.exp(_CELLS_DIFFER * rng.normal(size=n) - _CELLS_DIFFER**2)
    drift = 0.05 * NOISES[DRIFT](rng, (kind.n_rounds,))
    sides: list[tuple[RunRounds, ...]] = []
    for side, n_runs in enumerate((kind.n_a, kind.n_b)):
        scale = kind.scale * (kind.b_scale if side else 1.0)
        runs = []
        for number in range(n_runs):
            common = 0.0 if kind.in_turn else scale * MEASURED_SPREAD.whole * rng.normal()
            cells = scale * own_spreads * NOISES[noise](rng, (n, 1))[:, 0]
            logs = side * effects[:, None] + rounds[:, None] * NOISES[noise](
                rng, (n, kind.n_rounds)
            )
            logs += drift[None, :] if kind.in_turn else common + cells[:, None]
            runs.append(_run(logs, side, number, kind))
        sides.append(tuple(runs))
    return Sides(*sides), kind


def _run(logs: FloatArray, side: int, number: int, kind: Kind) -> RunRounds:
    n_cells, n_rounds = logs.shape
    reps = tuple(range(1, n_rounds + 1))
    found: RunRounds = {}
    for place, cell in enumerate(CELLS):
        if kind.in_turn:
            starts = np.arange(n_rounds) * 2.0 * n_cells + side * n_cells + place
        else:
            starts = (
                (2 * number + side) * n_rounds * n_cells + np.arange(n_rounds) * n_cells + place
            )
        found[cell] = Rounds(reps, logs[place], starts.astype(np.float64), ("boot",) * n_rounds)
    return found


@dataclass(frozen=True, slots=True)
class Told:
    """Shares of the comparisons of one kind and noise, 0 to 1.

    Attributes
    ----------
    cells, groups, whole
        Of equals: any cell said to differ; any condition, implementation or size; all together.
    gate
        Of sides that are 5 % apart in every cell: ``--fail-if slower:5%`` fails.
    found_whole, found_cells
        Where B is 10 % slower throughout: the whole is told so, and the share of cells that are.
    mixed
        Where half of the cells are 30 % slower and half 30 % faster: that they contradict.
    """

    kind: str
    noise: str
    cells: float
    groups: float
    whole: float
    gate: float
    found_whole: float
    found_cells: float
    mixed: float


def simulate(kind: Kind, noise: str, n_runs: int, seed: int) -> Told:
    """Judge comparisons of one kind."""
    rng = np.random.default_rng([seed, *map(ord, kind.name + noise)])
    n = len(CELLS)
    half = np.where(np.arange(n) < n // 2, math.log(0.7), -math.log(0.7))
    truths = {
        "equal": np.zeros(n),
        "at the bound": np.full(n, math.log(GATE.bound)),
        "slower": np.full(n, math.log(0.9)),
        "mixed": half,
    }
    judged: dict[str, list[Judgement]] = {name: [] for name in truths}
    for _ in range(n_runs):
        for name, effects in truths.items():
            sides, _ = make_runs(rng, noise, kind, effects)
            judged[name].append(judge(sides, kind.allowed))
    equal, slower = judged["equal"], judged["slower"]
    return Told(
        kind.name,
        noise,
        _share(any(one.sign for one in found.cells.values()) for found in equal),
        _share(
            any(one.sign for one in (*found.ways.values(), *found.sizes.values()))
            for found in equal
        ),
        _share(found.whole.sign != 0 for found in equal),
        _share(
            GATE.fails_whole(found) or any(GATE.failing_cells(found))
            for found in judged["at the bound"]
        ),
        _share(found.whole.sign < 0 and not found.contradicts for found in slower),
        _share(one.sign < 0 for found in slower for one in found.cells.values()),
        _share(found.contradicts for found in judged["mixed"]),
    )


def _share(of: Iterator[bool]) -> float:
    return float(np.mean(list(of)))


def collect(folders: Sequence[Path]) -> pd.DataFrame:
    """Return the mean logarithm of each cell in each run, with the scatter of its rounds."""
    rows = []
    runs = [read_results(folder) for folder in folders]
    for quantity in QUANTITIES:
        sides = sides_of([rounds_of(run, quantity) for run in runs], [rounds_of(runs[0], quantity)])
        for number, run in enumerate(sides.a, 1):
            for cell, of in run.items():
                rows += [
                    {"quantity": quantity.name, **dict(zip(CELL, cell, strict=True)),
                     "run": number, "rep": rep, "log": round(float(log), 6)}
                    for rep, log in zip(of.reps, of.logs, strict=True)
                ]  # fmt: skip
    return pd.DataFrame(rows)


def measured_sides(table: pd.DataFrame, quantity: str) -> tuple[RunRounds, ...]:
    """Return the runs that a table of `collect` holds."""
    runs = []
    for _, run in table[table["quantity"] == quantity].groupby("run"):
        found: RunRounds = {}
        for key, part in run.groupby(CELL, sort=False):
            n = len(part)
            found[tuple(key)] = Rounds(  # type: ignore[index]
                tuple(part["rep"]), part["log"].to_numpy(), np.arange(n, dtype=float), ("",) * n
            )
        runs.append(found)
    return tuple(runs)


@dataclass(frozen=True, slots=True)
class Spread:
    """How far runs of one thing differ in a quantity, as standard deviations of logarithms.

    Attributes
    ----------
    rounds
        From round to round within a run, of the middle cell.
    middle, largest
        Of a run's mean from run to run, of the middle cell and of the one with the largest.
    beyond_rounds, whole
        What is left of the middle cell's, and of the mean of all cells, without the part that
        follows from the scatter within runs.
    freedom
        How alike the cells are in it: few degrees of freedom are cells that differ much.
    """

    quantity: str
    n_cells: int
    n_runs: int
    rounds: float
    middle: float
    largest: float
    beyond_rounds: float
    whole: float
    freedom: float


def spreads(table: pd.DataFrame) -> Iterator[Spread]:
    """Yield the measured spreads of each quantity."""
    for quantity in table["quantity"].unique():
        runs = measured_sides(table, quantity)
        found = spread_of_runs(Sides(runs, ()))
        assert found is not None
        cells = np.array([[run[cell].logs.mean() for cell in runs[0]] for run in runs])
        totals = cells.std(axis=0, ddof=1)
        rounds = np.median([of.logs.std(ddof=1) for run in runs for of in run.values()])
        # how far the cells' variances scatter beyond what so few runs of one spread let expect
        freedom = prior_freedom(np.square(totals), len(runs) - 1)
        yield Spread(
            quantity, len(runs[0]), len(runs), float(rounds), float(np.median(totals)),
            float(totals.max()), found.cell, found.whole, freedom,
        )  # fmt: skip


def prior_freedom(variances: FloatArray, freedom: int) -> float:
    """Return the degrees of freedom of the distribution that cells' variances come from.

    Infinite where they scatter no more than those of equal cells do.

    Source
    ------
    G. K. Smyth, Linear models and empirical Bayes methods for assessing differential expression
    in microarray experiments, Statistical Applications in Genetics and Molecular Biology 3 (2004),
    section 6.2.
    """
    logs = np.log(variances[variances > 0.0])
    excess = float(logs.var(ddof=1)) - float(special.polygamma(1, freedom / 2.0))
    if excess <= 0.0:
        return math.inf
    candidates = np.geomspace(0.2, 1000.0, 20_000)
    return float(candidates[np.argmin(np.abs(special.polygamma(1, candidates / 2.0) - excess))])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row of CSV for each kind of comparison, or what else was asked for."""
    options = parser(__doc__, 200)
    options.add_argument("what", choices=("verdicts", "spreads", "collect"))
    options.add_argument("paths", type=Path, nargs="*", help="a table, or results of runs")
    given = options.parse_args(arguments)
    if given.what == "collect":
        collect(given.paths).to_csv(sys.stdout, index=False, lineterminator="\n")
    elif given.what == "spreads":
        print_rows(spreads(pd.read_csv(*given.paths)))
    else:
        print_rows(simulate(kind, noise, given.runs, given.seed)
                   for kind in KINDS for noise in NOISES)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
