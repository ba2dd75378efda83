"""Which cells a statement is about, and what each of them says of it: p-values."""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from copycost.analysis.stats.crossover import Crossover, Outcome, crossover_of_rounds
from copycost.analysis.stats.ratios import paired_ratio
from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.claims.rulings import Key, Ruling, Survey, weigh
from copycost.compare.audit.claims.statements import Change, Claim, Crossing, Point, Region, Value
from copycost.compare.audit.dataset import CELL, STATISTICS, Dataset, quantity
from copycost.compare.audit.mapping import implementation_name
from copycost.compare.audit.quantities import base_of, words_of
from copycost.compare.audit.wording import cell_name, place, value_with_unit
from copycost.wording.filters import ratio, size, span
from copycost.wording.words import plural

_N_SHOWN = 6
"""Missing cells that are named."""

_NO_PAIRS = "The file has no cells of the kind that it compares."


class Area(NamedTuple):
    """Cells of one dataset of a file: each implementation with each size and thread count."""

    dataset: str
    implementations: Sequence[str]
    sizes: Sequence[int]
    threads: Sequence[int]


class CellValues:
    """One quantity of a dataset by cell: an array over the rounds, NaN where missing."""

    def __init__(self, dataset: Dataset, metric: str) -> None:
        """Gather the values of `metric`, as told or as they follow from other columns."""
        self.metric = metric
        rows = dataset.table.assign(value=quantity(dataset.table, metric))
        wide = rows.pivot(index=list(CELL), columns="rep", values="value").dropna(how="all")
        self.rounds: dict[Key, FloatArray] = dict(
            zip(wide.index.tolist(), wide.to_numpy(), strict=True)
        )
        self._areas = [
            Area(
                str(name),
                sorted({key[1] for key in self.rounds if key[0] == name}),
                *(sorted(set(part[axis].tolist())) for axis in ("msg_bytes", "n_threads")),
            )
            for name, part in rows.groupby("dataset", sort=False)
        ]

    @property
    def implementations(self) -> set[str]:
        """Return the implementations with any value."""
        return {key[1] for key in self.rounds}

    def areas(self, claim: Claim) -> list[Area]:
        """Return, per dataset of the file, the cells that a claim is about.

        Implementations are those with any value of the quantity; sizes and numbers of threads are
        those of the claim, or all that the dataset has.
        """
        return [
            area._replace(
                sizes=tuple(dict.fromkeys(claim.sizes)) or area.sizes,
                threads=tuple(dict.fromkeys(claim.threads)) or area.threads,
            )
            for area in self._areas
            if claim.dataset in (None, area.dataset)
        ]

    def median(self, key: Key) -> float:
        """Return a cell's median."""
        return float(np.nanmedian(self.rounds[key]))

    def log_ratios(self, key: Key, other: Key) -> FloatArray:
        """Return the logarithms of one cell's values over another's, where both are above 0.

        They are paired by round. Cells without a common round are paired in their order: rounds
        of which neither knows the other are as good as any.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            above, below = np.log(self.rounds[key]), np.log(self.rounds[other])
            if not np.isfinite(self.rounds[key] + self.rounds[other]).any():
                above, below = above[np.isfinite(above)], below[np.isfinite(below)]
                n = min(above.size, below.size)
                above, below = above[:n], below[:n]
            logs: FloatArray = above - below
        return logs[np.isfinite(logs)]

    def counted_nothing(self) -> Survey | None:
        """Return what to say of a quantity that the file lacks, or that reads 0 throughout."""
        words = words_of(self.metric)
        if not self.rounds:
            is_cost = self.metric != base_of(self.metric).name
            rest = ", nor everything from which it would follow" if is_cost else ""
            return Survey(reason=f"The file has no {words}{rest}.")
        is_zero = not any(np.nan_to_num(values).any() for values in self.rounds.values())
        if is_zero and base_of(self.metric).kind != "share":
            return Survey(reason=f"The column of {words} is 0 in every cell, so it was not "
                            "counting; nothing follows from it.")  # fmt: skip
        return None

    def evidence(self, keys: Sequence[Key], *, with_ratio: bool = False) -> str:
        """Return a line on some cells: their values, and the ratio of two with its interval."""
        places = {place(*key[2:]) for key in keys}
        shared = len(places) == 1
        sides = [
            f"{key[1] if shared else f'{cell_name(*key[1:])}:'} "
            + (value_with_unit(self.metric, self.median(key)) if key in self.rounds
               else "not measured")
            for key in keys
        ]  # fmt: skip
        line = f"{places.pop()}: {', '.join(sides)}" if shared else "; ".join(sides)
        if not with_ratio:
            return line
        found = paired_ratio(self.log_ratios(*keys), STATISTICS.confidence)
        if np.isnan(found.value):
            return line
        known = bool(np.isfinite([found.low, found.high]).all())
        width = f", {span(found.low, found.high, form=ratio)}" if known else ""
        return f"{line} (ratio {ratio(found.value)}{width})"

    def survey(
        self,
        areas: Iterable[Area],
        judge: Callable[[Key], Ruling | None],
        beside: Callable[[Key], Sequence[Key]] = lambda _: (),
    ) -> Survey:
        """Return what the cells of some areas say.

        `judge`: what a measured cell says; None where what it is compared with is missing.
        `beside`: what a cell is compared with.
        """
        rulings: dict[Key, Ruling] = {}
        missing: list[str] = []
        n_cells = 0
        for area in areas:
            n_cells += math.prod(map(len, area[1:]))
            inside = ({area.dataset}, *map(frozenset, area[1:]))
            for key in self.rounds:
                if all(map(operator.contains, inside, key)) and (ruling := judge(key)) is not None:
                    rulings[key] = ruling
            # An area may have far more cells than the table has rows, so they are not listed.
            every = itertools.product((area.dataset,), *area[1:])
            gaps = (key for key in every if key not in rulings)
            missing += (self.evidence([key, *beside(key)])
                        for key in itertools.islice(gaps, _N_SHOWN - len(missing)))  # fmt: skip
        return Survey(tuple(rulings.values()), n_cells, tuple(missing))


class Measured(dict[str, CellValues]):
    """The quantities of a dataset by cell, each gathered once for all claims about it."""

    def __init__(self, dataset: Dataset) -> None:
        """Take a dataset."""
        super().__init__()
        self.dataset = dataset

    def __missing__(self, metric: str) -> CellValues:
        """Gather a quantity."""
        self[metric] = CellValues(self.dataset, metric)
        return self[metric]

    def known_name(self, name: str) -> str:
        """Return an implementation as the table calls it, however a claim calls it."""
        names = self.dataset.implementations
        if name in names.values():
            return name
        return names.get(name, implementation_name(name, self.dataset.mapping))

    def known_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return several, each once."""
        return tuple(dict.fromkeys(map(self.known_name, names)))

    def known_point(self, point: Point) -> Point:
        """Return a part of a cell's key likewise."""
        name = point.implementation
        return point if name is None else point._replace(implementation=self.known_name(name))


