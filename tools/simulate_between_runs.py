"""How often ``./run compare`` is wrong about two sides that are alike, and what it finds.

Runs whose truth is known, judged by the function that judges real ones; and how far real runs of
the same thing differ. As a page::

    PYTHONPATH=workflow python -m tools.simulate_between_runs page docs/between_runs.csv

What was measured of runs of the same thing becomes that file by::

    PYTHONPATH=workflow python -m tools.simulate_between_runs collect RESULTS... > table.csv
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from copycost.between_runs.folders import read_results
from copycost.between_runs.gate import Gate
from copycost.between_runs.samples import (
    CELL,
    QUANTITIES,
    Cell,
    Rounds,
    RunRounds,
    Sides,
    rounds_of,
    sides_of,
)
from copycost.between_runs.verdicts import (
    MEASURED_SPREAD,
    Judgement,
    RunSpread,
    judge,
    spread_of_runs,
)
from copycost.stats.settings import FloatArray
from tools.simulation.noise import DRIFT, NOISES

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
    """How runs are made and compared.

    Attributes
    ----------
    name
        What it is called in the page.
    n_a, n_b, n_rounds
        Runs of either side, and rounds of each.
    allowed
        The spread that single runs are judged with.
    scale
        By how much runs differ, in times of what was measured.
    in_turn
        Whether rounds of both sides alternate, so that what moves the host moves both.
    b_scale
        How much more the runs of B differ than those of A.
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


def spread_rows(table: pd.DataFrame) -> Iterator[str]:
    """Yield the rows of the table of measured spreads."""
    for quantity in table["quantity"].unique():
        runs = measured_sides(table, quantity)
        found = spread_of_runs(Sides(runs, ()))
        assert found is not None
        cells = np.array([[run[cell].logs.mean() for cell in runs[0]] for run in runs])
        totals = cells.std(axis=0, ddof=1)
        rounds = np.median([of.logs.std(ddof=1) for run in runs for of in run.values()])
        # how far the cells' variances scatter beyond what so few runs of one spread let expect
        freedom = prior_freedom(np.square(totals), len(runs) - 1)
        yield (
            f"| {quantity.replace('_', ' ')} | {len(runs[0])} | {len(runs)} | "
            f"{rounds:.1%} | {np.median(totals):.1%} | {totals.max():.1%} | {found.cell:.1%} | "
            f"{found.whole:.1%} | "
            f"{'many' if math.isinf(freedom) else f'{freedom:.0f}'} |\n"
        )


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


def page(table: pd.DataFrame, results: Sequence[Told], n_runs: int, seed: int) -> str:
    """Return the page."""
    rows = "".join(
        f"| {one.kind} | {one.noise} | {one.cells:.1%} | {one.groups:.1%} | {one.whole:.1%} | "
        f"{one.gate:.1%} | {one.found_whole:.0%} | {one.found_cells:.0%} | {one.mixed:.0%} |\n"
        for one in results
    )
    return _PAGE.format(
        n_runs=n_runs, seed=seed, rows=rows, measured="".join(spread_rows(table)),
        round_spread=ROUND_SPREAD, cell=MEASURED_SPREAD.cell, whole=MEASURED_SPREAD.whole,
        freedom=MEASURED_SPREAD.freedom, n_cells=len(CELLS),
        error=math.sqrt(0.05 * 0.95 / n_runs), **_summary(results),
    )  # fmt: skip


def _summary(results: Sequence[Told]) -> dict[str, str]:
    """Return the worst rates, of the kinds whose assumptions hold and of those where they don't."""

    def worst(kinds: Sequence[str], noises: Sequence[str]) -> str:
        rates = [
            max(one.cells, one.groups, one.whole, one.gate)
            for one in results
            if one.kind in kinds and one.noise in noises
        ]
        return f"{max(rates):.1%}" if rates else "none"

    every = list(NOISES)
    independent = [name for name in every if name != DRIFT]
    return {
        "worst_single": worst(["one run each", "one run each, 3 rounds"], every),
        "worst_alone": worst([KINDS[0].name], every),
        "worst_twice": worst(["one run each, runs differ twice as much"], every),
        "worst_turn": worst(["one run each, in turn"], independent),
        "worst_turn_drift": worst(["one run each, in turn"], [DRIFT]),
        "worst_runs": worst(
            [kind.name for kind in KINDS if kind.n_a > 1 and kind.b_scale == 1.0], every
        ),
        "worst_unequal": worst([kind.name for kind in KINDS if kind.b_scale != 1.0], every),
    }


