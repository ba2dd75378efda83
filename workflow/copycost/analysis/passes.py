"""What to measure next: sizes where a verdict changes, and rounds where time is left.

Where a comparison with `two_copy` turns from slower to faster, or back, neighbouring sizes whose
verdicts differ are bisected until they are at most a factor of 1.5 apart, or both are open. Where a
time is stated, what is left of it goes into rounds of comparisons that are not settled yet: those
whose interval holds 1 at a confidence of its own, higher than that of the analysis.
`copycost.config.looks` has the two confidences, and says why there are two.

The same records give the same cells, and nothing else decides: also the time that is spent is that
of the records.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from copycost.analysis.log_values import AXES, LogCube
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.config.config import Config
from copycost.config.extent import MOST_REPETITIONS
from copycost.config.grid import Grid
from copycost.config.looks import FEWEST_ROUNDS, PASSES, confidence_to_settle
from copycost.config.passes import further_rounds
from copycost.grid.capabilities import can_exist
from copycost.grid.cells import Cell
from copycost.stats.ratios import Direction, Ratio, paired_ratio
from copycost.stats.settings import FloatArray
from copycost.wording.plurals import plural
from copycost.wording.sizes import format_size

NARROW = 1.5
"""A bracket of sizes that spans no more than this factor is not bisected."""

STEPS = 4
"""Sizes that are added are multiples of the power of two below them over this."""

Rows = Mapping[Cell, Mapping[str, Any]]
"""The rows of the cells table by repetition, those of round trips among them."""

_COMPARED = ("reference", THROUGHPUT, f"reference_{THROUGHPUT}")

_SIGNS = {Direction.ABOVE: 1, Direction.BELOW: -1}


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds of measuring: used so far, and what one repetition takes on average."""

    used_s: float
    each_s: float


@dataclass(frozen=True, slots=True)
class Choice:
    """What a pass adds.

    Attributes
    ----------
    cells
        The repetitions, sorted.
    n_left_wide
        Brackets that would be bisected if the limits of time and cells allowed more sizes.
    """

    cells: list[Cell]
    n_left_wide: int


def choose_cells(rows: Rows, config: Config, number: int) -> Choice:
    """Return what a pass adds.

    Parameters
    ----------
    rows
        All repetitions so far.
    config
        The configuration.
    number
        Number of the pass, from 1.
    """
    time = time_of(rows)
    left_s = (MOST_REPETITIONS - len(rows)) * time.each_s
    if config.measure.minutes is not None:
        left_s = min(left_s, 60.0 * config.measure.minutes - time.used_s)
    logs = log_ratios(rows)
    wanted: dict[Cell, int] = {}
    n_left_wide = 0
    if config.refine.enabled:
        wanted, n_left_wide = _sizes_wanted(rows, logs, config, time, left_s)
    if config.measure.minutes is not None:
        left_s -= sum(wanted.values()) * time.each_s
        more = rounds_wanted(
            logs, config.statistics.confidence, left_s, time.each_s, number, carrying(rows)
        )
        for cell, n_rounds in more.items():
            wanted[cell] = max(n_rounds, wanted.get(cell, 0))
    return Choice(sorted(further_rounds(rows, wanted)), n_left_wide)


def time_of(rows: Rows) -> Time:
    """Return the time that repetitions took, with what lies between them.

    Between two lie the end of one job and the start of the next; their median, since a run may have
    been interrupted, for a night perhaps.
    """
    spans = sorted((row["boot_id"], row["start_ns"], row["end_ns"]) for row in rows.values())
    gaps = [
        (after[1] - before[2]) / 1e9 for before, after in pairwise(spans) if before[0] == after[0]
    ]
    gap_s = max(float(np.median(gaps)), 0.0) if gaps else 0.0
    used_s = sum(row["wall_s"] for row in rows.values()) + gap_s * len(rows)
    return Time(used_s, used_s / max(len(rows), 1))


