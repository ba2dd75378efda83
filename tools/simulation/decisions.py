"""How often a decision table names a way that is not the best, and how often it names the best one.

Runs whose truth is known, decided by the functions that decide real runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from copycost.analysis.decisions import are_together
from copycost.analysis.stats.best import Best, Told, find_best
from copycost.analysis.stats.ratios import holm
from copycost.analysis.stats.settings import FloatArray
from tools.simulation.noise import NOISES
from tools.simulation.truths import CURVES, MEASURED, STREAM_SIZES

ROUNDS = (3, 5, 7, 10)
SPREAD = 0.05
"""Standard deviation of each logarithm from round to round, unless a truth has its own."""
CONFIDENCE = 0.95
N_THREADS = 4


@dataclass(frozen=True, slots=True)
class Truth:
    """How fast ways really are.

    Logarithms of speeds (higher is better) have the shape (ways, sizes, thread counts), and so have
    their standard deviations from round to round.
    """

    name: str
    logs: FloatArray
    spreads: FloatArray


def _truth(name: str, logs: FloatArray, spread: float = SPREAD) -> Truth:
    return Truth(name, logs, np.full(logs.shape, spread))


def _ways(*leads: float, n_threads: int = 1) -> FloatArray:
    """Return ways whose leads are the same in every cell, over seven sizes."""
    return np.tile(np.array(leads)[:, None, None], (1, len(STREAM_SIZES), n_threads))


def _lines() -> FloatArray:
    """Return speeds of costs that are lines and bends over the size, which cross."""
    at = np.array(STREAM_SIZES, dtype=np.float64)
    first, second = CURVES["bends at L1 and L2"]
    third = CURVES["steps at segments"][1]
    costs = np.array([cost(at) for cost in (first, second, third)])
    return np.asarray(-np.log(costs)[:, :, None])


def _measured() -> Truth:
    """Return what a real run over veth measured, with the spreads that it had."""
    rows = MEASURED[MEASURED["condition"] == "veth"]
    keys = ["implementation", "msg_bytes", "n_threads"]
    shape = tuple(rows[key].nunique() for key in keys)
    ordered = rows.sort_values(keys)
    logs = -np.log(ordered["ns_per_message"].to_numpy(np.float64)).reshape(shape)
    spreads = ordered["spread"].fillna(SPREAD).to_numpy(np.float64).reshape(shape)
    return Truth("as measured over veth", logs, spreads / math.sqrt(2.0))


def _turning(step: float) -> FloatArray:
    """Return two ways that change places between the second and the third thread count."""
    lead = step * np.array([1.0, 1.0, -1.0, -1.0])
    one = np.tile(lead, (len(STREAM_SIZES), 1))
    return np.stack([one, np.zeros_like(one)])


def _unlike_spreads() -> Truth:
    logs = _ways(0.0, 0.0, 0.0, 0.0)
    spreads = np.tile(np.array([0.01, 0.03, 0.1, 0.3])[:, None, None], (1, *logs.shape[1:]))
    return Truth("four alike, unlike spreads", logs, spreads)


TRUTHS = (
    _truth("two alike", _ways(0, 0)),
    _truth("three alike", _ways(0, 0, 0)),
    _truth("twelve alike", _ways(*[0.0] * 12)),
    _truth("two alike and far ahead", _ways(0, 0, -0.5, -0.7)),
    _unlike_spreads(),
    _truth("three alike, four thread counts", _ways(0, 0, 0, n_threads=N_THREADS)),
    _truth("one ahead by 2 %", _ways(0.02, 0, 0)),
    _truth("one ahead by 10 %", _ways(0.1, 0, 0)),
    _truth("one ahead by 30 % of eleven others", _ways(0.3, *[0.0] * 11)),
    _truth("lines and bends", _lines()),
    _truth("places change with the threads, 3 %", _turning(0.03)),
    _truth("places change with the threads, 20 %", _turning(0.2)),
    _measured(),
)
"""What is simulated. None has the shape that the test is made for, which has no shape."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one truth, noise and number of rounds; shares, 0 to 1.

    `wrong` rows name a way that is not the best over the row's thread counts; `wrong_settled`
    tables have a settled answer that is wrong; `lost` rows lack the best way in their answer (one
    of the best, where several are); `right` rows name it, NaN where there is none.
    """

    truth: str
    noise: str
    n_rounds: int
    wrong: float
    wrong_settled: float
    lost: float
    right: float


def simulate(truth: Truth, noise: str, n_rounds: int, n_runs: int, seed: int) -> Found:
    """Simulate runs of one truth; what hits all cells of a round alike cancels, as for real."""
    rng = np.random.default_rng([seed, n_rounds, *map(ord, truth.name + noise)])
    rows: list[_Row] = []
    n_settled_wrong = 0
    for _ in range(n_runs):
        scatter = NOISES[noise](rng, (*truth.logs.shape, n_rounds))
        logs = truth.logs[..., None] + truth.spreads[..., None] * scatter
        table = [row for size in range(logs.shape[1]) for row in _rows(logs[:, size], truth, size)]
        stands = holm(np.array([row.best.p_value for row in table])) < 1.0 - CONFIDENCE
        n_settled_wrong += any(
            row.wrong and settled for row, settled in zip(table, stands, strict=True)
        )
        rows += table
    one_is_best = [row for row in rows if len(row.true) == 1]
    wrong, lost = (_share([getattr(row, what) for row in rows]) for what in ("wrong", "lost"))
    right = _share([row.named and not row.wrong for row in one_is_best])
    return Found(truth.name, noise, n_rounds, wrong, n_settled_wrong / n_runs, lost, right)


@dataclass(frozen=True, slots=True)
class _Row:
    """What a row says, and which ways are truly the best over its thread counts."""

    best: Best
    true: frozenset[int]

    @property
    def named(self) -> bool:
        return self.best.told is Told.BEST

    @property
    def wrong(self) -> bool:
        return self.named and self.true != {self.best.members[0]}

    @property
    def lost(self) -> bool:
        return not self.true & set(self.best.members)


def _rows(logs: FloatArray, truth: Truth, size: int) -> list[_Row]:
    """Return the rows of one size, from logarithms of shape (ways, thread counts, rounds)."""
    threads = list(range(logs.shape[1]))
    parts = [threads] if are_together(logs, CONFIDENCE) else [[place] for place in threads]
    found = []
    for part in parts:
        true = np.round(truth.logs[:, size, part].mean(axis=1), 9)
        best = find_best(logs[:, part].mean(axis=1), CONFIDENCE)
        found.append(_Row(best, frozenset(np.flatnonzero(true == true.max()).tolist())))
    return found


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else math.nan
