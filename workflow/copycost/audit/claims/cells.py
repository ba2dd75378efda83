"""Values by cell and round, which cells a claim is about, and what one of them says of it."""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from copycost.audit.claims.rulings import Key, Ruling, Survey
from copycost.audit.claims.vocabulary import Claim, Point
from copycost.audit.dataset import Dataset, follows_from_others, quantity
from copycost.audit.dataset_analysis import STATISTICS
from copycost.audit.mapping import implementation_name
from copycost.audit.quantities import DATASET, IMPLEMENTATION, REP, SIZE, THREADS, base_of
from copycost.audit.wording import Message, cell_name, place, value_with_unit
from copycost.stats.ratios import paired_ratio
from copycost.stats.settings import FloatArray
from copycost.wording.filters import ratio, span

N_SHOWN = 6
"""Lines of evidence that a report shows, and so missing cells that are named."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of one dataset of a file that a claim is about: each size with each count.

    A table that lacks some of them has gaps, whoever left them.
    """

    dataset: str
    implementations: tuple[str, ...]
    sizes: tuple[int, ...]
    threads: tuple[int, ...]


class CellValues:
    """One quantity of a dataset by cell; each cell an array over the rounds, NaN where missing.

    `sizes`, `threads`: per dataset of the file, those of all its rows, whether or not they have a
    value. `keys`: per dataset of the file, the cells that have a value, in order.
    """

    def __init__(self, dataset: Dataset, metric: str) -> None:
        """Gather the values of `metric`, as told or as they follow from other columns."""
        self.metric = metric
        self.sizes: dict[str, set[int]] = {}
        self.threads: dict[str, set[int]] = {}
        self.keys: dict[str, list[Key]] = {}
        self._values: dict[Key, FloatArray] = {}
        table = dataset.table
        round_of = {rep: at for at, rep in enumerate(sorted(set(table[REP].tolist())))}
        # A loop of plain values: of tables as small as these, pandas takes ten times as long.
        columns = [table[name].tolist() for name in (DATASET, IMPLEMENTATION, SIZE, THREADS, REP)]
        values = quantity(table, metric).tolist()
        for name, implementation, size, n, rep, value in zip(*columns, values, strict=True):
            self.sizes.setdefault(name, set()).add(size)
            self.threads.setdefault(name, set()).add(n)
            if not math.isnan(value):
                key = (str(name), str(implementation), int(size), int(n))
                if key not in self._values:
                    self._values[key] = np.full(len(round_of), np.nan)
                self._values[key][round_of[rep]] = value
        for key in sorted(self._values):
            self.keys.setdefault(key[0], []).append(key)

    def __contains__(self, key: Key) -> bool:
        """Tell whether a cell was measured."""
        return key in self._values

    def rounds(self, key: Key) -> FloatArray:
        """Return a cell's values, one per round that has one."""
        values = self._values[key]
        return values[np.isfinite(values)]

    def median(self, key: Key) -> float:
        """Return a cell's median."""
        return float(np.nanmedian(self._values[key]))

    def log_ratios(self, key: Key, other: Key) -> FloatArray:
        """Return the logarithms of one cell's values over another's, where both are above 0.

        They are paired by round. Cells without a common round are paired in their order: rounds
        of which neither knows the other are as good as any.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            above, below = np.log(self._values[key]), np.log(self._values[other])
            if not np.isfinite(self._values[key] + self._values[other]).any():
                above, below = above[np.isfinite(above)], below[np.isfinite(below)]
                n = min(above.size, below.size)
                above, below = above[:n], below[:n]
            logs: FloatArray = above - below
        return logs[np.isfinite(logs)]

    @property
    def implementations(self) -> set[str]:
        """Return the implementations with any value."""
        return {key[1] for keys in self.keys.values() for key in keys}

    def counted_nothing(self) -> Survey | None:
        """Return what to say of a quantity that the file lacks, or that reads 0 throughout."""
        about = {"quantities": [self.metric]}
        if not self._values:
            code = "does_not_follow" if follows_from_others(self.metric) else "no_column"
            return Survey(reason=Message(code, about))
        if base_of(self.metric).kind != "share" and not any(
            np.nan_to_num(values).any() for values in self._values.values()
        ):
            return Survey(reason=Message("not_counting", about))
        return None

    def evidence(self, keys: Sequence[Key], *, with_ratio: bool = False) -> str:
        """Return a line on some cells: their values, and the ratio of two with its interval."""
        places = {place(*key[2:]) for key in keys}
        shared = len(places) == 1
        names = [key[1] if shared else f"{cell_name(*key[1:])}:" for key in keys]
        values = [
            value_with_unit(self.metric, self.median(key)) if key in self else "not measured"
            for key in keys
        ]
        sides = [f"{name} {value}" for name, value in zip(names, values, strict=True)]
        line = f"{places.pop()}: {', '.join(sides)}" if shared else "; ".join(sides)
        if not with_ratio:
            return line
        found = paired_ratio(self.log_ratios(*keys), STATISTICS.confidence)
        if np.isnan(found.value):
            return line
        known = bool(np.isfinite([found.low, found.high]).all())
        width = f", {span(found.low, found.high, form=ratio)}" if known else ""
        return f"{line} (ratio {ratio(found.value)}{width})"


class Measured:
    """A dataset with its quantities by cell, each gathered once for all claims about it."""

    def __init__(self, dataset: Dataset) -> None:
        """Take a dataset."""
        self.dataset = dataset
        self._cells: dict[str, CellValues] = {}

    def cells(self, metric: str) -> CellValues:
        """Return a quantity by cell."""
        if metric not in self._cells:
            self._cells[metric] = CellValues(self.dataset, metric)
        return self._cells[metric]

    def known_name(self, name: str) -> str:
        """Return an implementation as the table calls it, however a claim calls it."""
        names = self.dataset.implementations
        if name in names.values():
            return name
        return names.get(name, implementation_name(name, self.dataset.mapping))

    def known_point(self, point: Point) -> Point:
        """Return a part of a cell's key likewise."""
        name = point.implementation
        return point if name is None else replace(point, implementation=self.known_name(name))

    def known_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return several, each once."""
        return tuple(dict.fromkeys(map(self.known_name, names)))


def grids(claim: Claim, cells: CellValues) -> list[Grid]:
    """Return, per dataset of the file, the cells that a claim is about.

    Implementations are those with any value of the quantity; sizes and numbers of threads are
    those of the claim, or all that the dataset has.
    """
    return [
        Grid(
            name,
            tuple(dict.fromkeys(key[1] for key in cells.keys.get(name, ()))),
            tuple(dict.fromkeys(claim.sizes or sorted(cells.sizes[name]))),
            tuple(dict.fromkeys(claim.threads or sorted(cells.threads[name]))),
        )
        for name in cells.sizes
        if claim.dataset in (None, name)
    ]


def survey(
    about: Iterable[Grid],
    cells: CellValues,
    judge: Callable[[Key], Ruling | None],
    beside: Callable[[Key], Sequence[Key]] = lambda _: (),
) -> Survey:
    """Return what the cells of some grids say.

    `about`: grids of the cells, as they are judged. `judge`: what a measured cell says; None where
    what it is compared with is missing. `beside`: what a cell is compared with.
    """
    rulings: list[Ruling] = []
    missing: list[str] = []
    n_cells = 0
    for grid in about:
        axes = (grid.implementations, grid.sizes, grid.threads)
        n_cells += math.prod(map(len, axes))
        inside = tuple(map(frozenset, axes))
        mine: dict[Key, Ruling] = {}
        for key in cells.keys.get(grid.dataset, ()):
            if all(map(operator.contains, inside, key[1:])):
                ruling = judge(key)
                if ruling is not None:
                    mine[key] = ruling
        rulings += mine.values()
        # A grid may have far more cells than the table has rows, so they are not listed.
        every = ((grid.dataset, *rest) for rest in itertools.product(*axes))
        gaps = itertools.islice((key for key in every if key not in mine), N_SHOWN - len(missing))
        missing += (cells.evidence([key, *beside(key)]) for key in gaps)
    return Survey(tuple(rulings), n_cells, tuple(missing))