def log_ratios(rows: Rows) -> dict[Cell, FloatArray]:
    """Return the logarithms of the ratios to the baseline by cell, its first repetition.

    Repetitions in which either side lacks a throughput are left out; comparisons without any too.
    """
    tables: dict[Cell, list[dict[str, Any]]] = defaultdict(list)
    for cell, row in rows.items():
        if cell.study == "streams" and row["status"] == "measured":
            place = replace(cell, implementation=BASELINE, msg_bytes=1, n_threads=1, rep=1)
            compared = {name: row.get(name) for name in _COMPARED}
            tables[place].append({axis: getattr(cell, axis) for axis in AXES} | compared)
    found: dict[Cell, FloatArray] = {}
    for place, table in tables.items():
        cube = LogCube(pd.DataFrame(table))
        for name in {row["implementation"] for row in table} - {BASELINE}:
            logs = cube.pair(THROUGHPUT, name, BASELINE)
            for (size, n), values in zip(logs.index, logs.to_numpy(np.float64), strict=True):
                cell = replace(place, implementation=name, msg_bytes=int(size), n_threads=int(n))
                found[cell] = values[np.isfinite(values)]
    return found


def carrying(rows: Rows) -> set[Cell]:
    """Return the series whose repetitions have the baseline with them."""
    return {_series(cell) for cell, row in rows.items() if row.get("reference") == BASELINE}


def _series(cell: Cell) -> Cell:
    """Return what a cell shares with those of other sizes and repetitions."""
    return replace(cell, msg_bytes=1, rep=1)


def rounds_wanted(
    logs: Mapping[Cell, FloatArray],
    confidence: float,
    left_s: float,
    each_s: float,
    number: int,
    with_baseline: Collection[Cell] = (),
) -> dict[Cell, int]:
    """Return the further rounds of each cell of a comparison that is not settled.

    All get as many, since each takes about as long: an equal share of the time for each pass that
    is still to come, one round at least, and none where the time does not hold one.

    Parameters
    ----------
    logs
        As of `log_ratios`.
    confidence
        That of the configuration.
    left_s
        What is left of the time [s].
    each_s
        What a repetition takes [s].
    number
        Number of the pass, from 1.
    with_baseline
        As of `carrying`: of these, the baseline needs no rounds of its own.
    """
    open_ones = [cell for cell, values in logs.items() if not is_settled(values, confidence)]
    alone = [cell for cell in open_ones if _series(cell) not in with_baseline]
    cells = {*open_ones, *(replace(cell, implementation=BASELINE) for cell in alone)}
    round_s = len(cells) * each_s
    if not cells or left_s < round_s or round_s <= 0.0:
        return {}
    n_rounds = max(int(left_s / (PASSES + 1 - number) / round_s), 1)
    return dict.fromkeys(cells, n_rounds)


def is_settled(values: FloatArray, confidence: float) -> bool:
    """Return whether a comparison needs no further round, whatever the next ones would say."""
    if values.size < FEWEST_ROUNDS:
        return False
    return _sign(paired_ratio(values, confidence_to_settle(confidence))) != 0


def _sign(ratio: Ratio) -> int:
    return _SIGNS.get(ratio.direction, 0)


@dataclass(frozen=True, slots=True, order=True)
class _Gap:
    """Two sizes that disagree, the widest first: the cell of the size between them."""

    narrowness: float
    n_threads: int
    cell: Cell