def judge_change(change: Change, claim: Claim, measured: Measured) -> Survey:
    """Return what each cell that a claim is about says of it, beside one other or all rivals."""
    cells = measured[change.metric]
    areas = cells.areas(claim)
    to = measured.known_point(change.to)
    from_ = change.from_ and measured.known_point(change.from_)
    if from_ is None:
        areas = [area for area in areas if {to.implementation} < set(area.implementations)]
        if not areas:
            return Survey(reason=f"No cell has {words_of(change.metric)} of {to.implementation} "
                          "and of another implementation.")  # fmt: skip
    rivals = {area.dataset: area.implementations for area in areas}
    known = measured.known_names(change.implementations)

    def compared(area: Area) -> Area:
        """Return the cells of an area that are compared with another, those at `to`."""
        sizes = (to.msg_bytes,) if to.msg_bytes else area.sizes
        return Area(
            area.dataset,
            (to.implementation,) if to.implementation else known or area.implementations,
            [size for size in sizes if change.claimed(size) is not None],
            (to.n_threads,) if to.n_threads else area.threads,
        )

    def beside(key: Key) -> list[Key]:
        if from_ is None:
            return [(key[0], name, *key[2:]) for name in rivals[key[0]] if name != key[1]]
        return [(key[0], from_.implementation or key[1], from_.msg_bytes or key[2],
                 from_.n_threads or key[3])]  # fmt: skip

    def judge(key: Key) -> Ruling | None:
        region = change.claimed(key[2])
        assert region is not None
        return _beside_others(cells, key, beside(key), region, with_ratio=from_ is not None)

    found = cells.survey(map(compared, areas), judge, beside)
    ends = {point.implementation for point in (from_, to) if point} - {None}
    if ends <= cells.implementations:
        return found
    return replace(found, reason=_NO_PAIRS)


