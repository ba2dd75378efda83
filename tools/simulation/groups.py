"""How often statements about groups of cells are wrong, and how often a true one is made.

Runs whose truth is known, analysed by the functions that analyse real runs.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from copycost.analysis.stats.settings import FloatArray
from copycost.analysis.stats.trend_tests import Course, Path, paths, settled_signs
from tools.simulation.noise import NOISES

THREADS = (1, 2, 4, 8)
ROUNDS = (3, 5, 7, 10)
SPREAD = 0.05
"""Standard deviation of each logarithm from round to round."""
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Truth:
    """What throughput really does with the threads.

    Its logarithm has a row per size and a column per thread count; `course` is what would be right
    to say of all implementations, None where nothing is.
    """

    name: str
    logs: FloatArray
    course: str | None


def _at_all_sizes(n_sizes: int, *logs: float) -> FloatArray:
    return np.tile(np.array(logs), (n_sizes, 1))


def _parting(n_sizes: int) -> FloatArray:
    """Rises at half of the sizes as it falls at the others; at the one between nothing happens."""
    slopes = np.linspace(-0.2, 0.2, n_sizes)
    return slopes[:, None] * np.arange(len(THREADS))[None, :]


_STEP = math.log(1.15)
TRUTHS = (
    Truth("flat", _at_all_sizes(7, 0, 0, 0, 0), None),
    Truth("flat, one size", _at_all_sizes(1, 0, 0, 0, 0), None),
    Truth("+15 % per doubling", _at_all_sizes(7, 0, _STEP, 2 * _STEP, 3 * _STEP), "rises"),
    Truth("+60 %, then flat", _at_all_sizes(7, 0, 0.47, 0.47, 0.47), "rises"),
    Truth("up and down", _at_all_sizes(7, 0, 0.3, 0.3, 0.0), "turns"),
    Truth("sizes part", _parting(7), "by_size"),
)
"""The shapes that are simulated, for three implementations alike."""
N_IMPLEMENTATIONS = 3


@dataclass(frozen=True, slots=True)
class Told:
    """The result of one truth, noise and number of rounds; shares are of the runs, 0 to 1.

    `wrong`: with a statement about some implementation that is not so, a change where there is none
    or the opposite, or sizes that part where they do not. `right`: the right course is stated of
    every implementation; NaN where there is none.
    """

    truth: str
    noise: str
    n_rounds: int
    wrong: float
    right: float


def simulate(truth: Truth, noise: str, n_rounds: int, n_runs: int, seed: int) -> Told:
    """Simulate runs of one truth; what hits all cells of a round alike cancels, as for real."""
    rng = np.random.default_rng([seed, n_rounds, *map(ord, truth.name + noise)])
    wrong = right = 0
    for _ in range(n_runs):
        shape = (N_IMPLEMENTATIONS, *truth.logs.shape, n_rounds)
        logs = truth.logs[None, :, :, None] + SPREAD * NOISES[noise](rng, shape)
        courses = _courses(logs, truth)
        wrong += "wrong" in courses
        right += set(courses) == {truth.course}
    share = right / n_runs if truth.course else math.nan
    return Told(truth.name, noise, n_rounds, wrong / n_runs, share)


def _courses(logs: FloatArray, truth: Truth) -> list[str]:
    """Return what is said of each implementation, or ``wrong``; as question 3 says it."""
    names = [str(which) for which in range(len(logs))]
    found = paths(
        {name: _pairs(values) for name, values in zip(names, logs, strict=True)}, CONFIDENCE
    )
    wholes = logs[:, :, -1] - logs[:, :, 0]
    halves = [[part.mean(axis=0) for part in _halves(one)] for one in wholes]
    signs = [_settled([list(one) for one in wholes]), _settled(halves)]
    return [
        _course(found[name], signs[0][which], signs[1][which], truth)
        for which, name in enumerate(names)
    ]


def _halves(values: FloatArray) -> list[FloatArray]:
    middle = len(values) // 2
    return [values[:middle], values[middle:]] if middle else []


def _settled(rows: list[list[FloatArray]]) -> list[list[int]]:
    """Return the signs of each implementation's ratios, all of which are tested together."""
    signs = iter(settled_signs([row for one in rows for row in one], CONFIDENCE))
    return [[next(signs) for _ in one] for one in rows]


def _pairs(values: FloatArray) -> dict[tuple[int, int], FloatArray]:
    means = values.mean(axis=0)
    return {
        (THREADS[i], THREADS[j]): means[j] - means[i]
        for i, j in combinations(range(len(THREADS)), 2)
    }


def _course(path: Path, sizes: list[int], halves: list[int], truth: Truth) -> str:
    whole = truth.logs[:, -1] - truth.logs[:, 0]
    true_halves = [float(part.mean()) for part in _halves(whole)]
    for signs, true in ((sizes, whole), (halves, true_halves)):
        if {1, -1} <= set(signs):
            right = _signs(np.array(true))
            return "by_size" if np.all((np.array(signs) == 0) | (signs == right)) else "wrong"
    means = truth.logs.mean(axis=0)
    for change in path.told:
        true_change = means[THREADS.index(change.end)] - means[THREADS.index(change.start)]
        if change.sign != _signs(true_change):
            return "wrong"
    return path.course.value if path.course is not Course.UNSETTLED else "unsettled"


def _signs(values: FloatArray) -> FloatArray:
    return np.sign(np.round(values, 9))