_PAGE = """\
# Two runs compared: how far runs of the same thing differ, and how often a verdict is wrong

`./run compare A/results B/results` compares two runs, or several of either side. Written by

    PYTHONPATH=workflow python -m tools.simulate_between_runs \\
        page docs/between_runs.csv --runs {n_runs} --seed {seed}

## How far runs of the same thing differ

`between_runs.csv` has the rounds of six runs of the same small grid, one after the other within ten
minutes on one virtual machine with two CPUs, which other programs kept busy meanwhile (a load
average of 5 to 9): a quiet host's runs should be closer together. *Rounds*: the standard deviation
from round to round within a run, of the middle cell (of logarithms, as all here). *Middle*,
*Largest*: that of a run's mean from run to run, of the middle cell and of the one with the largest.
*Beyond rounds*: what is left of the middle one, made the middle of what so few runs have, when the
part that follows from the scatter within the runs is taken off. *Whole*: the same of the mean of
all cells. *Freedom*: how alike the cells are in it; few degrees of freedom are cells that differ
much.

| Quantity | Cells | Runs | Rounds | Middle | Largest | Beyond rounds | Whole | Freedom |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{measured}
Where each side is a single run, and nothing else is said (`--run-spread`), its intervals allow for
{cell:.1%} of a cell and {whole:.1%} of the whole, about the most of the three, with the
{freedom:.0f} degrees of freedom that six runs have. That is one machine's. What another one's is,
several runs of the same thing tell there: `./run compare A1 A2 A3 --with B1 B2 B3` prints it.

## How often a verdict is wrong

{n_runs:,} comparisons of each kind, of {n_cells} cells whose truth is known. The rounds of a cell
scatter by {round_spread:.0%} in the middle, from cell to cell by a factor of about 1.6. Each run
moves all cells alike (normally) and each cell by its own, by the noise that its rounds have, so
that its spread is the one above in the mean and another one in each cell.

*Cells*, *groups*, *whole*: comparisons of equals in which any cell (after Holm's correction), any
group of cells (implementations and sizes, corrected together) or the whole is said to differ.
*Gate*: comparisons of sides 5% apart in every cell in which `--fail-if slower:5%` fails. Each may
be 5% at most, but for chance ({error:.1%} is the standard error of 5%). *Found*: of B 10% slower
throughout, comparisons whose whole is told so, and cells that are. *Mixed*: of one half of the
cells 30% slower and the other faster by as much, comparisons that say they contradict each other.

- One run each with that allowance: at most {worst_single} wrong. By their rounds alone it would be
  up to {worst_alone}; where runs differ twice as much as allowed for, up to {worst_twice}.
- Rounds measured in turn: at most {worst_turn}, and {worst_turn_drift} where what moves each side
  by itself drifts from round to round.
- Several runs of a side: at most {worst_runs}, however much they differ. Where the runs of one side
  differ twice as much as those of the other: at most {worst_unequal}.

| Compared | Noise | Cells | Groups | Whole | Gate | Found whole | Found cells | Mixed |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page, or the table that it is made from."""
    parser = argparse.ArgumentParser(
        prog="tools.simulate_between_runs", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    of_page = commands.add_parser("page")
    of_page.add_argument("table", type=Path)
    of_page.add_argument("--runs", type=int, default=500, help="comparisons of each kind [count]")
    of_page.add_argument("--seed", type=int, default=1)
    commands.add_parser("collect").add_argument("folders", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    if options.command == "collect":
        collect(options.folders).to_csv(sys.stdout, index=False, lineterminator="\n")
        return 0
    results = [
        simulate(kind, noise, options.runs, options.seed) for kind in KINDS for noise in NOISES
    ]
    print(page(pd.read_csv(options.table), results, options.runs, options.seed), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
