"""Verdicts of runs that measure on where comparisons are open, and how often they are wrong.

Simulates comparisons that get rounds as the passes of a run with a stated time give them, by the
code that chooses them there, and looks at the verdicts at the end: of equals, which should have
none, and of pairs that differ. Beside it the same time spent on equally many rounds of all, looked
at once; and the same passes with plain 95 % intervals, as somebody would who looks again and again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from copycost.analysis.adaptive_sampling import most_decisive, open_ones, within
from copycost.analysis.stats.best import Told, find_best
from copycost.analysis.stats.ratios import paired_ratio
from copycost.analysis.stats.settings import FloatArray
from copycost.config.cells import Cell
from copycost.config.passes import (
    FEWEST_ROUNDS,
    PASSES,
    confidence_of_analysis,
    confidence_to_settle,
)

CONFIDENCE = 0.95
TIMES = (2, 3, 5, 8, 16, 40)
"""What the time holds: so many rounds of every cell [count]."""

SPREADS = (0.005, 0.15)
"""Spread of a cell's ratio from repetition to repetition (standard deviation of its logarithm)."""

DIFFERENCES = (0.0, 0.0, 0.0, 0.0, 0.03, 0.1, 0.4)
"""True logarithms of the ratios to the reference; the first ones are its equals."""

SIGNS = (1.0, -1.0, 1.0, -1.0)
"""Of the differences, by size: where they are below, the reference and its equals are the best."""

TRUTH = np.outer(SIGNS, DIFFERENCES).ravel()
"""True logarithms of a run's comparisons, size by size."""

Noise = Callable[[np.random.Generator, FloatArray, tuple[int, ...]], FloatArray]


