"""Claims that one implementation is better from a size on, or up to it, judged by brackets."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from copycost.audit.claims.cells import (
    N_SHOWN,
    CellValues,
    Measured,
    Ruling,
    Survey,
    grids,
    known_names,
)
from copycost.audit.claims.vocabulary import Claim, Crossing
from copycost.audit.dataset_analysis import STATISTICS
from copycost.audit.message import Message
from copycost.stats.crossover import Crossover, Outcome, find_crossover
from copycost.stats.settings import StatisticsSettings
from copycost.wording.filters import size as told
from copycost.wording.words import plural

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
    found = find_crossover(logs, sizes, settings)
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
