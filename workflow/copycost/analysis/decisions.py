"""The decision table of a condition: at each size the fastest way and the cheapest, or the tie."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from copycost.analysis.condition_view import View
from copycost.analysis.json_values import Facts
from copycost.analysis.log_ratios import LogCube
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.analysis.ratio_facts import cell_counts, ratio_facts
from copycost.analysis.wire import MACHINES, priced
from copycost.stats.best import Told, find_best
from copycost.stats.ratios import holm, simultaneous_ratio
from copycost.stats.settings import FloatArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]

BITRATE = 10e9
"""Bitrate whose CPUs are told [bit/s]."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What ways are compared by."""

    column: str
    """Of the table with a row per repetition."""
    more_is_better: bool = False
    unit: float = 1.0
    """Factor from the column's unit to the one that is told."""


@dataclass(frozen=True, slots=True)
class Contest:
    """The ways that were measured under one condition, and what they are compared by."""

    ways: tuple[str, ...]
    """In the order of the config, each with some measured repetition."""
    msg_bytes: tuple[int, ...]
    n_threads: tuple[int, ...]
    """Of the configured grid, like the sizes above, ascending."""
    cube: LogCube
    """What was measured."""
    speed: Scale
    price: Scale | None
    """What makes the cheapest way, as `speed` makes the fastest; None where none was counted."""
    confidence: float


def stream_decisions(view: View, peers: Mapping[str, Mapping[str, Any]]) -> Facts:
    """Return the decision table of a condition of the streams of messages; see `decision_facts`.

    Its price is the CPUs that `BITRATE` takes: of both sides, or of the only one; over the network
    to another machine, of both machines. Whose it is there, ``cpu_of`` tells; see
    `copycost.analysis.wire.priced`.
    """
    rows, cpu_of = priced(view.rows, view.studied.condition.testbed, peers)
    view = replace(view, rows=rows)
    cpu_ns = MACHINES if cpu_of == "machines" else view.per_byte("cpu_ns")
    price = Scale(cpu_ns, unit=BITRATE / 8.0 * 1e-9) if view.counted(cpu_ns) else None
    return decision_facts(
        Contest(
            tuple(name for name in view.implementations if view.has(name)),
            view.msg_bytes,
            view.n_threads,
            view.cube,
            Scale(THROUGHPUT, more_is_better=True),
            price,
            view.settings.confidence,
        )
    ) | {"cpu_of": cpu_of}


def decision_facts(contest: Contest) -> Facts:
    """Return the decision table of a condition.

    Keys
    ----
    baseline: What ratios are to: two_copy where it was measured, else the first of the ways; None
        where nothing was measured.
    rows: Per size, ascending: one row over all thread counts together, of which every round is the
        mean of the logarithms; or one per thread count, where these cannot be told together (see
        `are_together`).
    by_threads: Per thread count, n_threads and its rows.

    Keys of a row
    -------------
    msg_bytes, n_threads, missing: The size and the thread counts that it is about, and the ways of
        the condition that were not measured here.
    fastest, cheapest: What is told of either (below); None where nothing was measured.
    price: What the cheapest way (the likeliest of several) costs: the lowest and the highest median
        over the thread counts, in the contest's unit; None like `cheapest`, and of a reference that
        has no repetition of its own.

    Keys of fastest and cheapest
    ----------------------------
    told, ways: See `copycost.stats.best.Best`: who is the best, or all that may be it.
    settled: Whether a best one stands after Holm's correction for the rows of the table, too.
    ratio: Of the first of these ways that is not the baseline, to the baseline: implementation, and
        the keys of `ratio_facts`; None where there is none. The interval of a best one is that by
        which it is better; of others, it allows for its having been picked.
    """
    table = _Table(contest)
    threads = range(len(contest.n_threads))
    return {
        "baseline": table.baseline,
        "ways": list(contest.ways),
        "n_threads": list(contest.n_threads),
        "rows": table.rows([*threads]),
        "by_threads": [
            {"n_threads": contest.n_threads[place], "rows": table.rows([place])}
            for place in threads
        ],
    }