def _normal(rng: np.random.Generator, spread: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    return rng.normal(0.0, 1.0, shape) * spread


def _dips(rng: np.random.Generator, spread: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """One repetition in ten is slower, by a quarter on average."""
    return _normal(rng, spread, shape) - rng.exponential(0.3, shape) * (rng.random(shape) < 0.1)


def _modes(rng: np.random.Generator, spread: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Every other repetition is slower by a quarter, as by where the scheduler puts the threads."""
    return _normal(rng, spread, shape) - 0.3 * (rng.random(shape) < 0.5)


NOISES: Mapping[str, Noise] = {
    "normal": _normal,
    "Student's t, 3 degrees": lambda rng, spread, shape: rng.standard_t(3, shape) * spread,
    "dips": _dips,
    "two modes": _modes,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Shares of verdicts in simulated runs whose time holds so many rounds of every cell.

    On `n_equals` comparisons of equals with the reference: after equally many rounds of all, looked
    at `once`; after passes that end with plain intervals (`again`); as a run does (`here`). `other`
    are verdicts of a run on another quantity that is equal in all pairs, and whose noise goes with
    that of the throughput; `best`, that one of several that are equally good is the best.
    `found_once` and `found` are verdicts on pairs that differ, the right way round, as `once` and
    as `here`.
    """

    noise: str
    time: int
    n_equals: int
    once: float
    again: float
    here: float
    other: float
    best: float
    found_once: float
    found: float


class _Run:
    """Comparisons of one run; rounds are drawn beforehand and shown as they are asked for."""

    def __init__(self, rng: np.random.Generator, noise: Noise, n_rounds: int) -> None:
        shape = (len(TRUTH), n_rounds)
        low, high = np.log(SPREADS)
        spread = np.exp(rng.uniform(low, high, (len(TRUTH), 1)))
        # of both ways that a repetition measures in turns
        difference = noise(rng, spread, shape) - noise(rng, spread, shape)
        self.logs = TRUTH[:, None] + difference
        # half of its variance is that of the throughput
        self.other = difference + noise(rng, spread, shape) - noise(rng, spread, shape)
        self.cells = [
            Cell("streams", "veth", f"way_{way}", 1 + size, 1)
            for size in range(len(SIGNS))
            for way in range(len(DIFFERENCES))
        ]

    def answers(self, n_seen: Sequence[int]) -> list[FloatArray]:
        """Return what is known at each size of the reference, which is 0, and of all ways."""
        known = np.where(
            np.arange(max(n_seen)) < np.array(n_seen)[:, None], self.logs[:, : max(n_seen)], np.nan
        )
        sizes = np.split(known, len(SIGNS))
        return [np.vstack([np.zeros(max(n_seen)), ways]) for ways in sizes]

    def _open_answers(self, n_seen: Sequence[int]) -> list[list[Cell]]:
        """Return the ways that may be the best at each size, as `open_answers` does."""
        found = []
        for size, logs in enumerate(self.answers(n_seen)):
            p_value, members = open_ones(logs[:, None, :], confidence_to_settle(CONFIDENCE))
            first = size * len(DIFFERENCES) - 1  # behind the reference
            cells = [self.cells[first + member] for member in members if member]
            found += [(p_value, cells)] if cells else []
        return [cells for _, cells in sorted(found)]

    def rounds(self, time: int, settled: Callable[[FloatArray], bool] | None) -> list[int]:
        """Return how many rounds comparisons get; `settled` in place of a run's own rule."""
        first = min(time, FEWEST_ROUNDS)
        n_seen = [first] * len(self.cells)
        left = float((time - first) * len(self.cells))
        for number in range(1, PASSES + 1):
            logs = {cell: self.logs[i, : n_seen[i]] for i, cell in enumerate(self.cells)}
            if settled is None:
                more = self._open_answers(n_seen)
                more += [[cell] for cell in most_decisive(logs, CONFIDENCE)]
            else:
                more = [[cell] for cell, values in logs.items() if not settled(values)]
            jobs = [dict.fromkeys(cells, 1) for cells in more]
            wanted, _ = within(jobs, left / (PASSES + 1 - number), lambda _: FEWEST_ROUNDS)
            left -= FEWEST_ROUNDS * sum(wanted.values())
            for i, cell in enumerate(self.cells):
                n_seen[i] += FEWEST_ROUNDS * wanted[cell]
        return n_seen


def simulate(name: str, time: int, n_runs: int, seed: int) -> Outcome:
    """Simulate runs with one kind of noise and one time."""
    rng = np.random.default_rng([seed, time, list(NOISES).index(name)])
    verdicts: dict[str, list[list[int]]] = {"once": [], "again": [], "here": [], "other": []}
    stricter = confidence_of_analysis(CONFIDENCE)
    best = []
    for _ in range(n_runs):
        # the one comparison that is open may get all the time that the others leave
        run = _Run(rng, NOISES[name], time * len(DIFFERENCES) * len(SIGNS))
        here = run.rounds(time, None)
        again = run.rounds(time, lambda values: paired_ratio(values, CONFIDENCE).sign != 0)
        for what, logs, n_seen, confidence in (
            ("once", run.logs, [time] * len(TRUTH), CONFIDENCE),
            ("again", run.logs, again, CONFIDENCE),
            ("here", run.logs, here, stricter),
            ("other", run.other, here, stricter),
        ):
            seen = zip(logs, n_seen, strict=True)
            verdicts[what].append([paired_ratio(values[:n], confidence).sign for values, n in seen])
        best += [
            find_best(logs, stricter).told == Told.BEST
            for sign, logs in zip(SIGNS, run.answers(here), strict=True)
            if sign < 0.0
        ]
    found = {what: np.array(rows) for what, rows in verdicts.items()}
    equal, right = TRUTH == 0.0, np.sign(TRUTH)
    wrong = {what: float((rows[:, equal] != 0).mean()) for what, rows in found.items()}
    return Outcome(
        noise=name,
        time=time,
        n_equals=int(equal.sum()) * n_runs,
        once=wrong["once"],
        again=wrong["again"],
        here=wrong["here"],
        other=float((found["other"] != 0).mean()),
        best=float(np.mean(best)),
        found_once=float((found["once"] == right)[:, ~equal].mean()),
        found=float((found["here"] == right)[:, ~equal].mean()),
    )