def _beside_others(
    cells: CellValues, own: Key, others: Sequence[Key], region: Region, *, with_ratio: bool
) -> Ruling | None:
    """Return what a cell beside others says of their ratios; None where nothing can be compared.

    It holds where it holds beside each of them, so that the one least sure of it decides whether it
    is supported, and the surest one, corrected for their number, whether it is contradicted.
    """
    known = [other for other in others if other in cells.rounds]
    found = (weigh(cells.log_ratios(own, other), region.logs) for other in known)
    against = [ruling for ruling in found if ruling is not None]
    if not against:
        return None
    return Ruling(
        p_for=max(ruling.p_for for ruling in against) if len(against) == len(others) else 1.0,
        p_against=min(1.0, len(against) * min(ruling.p_against for ruling in against)),
        evidence=partial(cells.evidence, [own, *others], with_ratio=with_ratio),
        once=any(ruling.once for ruling in against),
        keys=(own, *known),
        incomplete=len(against) < len(others),
    )


def judge_value(value: Value, claim: Claim, measured: Measured) -> Survey:
    """Return, per cell, whether its values are what the claim says."""
    cells = measured[value.metric]
    wanted = measured.known_names(value.implementations)
    areas = [area._replace(implementations=wanted or area.implementations)
             for area in cells.areas(claim)]  # fmt: skip
    return cells.survey(areas, partial(_judge_cell, value.is_, cells))


def _judge_cell(is_: Region | str, cells: CellValues, key: Key) -> Ruling | None:
    rounds = cells.rounds[key]
    rounds = rounds[np.isfinite(rounds)]
    if isinstance(is_, Region):
        ends = [end for end in (is_.low, is_.high) if math.isfinite(end)]
        # Measurements scatter in proportion to what is measured, as they do for ratios.
        positive = min([*rounds, *ends]) > 0.0
        ruling = weigh(np.log(rounds), is_.logs) if positive else weigh(rounds, is_)
        evidence = partial(_interval, cells, key, rounds)
        return None if ruling is None else replace(ruling, evidence=evidence, keys=(key,))
    # No spread is to be allowed for: what counted once is not zero.
    are_zero = rounds == 0.0
    if is_ == "zero":
        holds, fails = are_zero.all(), not are_zero.all()
    else:
        holds, fails = not are_zero.any(), are_zero.all()
    evidence = partial(cells.evidence, [key])
    return Ruling(float(not holds), float(not fails), evidence, rounds.size == 1, (key,))


def _interval(cells: CellValues, key: Key, rounds: FloatArray) -> str:
    """Return a line on a cell with its mean and interval."""
    if rounds.size == 1 or rounds.min() <= 0.0:
        return cells.evidence([key])
    found = paired_ratio(np.log(rounds), STATISTICS.confidence)
    low, middle, high = (
        value_with_unit(cells.metric, value) for value in (found.low, found.value, found.high)
    )
    return f"{place(*key[2:])}: {key[1]} {middle} ({low} to {high})"


