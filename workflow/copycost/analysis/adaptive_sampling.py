"""What to measure next: where the time that is left decides most.

First comes what the first page answers: which implementation is the fastest at a size,
and which the cheapest.
As long as several may be, and may differ, they get further repetitions; those nearest to a verdict
come first, since they take the least. Then, where verdicts of neighbouring sizes turn from slower
to faster, or back, the size between them, until the two are at most a factor of 1.5 apart. Last
come other comparisons with `two_copy` whose interval holds 1 and more than differences that do not
matter. All of this is judged at a confidence of its own, higher than that of the analysis:
`copycost.config.passes` has both, and says why there are two.

The same records give the same cells, and nothing else decides: also the time that is spent is that
of the records. More time leads to more cells, and to none of them less.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.decisions import are_together
from copycost.analysis.log_ratios import AXES, LogCube
from copycost.analysis.metrics import BASELINE, ROUND_TRIP_TIMES, THROUGHPUT
from copycost.analysis.stats import ALIKE
from copycost.analysis.stats.best import Told, find_best
from copycost.analysis.stats.ratios import paired_ratio
from copycost.analysis.stats.settings import FloatArray
from copycost.config.cells import Cell
from copycost.config.config import Config
from copycost.config.grid import MOST_REPETITIONS, Grid, reference_of, repetitions_in
from copycost.config.passes import (
    FEWEST_ROUNDS,
    PASSES,
    analysed,
    confidence_to_settle,
    further_jobs,
)
from copycost.config.strategy_capabilities import can_exist
from copycost.config.testbeds import receives_on
from copycost.wording.numbers import format_size
from copycost.wording.words import plural

NARROW = 1.5
"""A bracket of sizes that spans no more than this factor is not bisected."""

STEPS = 4
"""Sizes that are added are multiples of the power of two below them over this."""

COMPARED = {"streams": THROUGHPUT, "round_trips": ROUND_TRIP_TIMES[0]}
"""What decides which implementation is the fastest, by study."""

Rows = Mapping[Cell, Mapping[str, Any]]
"""The rows of the tables of streams and of round trips, by repetition."""

# Longer than what lies between two repetitions of one run [s].
_INTERRUPTED_S = 10.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What a pass adds: the first repetition of each job, sorted."""

    cells: list[Cell]
    n_repetitions: int
    """How many they measure [count]."""
    n_left: int
    """Open answers and comparisons, and sizes between, that there is no time for [count]."""


def choose_cells(rows: Rows, config: Config, number: int) -> Choice:
    """Return what pass `number`, from 1, adds: an equal share of the time for each still to come.

    `rows` are all repetitions so far; the configuration states a time.
    """
    assert config.measure.minutes is not None, "nobody asks for passes"
    used_s = time_of(rows)
    each_s = used_s / max(len(rows), 1)
    left_s = min((MOST_REPETITIONS - len(rows)) * each_s, 60.0 * config.measure.minutes - used_s)
    rounds = Grid.of(config).rounds
    n_each = partial(repetitions_in, config, rounds=rounds)
    jobs = partial(_jobs_of, config=config, rounds=rounds)
    cubes = cubes_of(rows)
    logs, stated = log_ratios(cubes), config.statistics.confidence
    items: list[dict[Cell, int]] = []
    for cells in open_answers(cubes, stated):
        items.append({job: n for cell in cells for job, n in jobs(cell).items()})
    for cell in _sizes_between(logs, analysed(config).statistics.confidence):
        wanted_here = jobs(cell, with_baseline=True)
        items.append({job: n for job, n in wanted_here.items() if job not in rows})
    items += [jobs(cell) for cell in most_decisive(logs, stated)]
    items = [item for item in items if item]
    n_fit = left_s / max(each_s, 1e-9)
    wanted, n_left = within(items, n_fit / (PASSES + 1 - number), n_each)
    if not wanted:  # what is left is too short to be shared
        wanted, n_left = within(items, n_fit, n_each)
    cells = sorted(further_jobs(rows, wanted, n_each))
    return Choice(cells, sum(map(n_each, cells)), n_left)


def time_of(rows: Rows) -> float:
    """Return the time [s] that repetitions took, with what lies between them.

    Between two may lie the end of one job and the start of the next; but not where a run was
    interrupted, for a night perhaps.
    """
    spans = sorted((row["boot_id"], row["start_ns"], row["end_ns"]) for row in rows.values())
    gaps = [
        (after[1] - before[2]) / 1e9 for before, after in pairwise(spans) if before[0] == after[0]
    ]
    used_s = sum(float(row["wall_s"]) for row in rows.values())
    return used_s + sum(float(gap) for gap in gaps if 0.0 < gap < _INTERRUPTED_S)


