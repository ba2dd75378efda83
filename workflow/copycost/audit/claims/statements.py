"""What the cells say of each kind of statement."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from copycost.audit.claims.cells import N_SHOWN, CellValues, Grid, Measured, grids, survey
from copycost.audit.claims.rulings import Key, Ruling, Survey, weigh
from copycost.audit.claims.vocabulary import Change, Claim, Crossing, Measurements, Region, Value
from copycost.audit.dataset import Dataset
from copycost.audit.dataset_analysis import STATISTICS
from copycost.audit.plausibility import Finding
from copycost.audit.plausibility.finding import Kind
from copycost.audit.quantities import words_of
from copycost.audit.wording import Message, place, value_with_unit
from copycost.stats.crossover import Crossover, Outcome, crossover_of_rounds
from copycost.stats.ratios import paired_ratio
from copycost.stats.settings import FloatArray, StatisticsSettings
from copycost.wording.filters import size as told
from copycost.wording.words import plural


def judge_change(change: Change, claim: Claim, measured: Measured) -> Survey:
    """Return what each cell that a claim is about says of it, beside one other or all rivals."""
    cells, about = measured.cells(change.metric), grids(claim, measured.cells(change.metric))
    to, names = measured.known_point(change.to), measured.known_names(change.implementations)
    from_ = None if change.from_ is None else measured.known_point(change.from_)
    if from_ is None:
        about = [grid for grid in about if {to.implementation} < set(grid.implementations)]
        if not about:
            named = {"quantities": [change.metric], "implementation": to.implementation}
            return Survey(reason=Message("no_rivals", named))
    ways = {grid.dataset: grid.implementations for grid in about}

    def compared(grid: Grid) -> Grid:
        """Return the cells of a grid that are compared with another, those at `to`."""
        sizes = (to.msg_bytes,) if to.msg_bytes else grid.sizes
        return replace(
            grid,
            implementations=(to.implementation,)
            if to.implementation is not None
            else names or grid.implementations,
            sizes=tuple(size for size in sizes if change.claimed(size) is not None),
            threads=(to.n_threads,) if to.n_threads else grid.threads,
        )

    def beside(key: Key) -> list[Key]:
        if from_ is None:
            return [(key[0], way, *key[2:]) for way in ways[key[0]] if way != key[1]]
        return [(key[0], from_.implementation or key[1], from_.msg_bytes or key[2],
                 from_.n_threads or key[3])]  # fmt: skip

    def judge(key: Key) -> Ruling | None:
        region = change.claimed(key[2])
        assert region is not None
        return _judge_ratios(cells, key, beside(key), region, with_ratio=from_ is not None)

    found = survey(map(compared, about), cells, judge, beside)
    ends = {point.implementation for point in (from_, to) if point} - {None}
    return found if ends <= cells.implementations else replace(found, reason=Message("no_pairs"))


def _judge_ratios(
    cells: CellValues,
    own: Key,
    others: Sequence[Key],
    region: Region,
    *,
    with_ratio: bool = False,
) -> Ruling | None:
    """Return what a cell beside others says of their ratios; None where nothing can be compared.

    It holds where it holds beside each of them, so that the one least sure of it decides whether it
    is supported, and the surest one, corrected for their number, whether it is contradicted.
    """
    known = [other for other in others if other in cells]
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
    cells = measured.cells(value.metric)
    about = grids(claim, cells)
    if value.implementations:
        wanted = measured.known_names(value.implementations)
        about = [replace(grid, implementations=wanted) for grid in about]
    return survey(about, cells, partial(_judge_cell, value.is_, cells))


def _judge_cell(is_: Region | str, cells: CellValues, key: Key) -> Ruling | None:
    rounds = cells.rounds(key)
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


def judge_measurements(
    said: Measurements, claim: Claim, dataset: Dataset, findings: Sequence[Finding]
) -> Survey:
    """Return, per column, whether the plausibility checks leave it a measurement."""
    rulings: list[Ruling] = []
    missing: list[str] = []
    refuted: list[str] = []
    for metric in said.metrics:
        name = words_of(metric)
        mine = [
            finding
            for finding in findings
            if metric in finding.quantities and claim.dataset in (None, finding.dataset)
        ]
        refuting = next((finding for finding in mine if finding.refutes), None)
        if not dataset.has(metric) or any(f.kind is Kind.NOT_COUNTED for f in mine):
            missing.append(f"{name}: not measured")
        elif refuting is not None:
            refuted.append(metric)
            line = f"{name}: {refuting.kind}, {refuting.sureness}"
            rulings.append(Ruling(1.0, 0.0, line.__str__))
        else:
            rulings.append(Ruling(1.0, 1.0, name.__str__))
    reason = Message("refuted", {"quantities": refuted}) if refuted else Message("not_refuted")
    return Survey(tuple(rulings), len(said.metrics), tuple(missing), reason if rulings else None)


def judge_crossing(crossing: Crossing, claim: Claim, measured: Measured) -> Survey:
    """Return what each comparison along the sizes says: one per dataset and thread count.

    The confidence of each is such that they are all right together, so that what they say needs no
    further correction.
    """
    cells = measured.cells(crossing.metric)
    better, worse = map(measured.known_name, (crossing.implementation, crossing.baseline))
    crossing = replace(crossing, implementation=better, baseline=worse)
    if not {better, worse} <= cells.implementations:
        return Survey(reason=Message("no_pairs"))
    places = [(grid.dataset, n, grid.sizes) for grid in grids(claim, cells) for n in grid.threads]
    confidence = 1.0 - (1.0 - STATISTICS.confidence) / max(len(places), 1)
    # Signs and brackets are drawn from no resamples.
    settings = replace(STATISTICS, confidence=confidence, resamples=1)
    rulings = [_judge_along_sizes(crossing, cells, *place, settings) for place in places]
    known = tuple(ruling for ruling in rulings if ruling is not None)
    gaps = tuple(
        f"{plural(n, 'thread')}: not measured"
        for (_, n, _), ruling in zip(places, rulings, strict=True)
        if ruling is None
    )
    return Survey(known, len(places), gaps[:N_SHOWN])


def _judge_along_sizes(
    crossing: Crossing,
    cells: CellValues,
    dataset: str,
    n: int,
    sizes: Sequence[int],
    settings: StatisticsSettings,
) -> Ruling | None:
    ways = (crossing.implementation, crossing.baseline)
    logs = {}
    for n_bytes in sizes:
        key, other = ((dataset, way, n_bytes, n) for way in ways)
        if key in cells and other in cells:
            log_ratios = cells.log_ratios(key, other)
            logs[n_bytes] = log_ratios if crossing.more_is_better else -log_ratios
    found = crossover_of_rounds(logs, sizes, settings.confidence)
    if found.outcome is Outcome.NOT_MEASURED:
        return None
    bracket = _bracket(crossing, found)
    # The claimed size has to be the end of the bracket, with nothing open in it: elsewhere in it
    # the claim says of sizes, of which none was measured, on which side of the change they lie.
    holds = (
        bracket is not None
        and crossing.msg_bytes in bracket
        and not any(bracket[0] < size < bracket[1] for size in (*found.sizes, *found.missing))
    )
    return Ruling(
        p_for=float(not holds),
        p_against=float(not _excludes(crossing, found, bracket)),
        evidence=partial(_said_along_sizes, crossing, found, n),
        once=found.observed_once,
        keys=tuple((dataset, way, size, n) for size in found.sizes for way in ways),
        incomplete=bool(found.missing) and not holds,
        compatible=not holds and bracket is not None,
    )


def _bracket(crossing: Crossing, found: Crossover) -> tuple[int, int] | None:
    """Return the two sizes between which the claimed one lies, where the only change does too.

    Each end is on the side that it shows.
    """
    if found.outcome is not (Outcome.FROM if crossing.from_ else Outcome.UP_TO):
        return None
    (change,) = found.changes
    below, above, size = change.below_bytes, change.above_bytes, crossing.msg_bytes
    is_in = below < size <= above if crossing.from_ else below <= size < above
    return (below, above) if is_in else None


def _excludes(crossing: Crossing, found: Crossover, bracket: tuple[int, int] | None) -> bool:
    """Tell whether what the sizes show rules the claim out.

    Where one is better, or worse, throughout, the change, if any, is before the first size or
    behind the last.
    """
    first, last, size = found.sizes[0], found.sizes[-1], crossing.msg_bytes
    if found.outcome is Outcome.ALWAYS:
        return size > first if crossing.from_ else size < last
    if found.outcome is Outcome.NEVER:
        return size <= last if crossing.from_ else size >= first
    return found.outcome is not Outcome.UNDECIDED and bracket is None


def _said_along_sizes(crossing: Crossing, found: Crossover, n: int) -> str:
    """Return a line on how the two compare along the sizes, with some number of threads."""
    better, worse = crossing.implementation, crossing.baseline
    ends = [told(n) for change in found.changes for n in (change.below_bytes, change.above_bytes)]
    below, above = ends[:2] or ("", "")
    said = {
        Outcome.FROM: f"worse at {below}, better from {above} on",
        Outcome.UP_TO: f"better up to {below}, worse from {above} on",
        Outcome.ALWAYS: f"{better} better than {worse} at all sizes",
        Outcome.NEVER: f"{better} worse than {worse} at all sizes",
        Outcome.MIXED: f"{better} and {worse} change places {len(found.changes)} times",
    }
    unsure = f"no one change of sign is sure, {told(found.sizes[0])} to {told(found.sizes[-1])}"
    return f"{plural(n, 'thread')}: {said.get(found.outcome, unsure)}"
