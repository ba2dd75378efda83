"""What the cells say of each kind of statement."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from copycost.audit.claims.cells import (
    N_SHOWN,
    CellValues,
    Grid,
    Key,
    Measured,
    Ruling,
    Survey,
    grids,
    known_names,
    survey,
    weigh,
    weigh_ratio,
)
from copycost.audit.claims.vocabulary import (
    Change,
    Claim,
    Crossing,
    Measurements,
    Point,
    Rank,
    Region,
    Value,
    Zero,
)
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


def judge_rank(rank: Rank, claim: Claim, measured: Measured) -> Survey:
    """Return, per size and thread count, whether one implementation leads or trails all others."""
    cells = measured.cells(rank.metric)
    name = known_names(measured.dataset, [rank.implementation])[0]
    about = [
        (replace(grid, implementations=(name,)), grid.implementations)
        for grid in grids(claim, cells)
        if name in grid.implementations and len(grid.implementations) > 1
    ]
    if not about:
        named = {"quantities": [rank.metric], "implementation": name}
        return Survey((), 1, reason=Message("no_rivals", named))
    rivals = {grid.dataset: [other for other in names if other != name] for grid, names in about}
    return survey(
        [grid for grid, _ in about],
        cells,
        lambda key: _rank_one(rank, cells, key, _beside(key, rivals)),
        lambda key: cells.evidence([key, *_beside(key, rivals)]),
    )


def _beside(key: Key, rivals: Mapping[str, Sequence[str]]) -> list[Key]:
    return [(key[0], rival, *key[2:]) for rival in rivals[key[0]]]


def _rank_one(rank: Rank, cells: CellValues, own: Key, rivals: Sequence[Key]) -> Ruling | None:
    """Return what one size and thread count says; None where nothing can be compared.

    It holds where it holds beside each rival, so that the rival least sure of it decides whether
    it is supported, and the surest one, corrected for their number, whether it is contradicted.
    """
    region = Region(1.0, math.inf, strict=True) if rank.highest else Region(0.0, 1.0, strict=True)
    found = [
        weigh_ratio(cells.log_ratios(own, rival), region) for rival in rivals if rival in cells
    ]
    against = [ruling for ruling in found if ruling is not None]
    if not against:
        return None
    return Ruling(
        p_for=max(ruling.p_for for ruling in against) if len(against) == len(rivals) else 1.0,
        p_against=min(1.0, len(against) * min(ruling.p_against for ruling in against)),
        evidence=partial(cells.evidence, [own, *rivals]),
        once=any(ruling.once for ruling in against),
        keys=(own, *(rival for rival in rivals if rival in cells)),
        incomplete=len(against) < len(rivals),
    )


def judge_value(value: Value | Zero, claim: Claim, measured: Measured) -> Survey:
    """Return, per cell, whether its values are what the claim says."""
    cells = measured.cells(value.metric)
    wanted = tuple(dict.fromkeys(known_names(measured.dataset, value.implementations)))
    about = grids(claim, cells)
    if wanted:
        about = [replace(grid, implementations=wanted) for grid in about]
    return survey(
        about,
        cells,
        lambda key: _judge_cell(value, cells, key),
        lambda key: cells.evidence([key]),
    )


def _judge_cell(value: Value | Zero, cells: CellValues, key: Key) -> Ruling | None:
    rounds = cells.rounds(key)
    rounds = rounds[np.isfinite(rounds)]
    if isinstance(value, Zero):
        # No spread is to be allowed for: what counted once is not zero.
        are_zero = rounds == 0.0
        holds = are_zero.all() if value.zero else not are_zero.any()
        fails = are_zero.all() if not value.zero else not are_zero.all()
        once = rounds.size == 1
        return Ruling(
            float(not holds), float(not fails), partial(cells.evidence, [key]), once, (key,)
        )
    logs, region = _scaled(rounds, value.region)
    ruling = weigh(logs, region)
    if ruling is None:
        return None
    return replace(ruling, evidence=partial(_interval, cells, key, rounds), keys=(key,))


def _scaled(rounds: FloatArray, region: Region) -> tuple[FloatArray, Region]:
    """Return the rounds and the claimed range as logarithms, where all of them have one.

    Measurements scatter in proportion to what is measured, as they do for ratios.
    """
    ends = [end for end in (region.low, region.high) if math.isfinite(end)]
    if min([*rounds, *ends]) <= 0.0:
        return rounds, region
    low = math.log(region.low) if math.isfinite(region.low) else -math.inf
    high = math.log(region.high) if math.isfinite(region.high) else math.inf
    return np.log(rounds), Region(low, high, region.strict)


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
        mine = [
            finding
            for finding in findings
            if metric in finding.quantities
            and (claim.dataset is None or finding.dataset == claim.dataset)
        ]
        refuting = [finding for finding in mine if finding.refutes]
        if not dataset.has(metric) or any(f.kind is Kind.NOT_COUNTED for f in mine):
            missing.append(f"{words_of(metric)}: not measured")
        elif refuting:
            refuted.append(metric)
            rulings.append(Ruling(1.0, 0.0, partial(_refuted, metric, refuting[0])))
        else:
            rulings.append(Ruling(1.0, 1.0, partial(words_of, metric)))
    reason = Message("refuted", {"quantities": refuted}) if refuted else Message("not_refuted")
    return Survey(tuple(rulings), len(said.metrics), tuple(missing), reason if rulings else None)


def _refuted(metric: str, finding: Finding) -> str:
    return f"{words_of(metric)}: {finding.kind}, {finding.sureness}"


def judge_change(change: Change, claim: Claim, measured: Measured) -> Survey:
    """Return what each pair of cells that a claim is about says of it."""
    cells = measured.cells(change.metric)
    change = _with_known_names(change, measured.dataset)
    found = survey(
        [_judged_at(grid, change) for grid in grids(claim, cells)],
        cells,
        partial(_judge_pair, change, cells),
        lambda key: cells.evidence([_moved(key, change.to), _moved(key, change.from_)]),
    )
    ends = {change.from_.implementation, change.to.implementation} - {None}
    return found if ends <= cells.implementations else replace(found, reason=Message("no_pairs"))


def _with_known_names(change: Change, dataset: Dataset) -> Change:
    from_, to = (
        point
        if point.implementation is None
        else replace(point, implementation=known_names(dataset, [point.implementation])[0])
        for point in (change.from_, change.to)
    )
    names = known_names(dataset, change.implementations)
    return replace(change, from_=from_, to=to, implementations=names)


def _judged_at(grid: Grid, change: Change) -> Grid:
    """Return the cells of a grid that are compared with another, those at `to`."""
    to = change.to
    if to.implementation is not None:
        names: tuple[str, ...] = (to.implementation,)
    else:
        names = tuple(dict.fromkeys(change.implementations)) or grid.implementations
    sizes = (to.msg_bytes,) if to.msg_bytes else grid.sizes
    return replace(
        grid,
        implementations=names,
        sizes=tuple(size for size in sizes if change.claimed(size) is not None),
        threads=(to.n_threads,) if to.n_threads else grid.threads,
    )


def _moved(key: Key, point: Point) -> Key:
    return (
        key[0],
        point.implementation or key[1],
        point.msg_bytes or key[2],
        point.n_threads or key[3],
    )


def _judge_pair(change: Change, cells: CellValues, key: Key) -> Ruling | None:
    before, region = _moved(key, change.from_), change.claimed(key[2])
    if before not in cells or region is None:
        return None
    ruling = weigh_ratio(cells.log_ratios(key, before), region)
    if ruling is None:
        return None
    evidence = partial(cells.evidence_of_ratio, key, before)
    return replace(ruling, evidence=evidence, keys=(key, before))


Place = tuple[str, int]
"""Dataset, threads: where a comparison along the sizes is made."""


def judge_crossing(crossing: Crossing, claim: Claim, measured: Measured) -> Survey:
    """Return what each comparison along the sizes says: one per dataset and thread count.

    The confidence of each is such that they are all right together, so that what they say needs no
    further correction.
    """
    cells = measured.cells(crossing.metric)
    better, worse = known_names(measured.dataset, [crossing.implementation, crossing.baseline])
    crossing = replace(crossing, implementation=better, baseline=worse)
    if not {better, worse} <= cells.implementations:
        return Survey((), 1, reason=Message("no_pairs"))
    places = [((grid.dataset, n), grid.sizes) for grid in grids(claim, cells) for n in grid.threads]
    confidence = 1.0 - (1.0 - STATISTICS.confidence) / max(len(places), 1)
    # Signs and brackets are drawn from no resamples.
    settings = replace(STATISTICS, confidence=confidence, resamples=1)
    rulings = [_judge_place(crossing, cells, place, sizes, settings) for place, sizes in places]
    known = tuple(ruling for ruling in rulings if ruling is not None)
    gaps = (
        f"{plural(n, 'thread')}: not measured"
        for ((_, n), _), ruling in zip(places, rulings, strict=True)
        if ruling is None
    )
    return Survey(known, len(places), tuple(gaps)[:N_SHOWN])


def _judge_place(
    crossing: Crossing,
    cells: CellValues,
    place: Place,
    sizes: Sequence[int],
    settings: StatisticsSettings,
) -> Ruling | None:
    name, n = place
    logs = {}
    for n_bytes in sizes:
        key = (name, crossing.implementation, n_bytes, n)
        other = (name, crossing.baseline, n_bytes, n)
        if key in cells and other in cells:
            log_ratios = cells.log_ratios(key, other)
            logs[n_bytes] = log_ratios if crossing.more_is_better else -log_ratios
    found = crossover_of_rounds(logs, sizes, settings.confidence)
    if found.outcome is Outcome.NOT_MEASURED:
        return None
    holds, fails = _holds(crossing, found), _excludes(crossing, found)
    keys = tuple(
        (name, side, size, n)
        for size in found.sizes
        for side in (crossing.implementation, crossing.baseline)
    )
    return Ruling(
        p_for=float(not holds),
        p_against=float(not fails),
        evidence=partial(_evidence, crossing, found, n),
        once=found.observed_once,
        keys=keys,
        incomplete=bool(found.missing) and not holds,
        compatible=not holds and _bracket(crossing, found) is not None,
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


def _holds(crossing: Crossing, found: Crossover) -> bool:
    """Tell whether the claimed size is the end of the bracket, with nothing open in it.

    Elsewhere in it the claim says of sizes on which side of the change they lie, and none of these
    was measured, or shows a difference.
    """
    bracket = _bracket(crossing, found)
    if bracket is None:
        return False
    inside = any(bracket[0] < size < bracket[1] for size in (*found.sizes, *found.missing))
    return not inside and crossing.msg_bytes in bracket


def _excludes(crossing: Crossing, found: Crossover) -> bool:
    """Tell whether what the sizes show rules the claim out."""
    first, last, size = found.sizes[0], found.sizes[-1], crossing.msg_bytes
    if found.outcome is (Outcome.FROM if crossing.from_ else Outcome.UP_TO):
        return _bracket(crossing, found) is None
    if found.outcome is (Outcome.ALWAYS if crossing.from_ else Outcome.NEVER):
        # Better from the first size on (or worse throughout): the change, if any, is below it.
        return size > first if crossing.from_ else size >= first
    if found.outcome is (Outcome.NEVER if crossing.from_ else Outcome.ALWAYS):
        return size <= last if crossing.from_ else size < last
    return found.outcome in (Outcome.FROM, Outcome.UP_TO, Outcome.MIXED)


def _evidence(crossing: Crossing, found: Crossover, n: int) -> str:
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