def cubes_of(rows: Rows) -> dict[Cell, LogCube]:
    """Return what was measured, by what cells share that are compared: a cell of size 1."""
    tables: dict[Cell, list[dict[str, Any]]] = defaultdict(list)
    for cell, row in rows.items():
        if row["status"] == "measured":
            place = replace(cell, implementation=BASELINE, msg_bytes=1, n_threads=1, rep=1)
            names = [name for metric in _scales(place) for name in (metric, f"reference_{metric}")]
            values = {name: row.get(name) for name in ("reference", *names)}
            tables[place].append({axis: getattr(cell, axis) for axis in AXES} | values)
    return {place: LogCube(pd.DataFrame(table)) for place, table in tables.items()}


def _scales(place: Cell) -> dict[str, bool]:
    """Return what the fastest and the cheapest are found by, and whether more is better."""
    whose = "both" if receives_on(place.testbed) else "sender"
    per = "per_byte" if place.study == "streams" else "per_round_trip"
    return {COMPARED[place.study]: place.study == "streams", f"{whose}_cpu_ns_{per}": False}


def log_ratios(cubes: Mapping[Cell, LogCube]) -> dict[Cell, FloatArray]:
    """Return the logarithms of the ratios to the baseline by cell, its first repetition.

    Repetitions in which either side lacks a value are left out; comparisons without any too.
    """
    found: dict[Cell, FloatArray] = {}
    for place, cube in cubes.items():
        for name in cube.implementations:
            if name == BASELINE:
                continue
            logs = cube.pair(COMPARED[place.study], name, BASELINE)
            for (size, n), values in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                cell = replace(place, implementation=name, msg_bytes=int(size), n_threads=int(n))
                found[cell] = values[np.isfinite(values)]
    return found


def open_answers(cubes: Mapping[Cell, LogCube], confidence: float) -> list[list[Cell]]:
    """Return the cells of what may be the best, one list for each answer that is open.

    The nearest to a verdict come first. As on the first page, thread counts that do not contradict
    each other are told together.
    """
    to_settle = confidence_to_settle(confidence)
    found: list[tuple[float, list[Cell]]] = []
    for place, cube in cubes.items():
        for metric, more_is_better in _scales(place).items():
            names = cube.implementations
            points = sorted({at for name in names for at in cube.relative(metric, name).index})
            for size, of_size in groupby(points, key=lambda point: point[0]):
                here = [*of_size]
                logs = cube.side_by_side(metric, names, here)
                logs = logs if more_is_better else -logs
                together = are_together(logs, to_settle)
                for at in [[*range(len(here))]] if together else [[i] for i in range(len(here))]:
                    p_value, members = open_ones(logs[:, at], to_settle)
                    cells = [
                        replace(place, implementation=name, msg_bytes=size, n_threads=here[i][1])
                        for name in (names[member] for member in members)
                        for i in at
                    ]
                    found += [(p_value, cells)] if cells else []
    return [cells for _, cells in sorted(found)]


def open_ones(logs: FloatArray, confidence: float) -> tuple[float, list[int]]:
    """Return how near a verdict is, as a p-value, and the places of those that may be the best.

    Shape of `logs`: (implementations, thread counts, repetitions), higher is better.
    """
    means = logs.mean(axis=1)
    known = np.flatnonzero(np.isfinite(means).any(axis=1))
    if len(known) < 2:
        return math.nan, []
    best = find_best(means[known], confidence)
    few = np.isfinite(means[known]).sum(axis=1).min() < FEWEST_ROUNDS
    if best.told in (Told.BEST, Told.ALIKE) and not few:
        return math.nan, []
    members = [int(known[place]) for place in best.members]
    return float(np.nan_to_num(best.p_value, nan=1.0)), members


def most_decisive(logs: Mapping[Cell, FloatArray], confidence: float) -> list[Cell]:
    """Return the cells whose comparison is open, the one that is nearest to a verdict first.

    `logs` is as of `log_ratios`, the confidence that of the configuration.
    """

    def distance(values: FloatArray) -> float:
        """Return how far from no difference a mean lies, in standard deviations of a repetition."""
        spread = float(values.std(ddof=1)) if values.size > 1 else 0.0
        return abs(float(values.mean())) / spread if spread > 0.0 else math.inf

    still_open = [cell for cell, values in logs.items() if not is_settled(values, confidence)]
    return sorted(still_open, key=lambda cell: (-distance(logs[cell]), cell))