class _Table:
    """The rows of a contest, from arrays of shape (ways, sizes, thread counts, rounds)."""

    def __init__(self, contest: Contest) -> None:
        """Look at a contest."""
        self._contest = contest
        self._speed = _logs(contest, contest.speed)
        self._price = _logs(contest, contest.price) if contest.price else None
        first = next(iter(contest.ways), None)
        self.baseline = BASELINE if BASELINE in contest.ways else first

    def rows(self, threads: list[int]) -> list[Facts]:
        """Return the rows over these places of thread counts, in the order of the sizes."""
        rows: list[Facts] = []
        p_values: dict[str, list[float]] = {"fastest": [], "cheapest": []}
        for size in range(len(self._contest.msg_bytes)):
            scales = [logs for logs in (self._speed, self._price) if logs is not None]
            confidence = self._contest.confidence
            whole = all(are_together(logs[:, size, threads], confidence) for logs in scales)
            for places in [threads] if whole else [[place] for place in threads]:
                rows.append(self._row(size, places, p_values))
        for name, found in p_values.items():
            stand = holm(np.array(found)) < 1.0 - self._contest.confidence
            for row, stands in zip(rows, stand, strict=True):
                if row[name]:
                    row[name]["settled"] = bool(stands)
        return rows

    def _row(self, size: int, threads: list[int], p_values: dict[str, list[float]]) -> Facts:
        contest = self._contest
        here = _measured(self._speed[:, size, threads].mean(axis=1))
        names = zip(contest.ways, here, strict=True)
        told = {
            "fastest": self._told(self._speed, contest.speed, size, threads),
            "cheapest": self._told(self._price, contest.price, size, threads),
        }
        for name, found in told.items():
            p_values[name].append(found.pop("p_value") if found else math.nan)
        return {
            "msg_bytes": contest.msg_bytes[size],
            "n_threads": [contest.n_threads[place] for place in threads],
            "missing": [way for way, is_here in names if not is_here],
            **told,
            "price": self._paid(told["cheapest"], size, threads),
        }

    def _told(
        self, logs: FloatArray | None, scale: Scale | None, size: int, threads: list[int]
    ) -> Facts | None:
        if logs is None or scale is None:
            return None
        rounds = logs[:, size, threads].mean(axis=1)
        here = np.flatnonzero(_measured(rounds))
        if not len(here):
            return None
        best = find_best(rounds[here], self._contest.confidence)
        members = [int(here[place]) for place in best.members]
        ways = [self._contest.ways[place] for place in members]
        return {
            "told": best.told.value,
            "ways": ways,
            # of a best one, the interval is that by which `find_best` decided
            "ratio": self._ratio(
                rounds, scale, members, 1 if best.told is Told.BEST else len(here) - 1
            ),
            "p_value": best.p_value,
        }

    def _ratio(
        self, rounds: FloatArray, scale: Scale, members: list[int], n_picked_from: int
    ) -> Facts | None:
        ways = self._contest.ways
        picked = next((place for place in members if ways[place] != self.baseline), None)
        if picked is None or self.baseline is None or not n_picked_from:
            return None
        logs = rounds[picked] - rounds[ways.index(self.baseline)]
        signed = logs if scale.more_is_better else -logs
        found = simultaneous_ratio(signed, n_picked_from, self._contest.confidence)
        if not found.n_pairs:
            return None
        return {"implementation": ways[picked]} | ratio_facts(found)

    def _paid(self, cheapest: Facts | None, size: int, threads: list[int]) -> Facts | None:
        contest = self._contest
        if cheapest is None or contest.price is None:
            return None
        logs = contest.cube.values(contest.price.column, cheapest["ways"][0])
        cells = [(contest.msg_bytes[size], contest.n_threads[place]) for place in threads]
        medians = contest.price.unit * logs.reindex(cells).map(np.exp).median(axis=1).dropna()
        if medians.empty:
            return None  # measured beside other ways only
        return {"low": float(medians.min()), "high": float(medians.max())}


def are_together(logs: FloatArray, confidence: float) -> bool:
    """Tell whether thread counts have one row: all ways have all of them, and none disagrees.

    They disagree where some are shown to be for one of the ways that would be named of them
    together, and others for another way. What the ways that are not named do among each other is
    not told, so it does not count. Shape of `logs`: (ways, thread counts, rounds), logarithms,
    higher is better; NaN where there is none.
    """
    if logs.shape[1] < 2:
        return True
    rounds = logs.mean(axis=1)
    whole = _measured(rounds)
    if not np.array_equal(whole, np.isfinite(logs).any(axis=(1, 2))):
        return False
    if not whole.any():
        return True
    rounds, logs = rounds[whole], logs[whole]
    index = pd.RangeIndex(logs.shape[1], name="n_threads")
    return not any(
        cell_counts(pd.DataFrame(logs[member] - logs[other], index=index), confidence)["contradict"]
        for member in find_best(rounds, confidence).members
        for other in range(len(logs))
        if other != member
    )


def _measured(rounds: FloatArray) -> BoolArray:
    """Return which ways have any value; shape of `rounds`: (ways, rounds)."""
    return np.asarray(np.isfinite(rounds).any(axis=1))


def _logs(contest: Contest, scale: Scale) -> FloatArray:
    """Return logarithms, higher is better, shape (ways, sizes, thread counts, rounds)."""
    axes = ["msg_bytes", "n_threads"]
    cells = pd.MultiIndex.from_product([contest.msg_bytes, contest.n_threads], names=axes)
    tables = [contest.cube.relative(scale.column, way).reindex(cells) for way in contest.ways]
    n_rounds = max((table.shape[1] for table in tables), default=0)
    shape = (len(contest.ways), len(contest.msg_bytes), len(contest.n_threads), n_rounds)
    logs = np.array([table.to_numpy(np.float64) for table in tables]).reshape(shape)
    return logs if scale.more_is_better else -logs