def judge_crossing(crossing: Crossing, claim: Claim, measured: Measured) -> Survey:
    """Return what each comparison along the sizes says: one per dataset and thread count.

    The confidence of each is such that they are all right together, so that what they say needs no
    further correction.
    """
    cells = measured[crossing.metric]
    better, worse = map(measured.known_name, (crossing.implementation, crossing.baseline))
    crossing = replace(crossing, implementation=better, baseline=worse)
    if not {better, worse} <= cells.implementations:
        return Survey(reason=_NO_PAIRS)
    places = [(area.dataset, n, area.sizes) for area in cells.areas(claim) for n in area.threads]
    confidence = 1.0 - (1.0 - STATISTICS.confidence) / max(len(places), 1)
    found = [(n, _judge_along_sizes(crossing, cells, dataset, n, sizes, confidence))
             for dataset, n, sizes in places]  # fmt: skip
    gaps = [f"{plural(n, 'thread')}: not measured" for n, ruling in found if ruling is None]
    rulings = tuple(ruling for _, ruling in found if ruling is not None)
    return Survey(rulings, len(places), tuple(gaps[:_N_SHOWN]))


def _judge_along_sizes(
    crossing: Crossing, cells: CellValues, dataset: str, n: int, sizes: Sequence[int],
    confidence: float,
) -> Ruling | None:  # fmt: skip
    ways = (crossing.implementation, crossing.baseline)
    logs = {}
    for n_bytes in sizes:
        key, other = ((dataset, way, n_bytes, n) for way in ways)
        if key in cells.rounds and other in cells.rounds:
            log_ratios = cells.log_ratios(key, other)
            logs[n_bytes] = log_ratios if crossing.more_is_better else -log_ratios
    found = crossover_of_rounds(logs, sizes, confidence)
    if found.outcome is Outcome.NOT_MEASURED:
        return None
    below, above = _bracket(crossing, found)
    claimed = crossing.msg_bytes
    # Each end of a bracket is on the side that it shows.
    is_allowed = below < claimed <= above if crossing.is_from else below <= claimed < above
    is_inside = is_allowed and bool(found.changes)
    # Where the claimed size is no end of the bracket, or a size in it is open, the claim says of
    # sizes, of which none was measured, on which side of the change they lie.
    is_open = any(below < other < above for other in (*found.sizes, *found.missing))
    holds = is_inside and claimed in (below, above) and not is_open
    return Ruling(
        p_for=float(not holds),
        p_against=float(is_allowed),
        evidence=partial(_said_along_sizes, crossing, found, n),
        once=found.observed_once,
        keys=tuple((dataset, way, at, n) for at in found.sizes for way in ways),
        incomplete=bool(found.missing) and not holds,
        compatible=is_inside and not holds and not found.missing,
    )


def _bracket(crossing: Crossing, found: Crossover) -> tuple[float, float]:
    """Return the sizes between which the change lies that is claimed; infinity where none does.

    Where one is better, or worse, throughout, it is before the first size or behind the last.
    """
    before, behind = (0.0, float(found.sizes[0])), (float(found.sizes[-1]), math.inf)
    always, never = (before, behind) if crossing.is_from else (behind, before)
    if found.outcome is (Outcome.FROM if crossing.is_from else Outcome.UP_TO):
        return found.changes[0].below_bytes, found.changes[0].above_bytes
    brackets = {Outcome.ALWAYS: always, Outcome.NEVER: never, Outcome.UNDECIDED: (0.0, math.inf)}
    return brackets.get(found.outcome, (math.inf, math.inf))


def _said_along_sizes(crossing: Crossing, found: Crossover, n: int) -> str:
    """Return a line on how the two compare along the sizes, with some number of threads."""
    better, worse = crossing.implementation, crossing.baseline
    ends = [size(n) for change in found.changes for n in (change.below_bytes, change.above_bytes)]
    below, above = ends[:2] or ("", "")
    said = {
        Outcome.FROM: f"worse at {below}, better from {above} on",
        Outcome.UP_TO: f"better up to {below}, worse from {above} on",
        Outcome.ALWAYS: f"{better} better than {worse} at all sizes",
        Outcome.NEVER: f"{better} worse than {worse} at all sizes",
        Outcome.MIXED: f"{better} and {worse} change places {len(found.changes)} times",
    }
    unsure = f"no one change of sign is sure, {size(found.sizes[0])} to {size(found.sizes[-1])}"
    return f"{plural(n, 'thread')}: {said.get(found.outcome, unsure)}"