def is_settled(values: FloatArray, confidence: float) -> bool:
    """Return whether a comparison needs no further repetition, whatever the next would say."""
    if values.size < FEWEST_ROUNDS:
        return False
    ratio = paired_ratio(values, confidence_to_settle(confidence))
    return ratio.sign != 0 or (ratio.low > 1.0 / ALIKE and ratio.high < ALIKE)


def _jobs_of(
    cell: Cell, config: Config, rounds: int, *, with_baseline: bool = False
) -> dict[Cell, int]:
    """Return how many further jobs of which cell a comparison takes for `rounds` repetitions.

    Where each repetition has the reference with it, that needs none of its own but at a new size.
    """
    reference = reference_of(config, cell)
    names = {cell.implementation} | ({BASELINE} if with_baseline or not reference else set())
    if not with_baseline:
        names.discard(reference or "")
    return {
        replace(cell, implementation=name): 1 if reference else rounds for name in sorted(names)
    }


def within(
    items: Sequence[Mapping[Cell, int]], n_fit: float, n_each: Callable[[Cell], int]
) -> tuple[Counter[Cell], int]:
    """Return how many jobs of which cell fit, and how many items are left out.

    The first come first, and all once more as long as all fit. A cell of several items is measured
    once for all. There is time for `n_fit` repetitions, of which a job of a cell measures `n_each`.
    """
    wanted: Counter[Cell] = Counter()
    for turn in range(1, MOST_REPETITIONS):
        for place, item in enumerate(items):
            more = Counter({cell: turn * n for cell, n in item.items()}) | wanted
            if sum(n * n_each(cell) for cell, n in more.items()) > n_fit:
                return wanted, len(items) - place if turn == 1 else 0
            wanted = more
        if not items:
            break
    return wanted, 0


def _sizes_between(logs: Mapping[Cell, FloatArray], confidence: float) -> list[Cell]:
    """Return the cells of sizes between two that disagree, those of the widest bracket first."""
    signs: dict[Cell, dict[int, int]] = defaultdict(dict)
    for cell, values in logs.items():
        ratio = paired_ratio(values, confidence)
        signs[replace(cell, msg_bytes=1)][cell.msg_bytes] = ratio.sign * (ratio.n_pairs > 1)
    found = [
        (low / high, replace(series, msg_bytes=size_between(low, high)))
        for series, by_size in signs.items()
        for low, high in disagreeing(by_size)
    ]
    return [
        cell
        for _, cell in sorted(found)
        if all(
            can_exist(name, cell.testbed, cell.msg_bytes, cell.receiver, cell.placement)
            for name in (cell.implementation, BASELINE)
        )
    ]


def disagreeing(signs: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield neighbouring sizes [bytes] of unlike verdicts that lie wide apart around a crossover.

    By size, `signs` is 1 where the one is faster, -1 where the other is, 0 where it is open.
    """
    sizes = sorted(signs)
    for low, high in pairwise(size for size in sizes if signs[size]):
        if signs[low] == signs[high]:
            continue
        for below, above in pairwise(size for size in sizes if low <= size <= high):
            apart = signs[below] != signs[above] and above > NARROW * below
            if apart and below < size_between(below, above) < above:
                yield below, above


def size_between(low: int, high: int) -> int:
    """Return the size [bytes] in the middle of two by their logarithms, to a round number."""
    middle = math.sqrt(low * high)
    step = max((1 << math.floor(math.log2(middle))) // STEPS, 1)
    return round(middle / step) * step


def describe(choice: Choice, done: Collection[Cell]) -> str:
    """Return what a pass chose in words: added sizes by comparison, then further repetitions."""
    if not choice.cells and choice.n_left:
        return (
            f"copycost: {plural(choice.n_left, 'comparison')} still open, and no time for more:"
            " --minutes, or measure.minutes, gives it."
        )
    if not choice.cells:
        return "copycost: nothing more to measure: no comparison that more would help is open."
    before = {replace(cell, rep=1) for cell in done}
    chosen = {replace(cell, rep=1) for cell in choice.cells}
    sizes: dict[str, list[str]] = {}
    for cell in sorted(chosen - before):
        if cell.implementation != BASELINE:
            name = f"{cell.condition}, {plural(cell.n_threads, 'thread')}, {cell.implementation}"
            sizes.setdefault(name, []).append(format_size(cell.msg_bytes))
    said = [f"{plural(choice.n_repetitions, 'repetition')} more where comparisons are open"]
    said += [f"{name}: {', '.join(words)}" for name, words in sizes.items()]
    if chosen & before:
        said.append(f"further ones of {plural(len(chosen & before), 'cell')}")
    return f"copycost: {'; '.join(said)}."
