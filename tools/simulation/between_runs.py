"""How often ``./run compare`` is wrong about two sides that are alike, and what it finds.

Runs whose truth is known, judged by the function that judges real ones.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.runs.gates import Gate
from copycost.compare.runs.results import CELL, Cell, Sides
from copycost.compare.runs.verdicts import (
    MEASURED_SPREAD,
    Judgement,
    RunSpread,
    judge,
    spread_of_runs,
)
from copycost.config.checkout import ROOT
from tools.simulation.noise import NOISES

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
    judged with. Runs differ by `scale` times what was measured, those of B by `b_scale` more.
    """

    name: str
    n_a: int
    n_b: int
    n_rounds: int = 7
    allowed: RunSpread = MEASURED_SPREAD
    scale: float = 1.0
    b_scale: float = 1.0


KINDS = (
    Kind("one run each, by their rounds alone", 1, 1, allowed=NO_SPREAD),
    Kind("one run each", 1, 1),
    Kind("one run each, 3 rounds", 1, 1, n_rounds=3),
    Kind("one run each, runs differ twice as much", 1, 1, scale=2.0),
    Kind("2 and 2 runs", 2, 2),
    Kind("3 and 1 runs", 3, 1),
    Kind("3 and 3 runs", 3, 3),
    Kind("3 and 3 runs, runs differ twice as much", 3, 3, scale=2.0),
    Kind("3 and 3 runs, those of B twice as much", 3, 3, b_scale=2.0),
    Kind("5 and 5 runs", 5, 5),
)


def make_runs(rng: np.random.Generator, noise: str, kind: Kind, effects: FloatArray) -> Sides:
    """Return both sides of one comparison with these true log ratios of B over A, a cell each.

    Each run moves all cells by the same (normally), and each cell by its own (by the noise); the
    spreads of cells differ, in what moves them from round to round and from run to run.
    """
    n = len(CELLS)
    rounds = ROUND_SPREAD * np.exp(_CELLS_DIFFER * rng.normal(size=n))
    own = math.sqrt(max(MEASURED_SPREAD.cell**2 - MEASURED_SPREAD.whole**2, 0.0))
    # so that the mean of the cells' variances is what was measured
    own_spreads = own * np.exp(_CELLS_DIFFER * rng.normal(size=n) - _CELLS_DIFFER**2)
    sides: list[tuple[FloatArray, ...]] = []
    for side, n_runs in enumerate((kind.n_a, kind.n_b)):
        scale = kind.scale * (kind.b_scale if side else 1.0)
        runs = []
        for _ in range(n_runs):
            common = scale * MEASURED_SPREAD.whole * rng.normal()
            cells = scale * own_spreads * NOISES[noise](rng, (n, 1))[:, 0]
            logs = side * effects[:, None] + rounds[:, None] * NOISES[noise](
                rng, (n, kind.n_rounds)
            )
            runs.append((logs + common + cells[:, None]).T)
        sides.append(tuple(runs))
    return Sides(CELLS, *sides)


@dataclass(frozen=True, slots=True)
class Told:
    """Shares of the comparisons of one kind and noise, 0 to 1.

    Of equals, any of the `cells` is said to differ, of the `groups` (a condition, implementation or
    size), or the `whole`; `gate`: of sides that are 5 % apart in every cell ``--fail-if slower:5%``
    fails. Where B is 10 % slower throughout, the whole is told so (`found_whole`), and so are
    `found_cells` of the cells. `mixed`: half of the cells are 30 % slower and half 30 % faster, and
    are said to contradict.
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
    alike = np.ones(len(CELLS))
    truths = {
        "equal": 0.0 * alike,
        "at the bound": math.log(GATE.bound) * alike,
        "slower": math.log(0.9) * alike,
        "mixed": math.log(0.7) * np.where(np.arange(alike.size) < alike.size // 2, 1.0, -1.0),
    }
    judged: dict[str, list[Judgement]] = {name: [] for name in truths}
    for _ in range(n_runs):
        for name, effects in truths.items():
            judged[name].append(judge(make_runs(rng, noise, kind, effects), kind.allowed))
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


def _share(of: Iterable[bool]) -> float:
    return float(np.mean(list(of)))


@dataclass(frozen=True, slots=True)
class Spread:
    """How far measured runs of one thing differ in a quantity: standard deviations of logarithms.

    `rounds` is from round to round within a run, of the middle cell; `middle` and `largest` of a
    run's mean from run to run, of the middle cell and of the one with the largest. `beyond_rounds`
    and `whole` are what is left of the middle cell's, and of the mean of all cells, without the
    part that follows from the scatter within runs.
    """

    quantity: str
    n_cells: int
    n_runs: int
    rounds: float
    middle: float
    largest: float
    beyond_rounds: float
    whole: float


def measured_spread(quantity: str, *_unused: int) -> Spread:
    """Return how far the runs of docs/between_runs.csv differ."""
    table = pd.read_csv(ROOT / "docs" / "between_runs.csv")
    rows = table[table["quantity"] == quantity]
    cells = rows.groupby(["run", *CELL])
    runs = [
        run.pivot(index="rep", columns=CELL, values="log").to_numpy()
        for _, run in rows.groupby("run")
    ]
    found = spread_of_runs(Sides(CELLS[: runs[0].shape[1]], tuple(runs), ()))
    assert found is not None
    totals = cells["log"].mean().unstack("run").std(axis=1, ddof=1)
    return Spread(
        quantity, len(totals), len(runs), float(cells["log"].std(ddof=1).median()),
        float(totals.median()), float(totals.max()), found.cell, found.whole,
    )  # fmt: skip