def _sizes_wanted(
    rows: Rows, logs: Mapping[Cell, FloatArray], config: Config, time: Time, left_s: float
) -> tuple[dict[Cell, int], int]:
    """Return the rounds of each cell of the added sizes, and how many brackets the limits leave."""
    grid = Grid.of(config).cells
    n_rounds = {cell.testbed: cell.rep for cell in grid if cell.study == "streams"}
    stated = {replace(cell, rep=1) for cell in grid}
    added = {replace(cell, rep=1) for cell in rows} - stated
    spent_s = time.each_s * sum(n_rounds[cell.testbed] for cell in added)
    left_s = min(left_s, 60.0 * config.refine.max_minutes - spent_s)
    wanted: dict[Cell, int] = {}
    n_left_wide = 0
    with_baseline = carrying(rows)
    for gap in sorted(_gaps(logs, config.analysed().statistics.confidence)):
        baseline = replace(gap.cell, implementation=BASELINE)
        pair = {gap.cell, baseline}
        if baseline in added and _series(gap.cell) in with_baseline:
            pair = {gap.cell}
        more = wanted | dict.fromkeys(pair, n_rounds[gap.cell.testbed])
        n_cells = len(added.union(more))
        if n_cells <= config.refine.max_cells and sum(more.values()) * time.each_s <= left_s:
            wanted = more
        else:
            n_left_wide += 1
    return wanted, n_left_wide


def _gaps(logs: Mapping[Cell, FloatArray], confidence: float) -> Iterator[_Gap]:
    signs: dict[Cell, dict[int, int]] = defaultdict(dict)
    for cell, values in logs.items():
        signs[_series(cell)][cell.msg_bytes] = _sign(paired_ratio(values, confidence))
    for series, by_size in signs.items():
        for low, high in disagreeing(by_size):
            cell = replace(series, msg_bytes=size_between(low, high))
            if _can_be_compared(cell):
                yield _Gap(low / high, series.n_threads, cell)


def _can_be_compared(cell: Cell) -> bool:
    return all(
        can_exist(name, cell.testbed, cell.msg_bytes, cell.receiver, cell.placement)
        for name in (cell.implementation, BASELINE)
    )


def disagreeing(signs: Mapping[int, int]) -> list[tuple[int, int]]:
    """Return neighbouring sizes [bytes] of unlike verdicts that lie wide apart around a crossover.

    Parameters
    ----------
    signs
        By size: 1 where the one way is faster, -1 where the other is, 0 where it is open.
    """
    sizes = sorted(signs)
    found = []
    for low, high in pairwise(size for size in sizes if signs[size]):
        if signs[low] == signs[high]:
            continue
        within = [size for size in sizes if low <= size <= high]
        found += [
            (below, above)
            for below, above in pairwise(within)
            if signs[below] != signs[above] and above > NARROW * below
        ]
    return [(low, high) for low, high in found if low < size_between(low, high) < high]


def size_between(low: int, high: int) -> int:
    """Return the size [bytes] in the middle of two by their logarithms, to a round number."""
    middle = math.sqrt(low * high)
    step = max((1 << math.floor(math.log2(middle))) // STEPS, 1)
    return round(middle / step) * step


def describe(choice: Choice, done: Collection[Cell]) -> str:
    """Return what a pass chose in words: added sizes by comparison, then further rounds."""
    said = _what_is_added(choice.cells, done)
    if choice.n_left_wide:
        widely = plural(choice.n_left_wide, "change of verdict", "changes of verdict")
        said.append(
            f"{widely} not narrowed down further, since refine.max_minutes or refine.max_cells is"
            " reached"
        )
    elif not said:
        said = ["nothing more to measure: no comparison that more would help is open"]
    return f"copycost: {'; '.join(said)}."


def _what_is_added(cells: Sequence[Cell], done: Collection[Cell]) -> list[str]:
    if not cells:
        return []
    before = {replace(cell, rep=1) for cell in done}
    chosen = {replace(cell, rep=1) for cell in cells}
    sizes: dict[str, list[str]] = {}
    for cell in sorted(chosen - before):
        if cell.implementation != BASELINE:
            name = f"{cell.condition}, {plural(cell.n_threads, 'thread')}, {cell.implementation}"
            sizes.setdefault(name, []).append(format_size(cell.msg_bytes))
    said = [f"{plural(len(cells), 'repetition')} more where comparisons are open"]
    said += [f"{name}: {', '.join(words)}" for name, words in sizes.items()]
    if chosen & before:
        said.append(f"further rounds of {plural(len(chosen & before), 'cell')}")
    return said
