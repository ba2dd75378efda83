"""Which sizes to add to a grid: those that would place a crossover that it leaves open.

A comparison with `two_copy` along the sizes is looked at again where its verdict changes from one
size to the next and the crossover there is undecided or wide. Between those two sizes lie others, a
factor of the square root of two apart; the nearest to where the ratio seems to be 1 come first. All
comparisons take turns until the cells that may be added are spent. The same table always gives the
same cells, and cells that were added have no say in it, so that a further run adds none.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import pandas as pd

from copycost.analysis.log_values import LogCube
from copycost.analysis.metrics import BASELINE, THROUGHPUT
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.refined import Added
from copycost.grid.capabilities import can_exist
from copycost.grid.cells import Cell
from copycost.grid.conditions import Condition
from copycost.stats.crossover import Change, Crossover, Outcome, find_crossover
from copycost.stats.settings import StatisticsSettings

#: A crossover is wide where its bracket spans more than this factor of sizes.
WIDE = 2.0

#: Sizes that may be added are this many to a doubling: a factor of the square root of two.
PER_DOUBLING = 2

# A size so near to one of the grid (a quarter of a doubling) would tell nothing new.
_NEAREST = 2**0.25

_OPEN = (Outcome.FROM, Outcome.UP_TO, Outcome.MIXED, Outcome.UNDECIDED)


def choose_sizes(table: pd.DataFrame, config: Config) -> list[Added]:
    """Return the sizes to add, at most `refine.max_cells` cells in all.

    Parameters
    ----------
    table
        The cells table of the first pass: the grid of the configuration and no more.
    config
        The configuration.
    """
    waiting = [list(sizes) for sizes in _candidates(table, config)]
    chosen: list[Added] = []
    spent: set[Cell] = set()
    while any(waiting):
        for sizes in waiting:
            if not sizes:
                continue
            added = sizes.pop(0)
            cells = spent.union(added.cells(1))
            if len(cells) <= config.refine.max_cells:
                chosen.append(added)
                spent = cells
    return sorted(chosen)


def _candidates(table: pd.DataFrame, config: Config) -> Iterator[list[Added]]:
    """Yield the sizes that each comparison would like, few threads first, best size first."""
    settings = StatisticsSettings(
        config.statistics.confidence, config.statistics.resamples, config.statistics.seed
    )
    grid = Grid.of(config)
    measured = table[table["status"] == "measured"]
    by_condition = dict(list(measured.groupby("condition")))
    names = dict.fromkeys([*config.streams.implementations, *config.udp.implementations])
    cubes = {
        condition: LogCube(by_condition[condition.slug])
        for condition in grid.conditions
        if condition.slug in by_condition
    }
    sizes: dict[tuple[Condition, str, int], list[int]] = {}
    for cell in grid.cells:
        if cell.study == "streams" and cell.rep == 1:
            key = (
                Condition(cell.testbed, cell.working_set, cell.receiver),
                cell.implementation,
                cell.n_threads,
            )
            sizes.setdefault(key, []).append(cell.msg_bytes)
    for n_threads in sorted({n_threads for _, _, n_threads in sizes}):
        for condition, cube in cubes.items():
            for name in names:
                stated = sizes.get((condition, name, n_threads), [])
                if name == BASELINE or not stated:
                    continue
                logs = _log_ratios(cube.pair(THROUGHPUT, name, BASELINE), n_threads)
                found = find_crossover(logs, stated, settings)
                yield [
                    Added(
                        condition.testbed,
                        condition.working_set,
                        condition.receiver,
                        n_threads,
                        name,
                        BASELINE,
                        size,
                        found.outcome.value,
                    )
                    for size in sizes_between(found, {n: float(np.nanmean(logs[n])) for n in logs})
                    if all(
                        can_exist(each, condition.testbed, size, condition.receiver)
                        for each in (name, BASELINE)
                    )
                ]


def _log_ratios(pairs: pd.DataFrame, n_threads: int) -> dict[int, np.ndarray]:
    """Return the logarithms of the rounds' ratios by size [bytes]."""
    rows = pairs[pairs.index.get_level_values("n_threads") == n_threads]
    return {
        int(size): values
        for size, values in zip(
            rows.index.get_level_values("msg_bytes"), rows.to_numpy(np.float64), strict=True
        )
    }


def sizes_between(found: Crossover, means: Mapping[int, float]) -> list[int]:
    """Return the sizes [bytes] that would narrow what a crossover leaves open, best first.

    Parameters
    ----------
    found
        What the comparison does along the sizes.
    means
        The mean logarithm of the ratio by size.
    """
    if found.outcome not in _OPEN:
        return []
    signs = {size: stretch.sign for stretch in found.stretches for size in stretch.sizes}
    ranked: list[tuple[bool, float, int]] = []
    for low, high in pairwise(found.sizes):
        crosses = means[low] * means[high] < 0.0
        even = signs[low] == signs[high] == 0
        if signs[low] == signs[high] and not (even and crosses):
            continue
        if any(_holds(change, low, high) and not _is_wide(change) for change in found.changes):
            continue
        share = means[low] / (means[low] - means[high]) if crosses else 0.5
        middle = math.log2(low) + share * math.log2(high / low)
        ranked += [(not crosses, abs(math.log2(size) - middle), size) for size in _steps(low, high)]
    return [size for _, _, size in sorted(ranked)]


def _holds(change: Change, low: int, high: int) -> bool:
    return change.below_bytes <= low and high <= change.above_bytes


def _is_wide(change: Change) -> bool:
    return change.above_bytes / change.below_bytes > WIDE


def _steps(low: int, high: int) -> Iterator[int]:
    """Yield the sizes between two [bytes] that may be added: powers of two and between them."""
    first = math.floor(math.log2(low) * PER_DOUBLING)
    last = math.ceil(math.log2(high) * PER_DOUBLING)
    for step in range(first, last + 1):
        size = round(2 ** (step / PER_DOUBLING))
        if low * _NEAREST < size < high / _NEAREST:
            yield size
